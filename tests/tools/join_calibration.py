#!/usr/bin/env python3
"""Fits the weights of line-break features to labelled line breaks, and measures them on archives
outside the fit.

usage: join_calibration.py PROGRAM LABELS... [--held-out LABELS...] [--weights] [--rows] [--wrong]
                           [--threshold P]

PROGRAM is the example `join_evidence` (cargo build --example join_evidence). LABELS are JSON lines:

    {"id": ..., "archive": ..., "sample": "natural" | "generated", "text": ..., "start": ...,
     "url": ..., "also": [...]}

`text` is a window of plain text (bytes that are not UTF-8 are lone surrogates, as in Python's
`surrogateescape`), `start` the byte offset of a bare URL that is followed by a line end, `url` the
URL that its author meant, and `also` other correct readings. `archive` is the name of the text's
archive. `sample` is `natural` if people sent the text (see natural_breaks.py) and `generated` if a
generator made it (see client_wrap.py).

The archives are divided into folds, and the weights for each fold are fitted on the others. Prints,
by archive, the rates of correct joins and of URLs rightly left alone, then stated against observed
confidence, in five groups of about equal size below a stated 0.995. The same follows for the
program's own weights on the labels after --held-out, which take no part in the fit.

--weights prints the weights of a fit on all labels, in quarters of a point, as in features.rs.
--rows prints for each row of the table how many natural line breaks have it, and how many would be
on the other side of the threshold without it. --wrong prints the URLs that are read wrongly.

The fit is a logistic regression with a normal prior on each weight. Its mean is 1 with the sign of
the weight in the program (for the base: -3), its deviation 2.
"""
import argparse, collections, json, math, os, pathlib, re, sys, tempfile, zlib

from world import output

BASE = "base"
DEVIATION = 2.0
FOLDS = 5
# Generated line breaks count less than natural ones, because the generator makes equally many for
# each program, however common it is.
TIMES = {"generated": 0.1, "natural": 1.0}
# Minimum stated confidence for a line break to count as certain.
CERTAIN = 0.995
ROW = re.compile(r'row\(\s*"([\w-]+)",\s*(-?[\d.]+)')


def read_labels(paths):
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                if line.strip():
                    yield json.loads(line)


def evidence(program, labels):
    """The line breaks after each URL: lists of (features, URL so far, token)."""
    found = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        wanted = []
        for number, label in enumerate(labels):
            path = os.path.join(folder, str(number))
            with open(path, "wb") as file:
                file.write(label["text"].encode("utf-8", "surrogateescape"))
            wanted.append(f"{path}\t{label['start']}\n")
        read = output(program, input="".join(wanted).encode())
        for line in read.decode("utf-8", "replace").split("\n"):
            fields = line.split("\t")
            if len(fields) == 7 and fields[2] != "-":
                found[int(os.path.basename(fields[0]))].append(
                    (fields[4].split(","), fields[5], fields[6]))
    return found


class Break:
    def __init__(self, features, right, sample, weights):
        self.features = [name for name in features if name in weights]
        self.vetoes = [name for name in features if name not in weights]
        self.right, self.sample = right, sample

    def confidence(self, weights):
        return 0.0 if self.vetoes else logistic(sum(weights[name] for name in self.features))


class Url:
    """A labelled URL and its line breaks, up to the first break that ends it."""

    def __init__(self, label, steps, weights):
        self.label, self.breaks = label, []
        readings = [label["url"], *label.get("also", [])]
        for features, url, token in steps:
            right = any(continues(reading, url, token) for reading in readings)
            self.breaks.append(Break(features, right, label["sample"], weights))
            if not right:
                break
        self.wanted = sum(step.right for step in self.breaks)
        # A label may allow the URL both with and without the final pieces.
        self.allowed = {sum(continues(reading, step[1], step[2]) for step in steps)
                        for reading in readings}
        # A URL that continues where the program sees no continuation is never joined as meant.
        if steps:
            end = "".join(steps[self.wanted - 1][1:]) if self.wanted else steps[0][1]
        else:
            end = label["text"].encode(
                "utf-8", "surrogateescape")[label["start"]:].split()[0].decode("utf-8", "replace")
        self.impossible = all(len(bare(end)) < len(bare(reading)) for reading in readings)
        self.broken = self.wanted > 0 or self.impossible

    def joins(self, weights, threshold):
        made = 0
        for step in self.breaks:
            if step.confidence(weights) < threshold:
                break
            made += 1
        return made

    def is_right(self, weights, threshold):
        return self.joins(weights, threshold) in self.allowed and not self.impossible


def bare(url):
    return url.rstrip(".,;:!?'\")]}>=\\/*_|")


def continues(reading, url, token):
    rest = reading[len(url):] if reading.startswith(url) else ""
    return bool(rest) and (token.startswith(rest) or rest.startswith(bare(token) or token)
                           or rest.startswith(token))


def solve(matrix, vector):
    size = len(vector)
    rows = [row[:] + [value] for row, value in zip(matrix, vector)]
    for at in range(size):
        pivot = rows[at]
        for row in rows[at + 1:]:
            factor = row[at] / pivot[at]
            if factor:
                for column in range(at, size + 1):
                    row[column] -= factor * pivot[column]
    result = [0.0] * size
    for at in reversed(range(size)):
        known = sum(rows[at][column] * result[column] for column in range(at + 1, size))
        result[at] = (rows[at][size] - known) / rows[at][at]
    return result


def program_weights():
    """The weights of the program by feature name, without rows that exclude a continuation."""
    source = (pathlib.Path(__file__).resolve().parents[2]
              / "crates/text/src/repair/continuation/features.rs")
    return {name: float(points) for name, points in ROW.findall(source.read_text(encoding="utf-8"))}


def fit(urls, names, own):
    """The most likely weights of `names` given the labels, by Newton's method."""
    place = {name: at for at, name in enumerate(names)}
    groups = collections.Counter()
    for step in (step for url in urls for step in url.breaks if not step.vetoes):
        present = tuple(sorted(place[name] for name in step.features))
        groups[present, step.right] += TIMES[step.sample]
    mean = [-3.0 if name == BASE else math.copysign(1.0, own[name]) for name in names]
    weights = mean[:]
    for _ in range(40):
        gradient = [(weight - middle) / DEVIATION**2 for weight, middle in zip(weights, mean)]
        curve = [[1 / DEVIATION**2 if row == column else 0.0 for column in range(len(names))]
                 for row in range(len(names))]
        for (present, right), times in groups.items():
            expected = logistic(sum(weights[at] for at in present))
            slope = times * expected * (1 - expected)
            for at in present:
                gradient[at] += times * (expected - right)
                row = curve[at]
                for other in present:
                    row[other] += slope
        step = solve(curve, gradient)
        # Newton's method may overshoot if few line breaks have a feature.
        size = max(map(abs, step))
        weights = [weight - change * min(1.0, 1.0 / size) for weight, change in zip(weights, step)]
        if size < 1e-3:
            break
    return dict(zip(names, weights))


def logistic(points):
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, points))))


def interval(right, total, z=1.96):
    """Wilson's interval, at 95 % by default."""
    if not total:
        return 0.0, 1.0
    rate = right / total
    middle = rate + z * z / (2 * total)
    spread = z * math.sqrt(rate * (1 - rate) / total + z * z / (4 * total * total))
    return (max(0.0, (middle - spread) / (1 + z * z / total)),
            (middle + spread) / (1 + z * z / total))


def report(title, urls, weights_of, threshold):
    rows = collections.defaultdict(lambda: [0] * 6)
    for url in urls:
        made = url.joins(weights_of(url), threshold)
        right = url.is_right(weights_of(url), threshold)
        for key in (f"all {url.label['sample']}", url.label["archive"]):
            row = rows[key]
            row[0 if url.broken else 2] += right
            row[1 if url.broken else 3] += 1
            row[4] += 0 < made and right
            row[5] += 0 < made
    print(f"\n{title}\n\n| archive | broken URLs joined as meant | whole URLs left alone | "
          "joins made that are right |\n|---|---|---|---|")
    for key, row in sorted(rows.items()):
        print(f"| {key} | {row[0]} of {row[1]} | {row[2]:,} of {row[3]:,} | {row[4]} of {row[5]} |")


def reliability(title, urls, weights_of):
    """Stated against observed confidence of natural line breaks, in five equal groups."""
    stated = sorted((step.confidence(weights_of(url)), step.right) for url in urls
                    for step in url.breaks if step.sample == "natural" and not step.vetoes)
    # Most line breaks are certain. The groups divide the others.
    doubtful = [row for row in stated if 1 - CERTAIN <= row[0] < CERTAIN]
    print(f"\n{title}\n\n| stated | line breaks | mean stated | observed | interval (99 %) |\n"
          "|---|---|---|---|---|")
    groups = [doubtful[at * len(doubtful) // 5:(at + 1) * len(doubtful) // 5] for at in range(5)]
    for group in [[row for row in stated if row[0] < 1 - CERTAIN],
                  *groups, [row for row in stated if CERTAIN <= row[0]]]:
        if group:
            right, mean = sum(row[1] for row in group), sum(row[0] for row in group) / len(group)
            low, high = interval(right, len(group), 2.576)
            print(f"| {group[0][0]:.3f}-{group[-1][0]:.3f} | {len(group)} | {mean:.3f} | "
                f"{right / len(group):.3f} | "
                f"{low:.3f}-{high:.3f}{'' if low <= mean <= high else ' !'} |")


def print_rows(urls, weights, threshold):
    print("\n| row | line breaks | archives | of them continued | decided | decided rightly |\n"
          "|---|---|---|---|---|---|")
    counts = collections.defaultdict(lambda: [0, 0, 0, 0])
    archives = collections.defaultdict(set)
    for url in urls:
        for step in url.breaks:
            if step.sample != "natural":
                continue
            points = sum(weights[name] for name in step.features)
            for name in step.features + step.vetoes:
                others = (logistic(points - weights.get(name, 0.0))
                          if not set(step.vetoes) - {name} else 0.0)
                is_joined = threshold <= step.confidence(weights)
                decides = (threshold <= others) != is_joined
                row = counts[name]
                row[0] += 1
                row[1] += step.right
                row[2] += decides
                row[3] += decides and is_joined == step.right
                archives[name].add(url.label["archive"])
    for name, row in sorted(counts.items(), key=lambda item: (item[0] in weights, item[1][2])):
        print(f"| {name} | {row[0]} | {len(archives[name])} | {row[1]} | {row[2]} | {row[3]} |")


def print_wrong(title, urls, weights_of, threshold):
    for url in urls:
        weights = weights_of(url)
        if not url.is_right(weights, threshold):
            made = url.joins(weights, threshold)
            print(f"\n{title}: {url.label['archive']} {url.label['id']}: {made} joins, "
                f"{url.wanted} wanted{', impossible' if url.impossible else ''}: "
                f"{url.label['url']}")
            for step in url.breaks:
                print(f"    {step.confidence(weights):.2f} {'right' if step.right else 'WRONG'} "
                      f"{' '.join(step.features + step.vetoes)}")


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("program")
    options.add_argument("labels", nargs="+")
    options.add_argument("--held-out", nargs="+", default=[])
    options.add_argument("--threshold", type=float, default=0.7)
    options.add_argument("--weights", action="store_true")
    options.add_argument("--rows", action="store_true")
    options.add_argument("--wrong", action="store_true")
    args = options.parse_args()
    own = program_weights()
    names = list(own)
    groups = []
    for paths in (args.labels, args.held_out):
        labels = list(read_labels(paths))
        found = evidence(args.program, labels) if labels else {}
        groups.append([Url(label, found[number], own) for number, label in enumerate(labels)])
    urls, apart = groups
    if not any(url.breaks for url in urls):
        sys.exit("no line breaks in the labels")
    fold = lambda url: zlib.crc32(url.label["archive"].encode()) % FOLDS
    weights = [fit([url for url in urls if fold(url) != n], names, own) for n in range(FOLDS)]
    held_out = lambda url: weights[fold(url)]
    stated = lambda url: own
    report(f"Fitted on other archives, threshold {args.threshold}", urls, held_out, args.threshold)
    reliability("Fitted on other archives: stated against observed", urls, held_out)
    for title, some in (("labels of the fit", urls), ("archives apart", apart)):
        report(f"The program's weights, {title}, threshold {args.threshold}",
               some, stated, args.threshold)
        reliability(f"The program's weights, {title}: stated against observed", some, stated)
    if args.rows:
        print_rows(urls + apart, own, args.threshold)
    if args.weights:
        print("\nWeights")
        for name, points in fit(urls, names, own).items():
            print(f"  {name:16} {round(points * 4) / 4:+.2f} ({points:+.2f}, now {own[name]:+.2f})")
    if args.wrong:
        print_wrong("fitted on others", urls, held_out, args.threshold)
        print_wrong("program", urls, stated, args.threshold)
        print_wrong("program, apart", apart, stated, args.threshold)


main()
