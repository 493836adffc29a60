"""The numbers of an audit report, computed a second time.

    pip install statsmodels lifelines
    python3 tests/tools/audit_report.py [PROGRAM] [--large]

Databases are filled with seeded rows (audit_database.py). The counts of each CSV file are compared with plain SQL, the intervals with
`statsmodels.stats.proportion.proportion_confint(method="wilson")` of the number of links that the variance between hosts gives,
weighted shares with `statsmodels.stats.weightstats.DescrStatsW`, survival with
`lifelines.KaplanMeierFitter.fit_interval_censoring` on the same rows. How often the intervals hold a known truth is simulated in
`src/audit/report/simulation.rs`.
With --large, a report and plans over 4 million records and 600,000 links are measured.
"""

import argparse
import csv
import math
import pathlib
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings

import audit_database

CASES = {
    "one check": ["--checks", "1"],
    "three checks": ["--checks", "3", "--seed", "2"],
    "sample": ["--checks", "2", "--sample", "--seed", "3", "--links", "6000"],
    "hostile text": ["--hostile", "--seed", "4"],
}

# The newest check of each planned link, and the weight of the link.
LINKS = """CREATE TEMP VIEW facts AS
  SELECT l.*, ifnull(c.state, 'unknown') AS state, ifnull(a.outcome, 'failed') AS outcome,
         1.0 * s.population / s.sampled AS weight
  FROM audit_links l JOIN audit_strata s ON s.stratum = l.stratum LEFT JOIN audit_captures a ON a.key = l.key
  LEFT JOIN audit_checks c ON c.id = (SELECT id FROM audit_checks WHERE key = l.key ORDER BY checked_at DESC, id DESC LIMIT 1)
  WHERE l.planned"""

COUNTS = """count(*), sum(state='alive'), sum(state='redirected'), sum(state='dead_page'), sum(state='dead_host'),
  sum(state='unknown'), sum(outcome='captured')"""

TALLY = {"passed": 0, "failed": 0, "skipped": 0}


def check(name, found, expected):
    if found == expected:
        TALLY["passed"] += 1
        return
    TALLY["failed"] += 1
    print(f"FAILED: {name}")
    for one, other in list(zip(found, expected))[:2000]:
        if one != other:
            print(f"  report {one}\n  second {other}")
            return
    print(f"  {len(found)} rows in the report, {len(expected)} in the second computation")


def close(name, pairs, tolerance):
    worst = max((abs(one - other) for one, other in pairs), default=0)
    print(f"{name}: {len(pairs)} values, largest difference {worst:.1e}")
    check(f"{name}: differs by {worst}", [worst <= tolerance], [True])


def rows(folder, name):
    with open(folder / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def guarded(value):
    text = "" if value is None else value
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") and text else text


def counts(folder, db):
    columns = ["links", "alive", "redirected", "dead_page", "dead_host", "unknown", "archived"]
    for name, column in [("cohorts-by-year.csv", "year"), ("by-scheme.csv", "scheme"), ("by-tld.csv", "tld"),
                         ("by-domain.csv", "domain"), ("by-host.csv", "host"), ("by-list.csv", "list")]:
        first = column
        found = sorted((row[first], *(int(row[c]) for c in columns)) for row in rows(folder, name))
        expected = sorted((guarded(row[0]), *row[1:]) for row in
                          db.execute(f"SELECT ifnull({column},''), {COUNTS} FROM facts GROUP BY ifnull({column},'')"))
        check(name, found, expected)
    found = [(row["url"], row["state"], row["archive"]) for row in rows(folder, "dead-links.csv")]
    expected = [(guarded(url), state, {"captured": "captured", "none": "none"}.get(outcome, "unknown")) for url, state, outcome in
                db.execute("SELECT url, state, outcome FROM facts WHERE state LIKE 'dead%' ORDER BY key")]
    check("dead-links.csv", found, expected)
    found = {(row["year"], name, int(row[name])) for row in rows(folder, "dead-protocols.csv")
             for name in ["gopher", "wais", "prospero", "telnet"] if row[name] != "0"}
    expected = set(db.execute("SELECT year, scheme, count(*) FROM audit_links WHERE scheme IN ('gopher','wais','prospero','telnet') GROUP BY 1, 2"))
    check("dead-protocols.csv", sorted(found), sorted(expected))
    found = [(row["reason"], int(row["links"])) for row in rows(folder, "exclusions.csv")]
    check("exclusions.csv", found, db.execute("SELECT excluded, count(*) FROM audit_links WHERE excluded IS NOT NULL GROUP BY 1 ORDER BY 1").fetchall())
    found = [tuple(int(row[c]) for c in ["population", "known", "dead", "dead_archived", "lost", "not_asked"]) for row in rows(folder, "shares-by-year.csv")]
    expected = db.execute("""SELECT count(*), sum(planned AND state<>'unknown'), sum(planned AND dead), sum(planned AND dead AND outcome='captured'),
      sum(planned AND dead AND outcome='none'), sum(planned AND dead AND outcome='failed') FROM
      (SELECT l.year, l.planned, ifnull(f.state,'unknown') AS state, ifnull(f.state LIKE 'dead%', 0) AS dead, ifnull(f.outcome,'failed') AS outcome
       FROM audit_links l LEFT JOIN facts f ON f.key=l.key WHERE l.excluded IS NULL) GROUP BY year ORDER BY year""").fetchall()
    check("shares-by-year.csv", found, expected)


def intervals(folder, db):
    by_year = {}
    for year, state, outcome, weight, host in db.execute("SELECT year, state, outcome, weight, host FROM facts"):
        by_year.setdefault(year, []).append((state, outcome, weight, host))
    pairs, ends = [], []
    for row in rows(folder, "shares-by-year.csv"):
        links = by_year.get(row["year"], [])
        known = [(state.startswith("dead"), weight, host) for state, _, weight, host in links if state != "unknown"]
        asked = [(outcome == "none", weight, host) for state, outcome, weight, host in links if state.startswith("dead") and outcome != "failed"]
        for prefix, trials in [("dead", known), ("lost", asked)]:
            if not trials:
                check(f"{row['year']} {prefix}", row[f"{prefix}_share"], "")
                continue
            hosts = {}
            for value, weight, host in trials:
                hosts.setdefault(host, []).append((value, weight))
            means = [(sum(value * weight for value, weight in of_host) / sum(weight for _, weight in of_host), 1, host) for host, of_host in hosts.items()]
            for name, of in [(prefix, trials), (f"{prefix}_hosts", means)]:
                share, low, high = clustered(of, math.inf if of is means else None)
                pairs.append((float(row[f"{name}_share"]), share))
                if low is None:
                    check(f"{row['year']} {name}", row[f"{name}_low"], "")
                else:
                    ends += [(float(row[f"{name}_low"]), low), (float(row[f"{name}_high"]), high)]
    close("shares", pairs, 1e-6)
    # The report's quantiles of Student's distribution are within 1 % from two degrees of freedom on.
    close("intervals", ends, 0.01)


def clustered(trials, most=None):
    """The share of weighted trials, and Wilson's interval of the number of trials that would have the variance between hosts."""
    import numpy
    from scipy.stats import norm, t
    from statsmodels.stats.proportion import proportion_confint
    from statsmodels.stats.weightstats import DescrStatsW

    values, weights = (numpy.array(column, float) for column in list(zip(*trials))[:2])
    hosts = numpy.array([host or "" for _, _, host in trials])
    share = DescrStatsW(values, weights).mean
    names = sorted(set(hosts))
    sums = numpy.array([weights[hosts == name].sum() for name in names])
    freedom = sums.sum() ** 2 / (sums ** 2).sum() - 1
    if len(names) < 2:
        return share, None, None
    if 0 < share < 1:
        parts = [(weights[hosts == name] * (values[hosts == name] - share)).sum() for name in names]
        variance = (numpy.array(parts) ** 2 / sums.sum() / (sums.sum() - sums)).sum()
        trials = min(most or weights.sum() ** 2 / (weights ** 2).sum(), share * (1 - share) / variance if variance else math.inf)
    else:
        trials = freedom + 1
    trials *= (norm.ppf(0.975) / t.ppf(0.975, max(freedom, 1))) ** 2
    return share, *proportion_confint(share * trials, trials, method="wilson")


def lifetimes(db):
    """The lifetimes by the definition: the last living check, and the first dead one after it."""
    import datetime

    def seconds(text):
        return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()

    def nearest(age):
        month = 365.25 * 86400 // 12
        return int((age + month // 2) // month)

    found = {}
    for key, first, weight in db.execute("SELECT key, first_cited, weight FROM facts WHERE first_cited IS NOT NULL").fetchall():
        checks = [(seconds(at) - seconds(first), state) for at, state in
                  db.execute("SELECT checked_at, state FROM audit_checks WHERE key=? AND state<>'unknown' ORDER BY checked_at, id", [key])]
        checks = [(age, state) for age, state in checks if age >= 0]
        for end, dead in [("dead", ("dead_page", "dead_host")), ("dead_or_redirected", ("dead_page", "dead_host", "redirected"))]:
            living = [index for index, (_, state) in enumerate(checks) if state not in dead]
            after = nearest(checks[living[-1]][0]) if living else 0
            later = [age for age, state in checks[living[-1] + 1 if living else 0:]]
            if not checks:
                continue
            life = (end, int(after), max(nearest(later[0]), int(after) + 1) if later else math.inf)
            found[life] = found.get(life, 0) + weight
    return found


def survival(folder, db):
    import numpy
    from lifelines import KaplanMeierFitter

    expected = lifetimes(db)
    found = {(row["end"], int(row["after_months"]), int(row["until_months"] or 0) or math.inf): float(row["weight"])
             for row in rows(folder, "lifetimes.csv")}
    check("lifetimes.csv", sorted(found), sorted(expected))
    close("weights of lifetimes", [(weight, expected.get(life, 0)) for life, weight in found.items()], 1e-5)
    for end in ["dead", "dead_or_redirected"]:
        lives = [(after, until, weight) for (name, after, until), weight in found.items() if name == end]
        after, until, weight = (numpy.array(column, float) for column in zip(*lives))
        fitter = KaplanMeierFitter()
        # lifelines reads closed intervals of ages; the report's are open at their start, and whole months.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitter.fit_interval_censoring(after + 0.5, until, weights=weight, tol=1e-9)
        lower = fitter.survival_function_["NPMLE_estimate_lower"]

        def peer_survived(age, lower=lower):
            at = lower[lower.index <= age + 0.25]
            return 0.0 if age == math.inf else float(at.iloc[-1]) if len(at) else 1.0

        steps = [row for row in rows(folder, "survival.csv") if row["end"] == end]
        pairs = []
        for step in steps:
            pairs.append((float(step["survival"]), peer_survived(int(step["age_months"]))))
        # Where the likelihood is flat lifelines ends before its maximum; the report must be there (gain).
        close(f"survival to {end}", pairs, 5e-3)
        check(f"survival to {end}: no maximum of the likelihood", [gain(lives, steps) <= 1e-4], [True])
        report = likelihood(lives, lambda age: survived(steps, age))
        peer = likelihood(lives, peer_survived)
        print(f"survival to {end}: logarithm of the likelihood {report:.4f}, of lifelines {peer:.4f}")
        check(f"survival to {end}: lifelines is likelier", [report >= peer - 1e-2], [True])


def survived(steps, age):
    if age == math.inf:
        return 0.0
    return min((float(step["survival"]) for step in steps if int(step["age_months"]) <= age), default=1.0)


def gain(lives, steps):
    """By how much the likelihood of a life grows, at most, if weight moves to one interval: 0 at its maximum (Turnbull 1976)."""
    import numpy

    after, until, weight = (numpy.array(column, float) for column in zip(*lives))
    ends = sorted({(age, 1) for age in after} | {(age, 0) for age in until})
    cells = [(one, other) for (one, opens), (other, next_opens) in zip(ends, ends[1:]) if opens and not next_opens]
    holds = numpy.array([(after <= low) & (high <= until) for low, high in cells], float)
    shares = numpy.array([survived(steps, low) - survived(steps, high) for low, high in cells])
    found = float((holds @ (weight / (shares @ holds)) / weight.sum()).max() - 1)
    print(f"gain of the likelihood by any interval of {len(cells)}: {found:.1e}")
    return found


def likelihood(lives, curve):
    return sum(weight * math.log(max(curve(after) - curve(until), 1e-12)) for after, until, weight in lives)


def report(program, database, folder):
    subprocess.run([program, "audit", "report", database, "-o", folder / "report.html", "--csv", folder / "csv"], check=True)


def case(program, folder, name, options):
    print(f"-- {name}")
    database = folder / f"{name.replace(' ', '-')}.db"
    audit_database.make(audit_database.parser().parse_args([program, str(database), *options]))
    report(program, database, folder)
    db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    db.execute(LINKS)
    counts(folder / "csv", db)
    if name == "hostile text":
        return
    try:
        import statsmodels  # noqa: F401
        intervals(folder / "csv", db)
    except ImportError:
        TALLY["skipped"] += 1
        print("SKIPPED: statsmodels is not installed")
    try:
        import lifelines  # noqa: F401
        survival(folder / "csv", db)
    except ImportError:
        TALLY["skipped"] += 1
        print("SKIPPED: lifelines is not installed")


def large(program, folder):
    database = folder / "large.db"
    options = ["--links", "600000", "--rows", "4000000", "--checks", "1"]
    audit_database.make(audit_database.parser().parse_args([program, str(database), *options]))
    print(f"-- 4,000,000 records, 600,000 links, {database.stat().st_size >> 20} MiB")
    measure("report", [program, "audit", "report", database, "-o", folder / "large.html", "--csv", folder / "large"], folder)
    measure("plan", [program, "audit", "plan", "-q", database], folder)
    measure("sample", [program, "audit", "plan", "-q", database, "--sample", "10000"], folder)


def measure(name, command, folder):
    """Runs a command on the large database: at most 10 s of processor time and 256 MiB."""
    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = folder / "peak"
    subprocess.run(["/usr/bin/time", "-f", "%M", "-o", peak, *command], check=True)
    wall, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    memory = int(peak.read_text()) / 1024
    print(f"{name}: {user:.1f} s of user and {system:.1f} s of system time, {wall:.1f} s, peak {memory:.0f} MiB")
    check(f"{name}: less than 10 s of processor time", [user + system < 10], [True])
    check(f"{name}: less than 256 MiB", [memory < 256], [True])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default="target/release/urlspool")
    parser.add_argument("--large", action="store_true")
    arguments = parser.parse_args()
    program = str(pathlib.Path(arguments.program).resolve())
    if not pathlib.Path(program).exists():
        print(f"{program} does not exist", file=sys.stderr)
        sys.exit(2)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, options in CASES.items():
            case(program, folder, name, options)
        if arguments.large:
            large(program, folder)
    print(f"{TALLY['passed']} passed, {TALLY['failed']} failed, {TALLY['skipped']} skipped")
    sys.exit(1 if TALLY["failed"] else 0)


if __name__ == "__main__":
    main()
