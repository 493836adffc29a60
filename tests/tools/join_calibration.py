#!/usr/bin/env python3
"""Fits the weights of line-break features on labelled line breaks, and measures them on archives they were not fitted on.

usage: join_calibration.py PROGRAM LABELS... [--threshold P] [--fit NAME,...] [--weights] [--wrong] [--compare D,...]

PROGRAM is the example `join_evidence` (cargo build --release --example join_evidence). LABELS are JSON lines:

    {"id": ..., "archive": ..., "sample": "natural" | "stratified" | "generated", "text": ..., "start": ..., "url": ..., "also": [...]}

`text` is a window of plain text (bytes that are not UTF-8 as lone surrogates, as Python's `surrogateescape` gives them),
`start` the byte offset of a bare URL that is followed by a line end, `url` the URL that its author meant, `also` other
readings that are right. `archive` names the archive that the text comes from, `sample` how it was chosen: as it came
(`natural`), for being difficult (`stratified`), or made by a generator (`generated`, see client_wrap.py).

For each archive the weights are fitted on all other archives and applied to this one. Printed are the rates of URLs that were
joined as their authors meant and of URLs that were rightly left alone, by sample and by archive, with the part of the joins
made that is right; then a table of stated confidence against the observed rate; with --weights the weights of a fit on
everything, in quarters of a point, as features.rs holds them; with --wrong the URLs that are read wrongly when held out, or
with the program's own weights.

With --fit only the weights of these features are fitted, and all others are those of the program (features.rs): so a new
feature gets its weight, and no line break without it changes. With --prior earlier all weights are fitted, and the mean of
each one's prior is its weight of an earlier fit (EARLIER), through which labels count that are no longer kept. None of them is
from an archive of class-c windows.

With --compare a table of fits with these deviations of the prior is printed instead, with the class-c windows of other
archives in the training part and without them, and with a slope and offset fitted on what the other archives show when they
are held out themselves. The last row is the program with its own weights, which have seen all labels.

The fit is a logistic regression with a normal prior on each weight: its mean is +1 or -1 by the direction that the feature
is evidence for, -3 for the base, and its deviation 2. The direction is what a person knows without data, so that no label
reaches the archive that is held out.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# Features that speak against a continuation. All others speak for it.
AGAINST = set(
    "head-punct head-ext head-barehost short-alnum overlong fits blank-between many-cap tok-cap tok-label tok-stop tok-addr "
    "head-whole many-word tok-pair code list tok-host tok-site outdent two-blanks".split()
)
BASE = "base"
# Weights of the earlier fit; of features that are newer than it, the weight that was expected before any fit.
EARLIER = dict(
    row.split("=")
    for row in (
        "base=-4 head-soft=2 head-hyphen=4 head-punct=-2 head-query=1.25 head-commit=2.25 head-whole=-2.25 cut-column=2 "
        "awaits-commit=2.25 soft-blank=3 two-blanks=-1 head-escape=1.25 head-ext=-2.5 head-barehost=-1.75 "
        "head-hostcut=2.25 head-scheme=1.25 short-alnum=-1.5 overlong=-1.75 filled=1.75 fits=-1.25 blank-between=-2 "
        "url-first=1.5 chain=2.5 one=2 many-cap=-0.75 ends-para=0.75 tok-ext=2.75 folded=1.75 tok-strong=1.25 "
        "tok-query=1.5 tok-dotext=1.5 tok-path=0.75 tok-mixed=0.5 tok-hyphens=1 many-word=-2.5 tok-long=1 tok-tiny=2.5 "
        "tok-number=1.75 host-path=1 tok-compound=1.75 tok-slash=3.25 tok-cap=-3.5 tok-label=-2.75 tok-stop=-2.5 "
        "tok-addr=-1.75 tok-pair=-1 code=-2.25 list=-6 tok-host=-1.75 tok-site=-1 closer=2 closing-quote=1.75 outdent=-2 "
        "indent=0.25 capitals=2 digits=2 own-para=1 ext-cut=2 slash-file=0.5 "
    ).split()
)
ROW = re.compile(r'row\(Feature::\w+, "([\w-]+)", (-?[\d.]+)\)')
DEVIATION = 2.0
# Generated line breaks count less than those that people sent: each program makes as many as the others, whatever its share.
TIMES = collections.defaultdict(lambda: 1.0, generated=0.3)
# How often a line break of a sample counts in the calibration, which shall hold for line breaks as they come: those that were
# chosen for being difficult, and generated ones, count less.
COUNTS = collections.defaultdict(lambda: 1.0, generated=0.3, stratified=0.5)
# Minimum number of line breaks in a row of the pooled table.
POOL = 100


def read_labels(paths):
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                if line.strip():
                    yield json.loads(line)


def evidence(program, labels):
    """The line breaks after each URL: lists of (confidence, features, URL so far, token)."""
    found = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        wanted = []
        for number, label in enumerate(labels):
            path = os.path.join(folder, str(number))
            with open(path, "wb") as file:
                file.write(label["text"].encode("utf-8", "surrogateescape"))
            wanted.append(f"{path}\t{label['start']}\n")
        run = subprocess.run([program], input="".join(wanted).encode(), capture_output=True, check=True)
        for line in run.stdout.decode("utf-8", "replace").split("\n"):
            fields = line.split("\t")
            if len(fields) == 7 and fields[2] != "-":
                number = int(os.path.basename(fields[0]))
                found[number].append((float(fields[3]), fields[4].split(","), fields[5], fields[6]))
    return found


class Break:
    """One labelled line break."""

    def __init__(self, stated, features, right, times):
        self.stated, self.features, self.right, self.times = stated, features, right, times


class Url:
    """A labelled URL and its line breaks, up to the first over which it does not go."""

    def __init__(self, label, steps):
        self.label, self.breaks = label, []
        readings = [label["url"], *label.get("also", [])]
        for stated, features, url, token in steps:
            right = any(continues(reading, url, token) for reading in readings)
            self.breaks.append(Break(stated, features, right, TIMES[label["sample"]]))
            if not right:
                break
        self.wanted = sum(step.right for step in self.breaks)
        # A label may allow the URL with and without its last pieces.
        self.allowed = {sum(continues(reading, step[2], step[3]) for step in steps) for reading in readings}
        # A URL that goes on where the program sees no possible continuation can never be joined as it was meant.
        reached = steps[self.wanted - 1] if self.wanted else None
        end = (reached[2] + reached[3]) if reached else (steps[0][2] if steps else None)
        self.impossible = end is not None and all(len(bare(end)) < len(bare(reading)) for reading in readings)
        if not steps:
            head = label["text"].encode("utf-8", "surrogateescape")[label["start"]:].split(b"\n")[0].split()[0].decode("utf-8", "replace")
            self.impossible = all(len(bare(head)) < len(bare(reading)) for reading in readings)

    def joins(self, confidence, threshold):
        """Number of joins that are made."""
        made = 0
        for step in self.breaks:
            if confidence(step) < threshold:
                break
            made += 1
        return made

    @property
    def broken(self):
        return self.wanted > 0 or self.impossible


def bare(url):
    return url.rstrip(".,;:!?'\")]}>=\\/")


def continues(reading, url, token):
    rest = reading[len(url):] if reading.startswith(url) else ""
    return bool(rest) and (token.startswith(rest) or rest.startswith(bare(token) or token) or rest.startswith(token))


def prior(name):
    return -3.0 if name == BASE else -1.0 if name in AGAINST else 1.0


def solve(matrix, vector):
    """Solves a symmetric positive system by elimination."""
    size = len(vector)
    rows = [row[:] + [value] for row, value in zip(matrix, vector)]
    for at in range(size):
        pivot = max(range(at, size), key=lambda row: abs(rows[row][at]))
        rows[at], rows[pivot] = rows[pivot], rows[at]
        for row in range(at + 1, size):
            factor = rows[row][at] / rows[at][at]
            if factor:
                for column in range(at, size + 1):
                    rows[row][column] -= factor * rows[at][column]
    result = [0.0] * size
    for at in reversed(range(size)):
        known = sum(rows[at][column] * result[column] for column in range(at + 1, size))
        result[at] = (rows[at][size] - known) / rows[at][at]
    return result


def program_weights():
    """The weights of the program, by the names of the features."""
    source = pathlib.Path(__file__).resolve().parents[2] / "src/repair/continuation/features.rs"
    return {name: float(points) for name, points in ROW.findall(source.read_text(encoding="utf-8"))}


def program_constant(name):
    source = pathlib.Path(__file__).resolve().parents[2] / "src/repair/continuation/features.rs"
    return float(re.search(rf"const {name}: f32 = (-?[\d.]+);", source.read_text(encoding="utf-8"))[1])


def fit(breaks, names, fixed, prior=prior, deviation=DEVIATION):
    """The weights of `names` that are likeliest after the labels, by Newton's method, and the `fixed` weights of the others."""
    place = {name: at for at, name in enumerate(names)}
    groups = collections.Counter()
    for step in breaks:
        present = tuple(sorted(place[name] for name in step.features if name in place))
        groups[present, sum(fixed[name] for name in step.features if name not in place), step.right] += step.times
    mean = [prior(name) for name in names]
    weights = mean[:]
    for _ in range(25):
        gradient = [(weight - middle) / deviation**2 for weight, middle in zip(weights, mean)]
        curve = [[1 / deviation**2 if row == column else 0.0 for column in range(len(names))] for row in range(len(names))]
        for (present, other_points, right), times in groups.items():
            expected = logistic(other_points + sum(weights[at] for at in present))
            slope = times * expected * (1 - expected)
            for at in present:
                gradient[at] += times * (expected - right)
                for other in present:
                    curve[at][other] += slope
        step = solve(curve, gradient)
        weights = [weight - change for weight, change in zip(weights, step)]
        if max(map(abs, step)) < 1e-6:
            break
    return {**fixed, **dict(zip(names, weights))}


def logistic(points):
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, points))))


def interval(right, total):
    """Wilson's interval at 95 %."""
    if not total:
        return 0.0, 1.0
    z, rate = 1.96, right / total
    middle = rate + z * z / (2 * total)
    spread = z * math.sqrt(rate * (1 - rate) / total + z * z / (4 * total * total))
    return (middle - spread) / (1 + z * z / total), (middle + spread) / (1 + z * z / total)


def rate(right, total):
    low, high = interval(right, total)
    return f"{right}/{total} = {right / max(1, total):.3f} ({low:.3f}-{high:.3f})"


def report(title, urls, confidence_of, threshold):
    rows = collections.defaultdict(lambda: [0] * 6)
    for url in urls:
        made = url.joins(confidence_of(url), threshold)
        right = made in url.allowed and not url.impossible
        for key in (("all", ""), ("sample", url.label["sample"]), ("archive", url.label["archive"])):
            row = rows[key]
            row[0 if url.broken else 2] += right
            row[1 if url.broken else 3] += 1
            row[4] += made > 0 and made <= max(url.allowed)
            row[5] += made > 0
    print(f"\n{title}")
    for key, row in sorted(rows.items()):
        print(f"  {' '.join(key):24} joined {rate(row[0], row[1]):32} left alone {rate(row[2], row[3]):34} joins right {rate(row[4], row[5])}")
    print("\n| sample | broken URLs joined as meant | whole URLs left alone | joins made that are right |\n|---|---|---|---|")
    for key, row in sorted(rows.items()):
        if key[0] == "sample":
            print(f"| {key[1]} | {row[0]} of {row[1]} | {row[2]:,} of {row[3]:,} | {row[4]} of {row[5]} |")


def reliability(title, urls, confidence_of):
    bins = [[0, 0, 0.0] for _ in range(10)]
    for url in urls:
        confidence = confidence_of(url)
        for step in url.breaks:
            stated = confidence(step)
            row = bins[min(9, int(stated * 10))]
            row[0] += step.right
            row[1] += 1
            row[2] += stated
    print(f"\n{title}\n\n| stated | line breaks | mean stated | observed | interval (95 %) |\n|---|---|---|---|---|")
    for tenth, (right, total, stated) in enumerate(bins):
        if total:
            low, high = interval(right, total)
            print(f"| {tenth / 10:.1f}-{tenth / 10 + 0.1:.1f} | {total} | {stated / total:.3f} | {right / total:.3f} | {abs(low):.3f}-{high:.3f} |")


def calibration(urls, points_of):
    """The slope and offset from points to the logarithm of the odds that fit the labels best."""
    slope, offset = 1.0, 0.0
    steps = [(points_of(url)(step), step.right, COUNTS[url.label["sample"]]) for url in urls for step in url.breaks]
    for _ in range(50):
        gradient, curve = [0.0, 0.0], [[1e-9, 0.0], [0.0, 1e-9]]
        for points, right, times in steps:
            expected = logistic(slope * points + offset)
            spread = times * expected * (1 - expected)
            for at, value in enumerate((points, 1.0)):
                gradient[at] += times * (expected - right) * value
                for other, second in enumerate((points, 1.0)):
                    curve[at][other] += spread * value * second
        change = solve(curve, gradient)
        slope, offset = slope - change[0], offset - change[1]
        if max(map(abs, change)) < 1e-6:
            break
    return slope, offset


def pooled(title, urls, confidence_of):
    """Stated against observed confidence, by tenths; neighbours with fewer than POOL line breaks are counted together."""
    bins = [[tenth, tenth + 1, 0, 0.0, 0.0, 0.0, 0.0] for tenth in range(10)]
    for url in urls:
        confidence, times = confidence_of(url), COUNTS[url.label["sample"]]
        for step in url.breaks:
            stated = confidence(step)
            row = bins[min(9, int(stated * 10))]
            for at, value in ((2, 1), (3, times), (4, times * stated), (5, times * step.right), (6, times * times)):
                row[at] += value
    rows = []
    for row in bins:
        # Neighbours are counted together until there are enough of them.
        if rows and (rows[-1][2] < POOL or row[0] == 9 and row[2] < POOL):
            rows[-1] = [rows[-1][0], row[1]] + [a + b for a, b in zip(rows[-1][2:], row[2:])]
        else:
            rows.append(row)
    print(f"\n{title}\n\n| stated | line breaks | mean stated | observed | difference | interval (95 %) |\n|---|---|---|---|---|---|")
    for first, last, count, times, stated, right, squares in rows:
        if times:
            # The number of equal cases that are as informative as these of different weight.
            equal = times * times / squares
            low, high = interval(right / times * equal, equal)
            print(f"| {first / 10:.1f}-{last / 10:.1f} | {count} | {stated / times:.3f} | {right / times:.3f} | {right / times - stated / times:+.3f} | {abs(low):.3f}-{high:.3f} |")


def loss(urls, confidence_of, samples):
    """The mean negative logarithm of the probability stated for what was observed, in thousandths, by sample weight."""
    total = times = 0.0
    for url in urls:
        if url.label["sample"] in samples:
            confidence, count = confidence_of(url), COUNTS[url.label["sample"]]
            for step in url.breaks:
                stated = min(1 - 1e-6, max(1e-6, confidence(step)))
                total -= count * math.log(stated if step.right else 1 - stated)
                times += count
    return 1000 * total / times


def compare(urls, fit_on, deviations, slope, offset, threshold):
    """Compares fits by what they state of archives that are held out. `fit_on(urls, deviation)` returns weights."""
    samples = {url.label["sample"] for url in urls}
    columns = "loss | loss, class-c | class-c joined | class-c left alone | others joined | others left alone | joins right | 0.7-0.8: stated, observed"
    print(f"| deviation | class-c in training | slope and offset | {columns} |\n|{'---|' * 11}")

    def row(title, confidence_of):
        counts, tenth = collections.Counter(), [0, 0, 0.0]
        for url in urls:
            made = url.joins(confidence_of(url), threshold)
            part = "class-c" if url.label["sample"] == "class-c" else "others"
            counts[part, url.broken, made in url.allowed and not url.impossible] += 1
            counts["made", 0 < made <= max(url.allowed)] += made > 0
            for step in url.breaks:
                stated = confidence_of(url)(step)
                if 0.7 <= stated < 0.8:
                    tenth = [tenth[0] + step.right, tenth[1] + 1, tenth[2] + stated]
        of = lambda right, wrong: f"{counts[right]:,} of {counts[right] + counts[wrong]:,}"
        cells = [of((part, broken, True), (part, broken, False)) for part in ("class-c", "others") for broken in (True, False)]
        losses = [f"{loss(urls, confidence_of, some):.1f}" for some in (samples, {"class-c"} & samples) if some]
        print(f"| {' | '.join([title, *losses, *cells, of(('made', True), ('made', False))])} | {tenth[2] / max(1, tenth[1]):.2f}, {tenth[0]} of {tenth[1]} |")

    archives = sorted({url.label["archive"] for url in urls})
    others = {archive: [url for url in urls if url.label["archive"] != archive] for archive in archives}
    for deviation in deviations:
        for without in (set(), {"class-c"}):
            weights = {archive: fit_on([url for url in others[archive] if url.label["sample"] not in without], deviation) for archive in archives}
            points = lambda url: lambda step: sum(weights[url.label["archive"]][name] for name in step.features)
            lines = {archive: calibration(others[archive], points) for archive in archives}
            trained = "no" if without else "yes"
            row(f"{deviation} | {trained} | program's", lambda url: lambda step: logistic(slope * points(url)(step) + offset))
            fitted = lambda url: lambda step: logistic(lines[url.label["archive"]][0] * points(url)(step) + lines[url.label["archive"]][1])
            row(f"{deviation} | {trained} | fitted", fitted)
    row("program | all labels | program's", lambda url: lambda step: step.stated)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("program")
    options.add_argument("labels", nargs="+")
    options.add_argument("--threshold", type=float, default=0.7)
    options.add_argument("--fit", metavar="NAME,...")
    options.add_argument("--prior", choices=["direction", "earlier"], default="direction")
    options.add_argument("--deviation", type=float, default=DEVIATION)
    options.add_argument("--slope", type=float, default=program_constant("SLOPE"))
    options.add_argument("--offset", type=float, default=program_constant("OFFSET"))
    options.add_argument("--weights", action="store_true")
    options.add_argument("--wrong", action="store_true")
    options.add_argument("--compare", metavar="DEVIATION,...")
    args = options.parse_args()
    labels = list(read_labels(args.labels))
    found = evidence(args.program, labels)
    urls = [Url(label, found[number]) for number, label in enumerate(labels)]
    names = sorted({name for url in urls for step in url.breaks for name in step.features})
    if BASE not in names:
        sys.exit("no line breaks in the labels")
    fixed = program_weights() if args.fit else {}
    known = EARLIER if args.prior == "earlier" else {}
    mean = lambda name: float(known.get(name, prior(name)))
    fitted = args.fit.split(",") if args.fit else names
    steps = lambda some: [step for url in some for step in url.breaks]
    if args.compare:
        fit_on = lambda some, deviation: fit(steps(some), fitted, fixed, mean, deviation)
        compare(urls, fit_on, map(float, args.compare.split(",")), args.slope, args.offset, args.threshold)
        return
    archives = sorted({url.label["archive"] for url in urls})
    weights = {}
    for archive in archives:
        weights[archive] = fit(steps(url for url in urls if url.label["archive"] != archive), fitted, fixed, mean, args.deviation)
    held_out = lambda url: lambda step: logistic(sum(weights[url.label["archive"]][name] for name in step.features))
    stated = lambda url: lambda step: step.stated
    report(f"Held out by archive, threshold {args.threshold}", urls, held_out, args.threshold)
    reliability("Held out by archive: stated against observed, all samples", urls, held_out)
    natural = [url for url in urls if url.label["sample"] == "natural"]
    reliability("Held out by archive: stated against observed, natural sample", natural, held_out)
    points = lambda url: lambda step: sum(weights[url.label["archive"]][name] for name in step.features)
    slope, offset = calibration(urls, points)
    print(f"\nSlope {slope:.2f} and offset {offset:+.2f} from points, held out by archive, to the logarithm of the odds")
    sloped = lambda url: lambda step: logistic(args.slope * points(url)(step) + args.offset)
    pooled("Held out by archive, with the slope and offset of the program: stated against observed", urls, sloped)
    reliability("The same without pooling, each line break once", urls, sloped)
    real = [url for url in urls if url.label["sample"] != "generated"]
    pooled("The same without generated mail", real, sloped)
    reliability("Without generated mail and without pooling, each line break once", real, sloped)
    report(f"Held out by archive, with the slope and offset of the program, threshold {args.threshold}", urls, sloped, args.threshold)
    report(f"The program's weights, threshold {args.threshold}", urls, stated, args.threshold)
    reliability("The program's weights: stated against observed, all samples", urls, stated)
    if args.weights:
        everything = fit(steps(urls), fitted, fixed, mean, args.deviation)
        print("\nWeights")
        for name in fitted:
            print(f"  {name:16} {round(everything[name] * 4) / 4:+.2f}   ({everything[name]:+.2f})")
    if args.wrong:
        for title, confidence_of in (("held out", held_out), ("program", stated)):
            for url in urls:
                made = url.joins(confidence_of(url), args.threshold)
                if made not in url.allowed or url.impossible:
                    print(f"\n{title}: {url.label['archive']} {url.label['id']}: {made} joins, {url.wanted} wanted{', impossible' if url.impossible else ''}: {url.label['url']}")
                    for step in url.breaks:
                        print(f"    {confidence_of(url)(step):.2f} {'right' if step.right else 'WRONG'} {' '.join(step.features)}")


main()
