"""Prints the results of benchmarks as Markdown: ratios to eager, memory, cost as graphs grow.

    bazel run -c opt //harness:runtime_benchmark -- --benchmark_out=runtime.json
    python tools/benchmark_table.py runtime.json

Takes one or more files that Google Benchmark writes (--benchmark_out) for
//harness:runtime_benchmark, //harness:scaling_benchmark and tools/peers_benchmark.py, and prints
the sections for which they have results.

A ratio is the time of round i of an engine over that of round i of eager in the same file, since
only runs that took turns are comparable. A cell has the median of all
rounds, and in brackets its 95 % interval by order statistics: from the k-th smallest to the k-th
largest ratio, with the largest k for which 2 P(B < k) <= 0.05, where B is the number of heads in n
throws of a coin. Fewer than 6 rounds give no such interval; the brackets then show all of them.
Times are CPU time for one thread and real time for more, in separate tables; archives have their own
tables too. If an engine does not support a model, the cell has the reason from the file.
"""

import argparse
import collections
import json
import math
import statistics
import sys

# In this order; others follow by name.
ENGINES = ["aotinductor", "aotinductor_freezing", "onnxruntime", "exact", "fast"]

MEMORY_COUNTERS = ("allocs", "peak_bytes")

# The kinds of models, by the label of their benchmarks, in the order of the tables.
KINDS = {"": "Models of the registry", "archive": "Archives"}

NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


class Failure(Exception):
    """A problem with a file, as a message for the user."""


class Report:
    """The contents of a file: the rounds of each benchmark, the number of threads, and the context."""

    def __init__(self, path):
        try:
            with open(path, encoding="utf-8") as file:
                report = json.load(file)
        except (OSError, ValueError) as error:
            raise Failure(f"{path}: {error}") from error
        if not isinstance(report, dict) or "benchmarks" not in report:
            raise Failure(f"{path}: not a report of Google Benchmark: 'benchmarks' is missing")
        self.context = report.get("context", {})
        self.threads = int(self.context.get("threads", "1"))
        self.rounds = collections.defaultdict(list)
        self.skipped = {}
        for run in report["benchmarks"]:
            if run.get("error_occurred"):
                message = run.get("error_message", "no message")
                raise Failure(f"{path}: {run['name']} failed: {message}")
            if run.get("run_type", "iteration") == "iteration":
                self._add(run)

    def _add(self, run):
        if run.get("skipped"):
            self.skipped[run["name"]] = run
            return
        time = run["cpu_time" if self.threads == 1 else "real_time"]
        nanoseconds = time * NANOSECONDS[run.get("time_unit", "ns")]
        name = run.get("run_name", run["name"]).removesuffix("/real_time")
        self.rounds[name].append(dict(run, time=nanoseconds))


def rank_of_interval(rounds):
    """The number of sorted ratios outside the interval at either end."""
    outside = 0
    below = 0.5**rounds
    while True:
        below += math.comb(rounds, outside + 1) * 0.5**rounds
        if 2 * below > 0.05:
            return outside
        outside += 1


def interval(ratios):
    """The lower bound, median and upper bound of the 95 % interval of the median."""
    ordered = sorted(ratios)
    outside = rank_of_interval(len(ordered))
    return ordered[outside], statistics.median(ordered), ordered[-1 - outside]


class Comparison:
    """The rounds of models of one kind and of engines that ran on the same number of threads."""

    def __init__(self):
        self.eager = collections.defaultdict(list)
        self.ratios = collections.defaultdict(lambda: collections.defaultdict(list))
        # Why an engine has no ratios.
        self.reasons = collections.defaultdict(dict)
        # The machine's limit relative to the time at `fast`.
        self.shares = collections.defaultdict(list)

    def add(self, model, engine, runs, base):
        if engine == "eager":
            self.eager[model] += [run["time"] for run in runs]
        elif base:
            self.ratios[model][engine] += [run["time"] / eager["time"]
                                           for run, eager in zip(runs, base)]
            self.shares[model] += [run["limit_us"] * 1e3 / run["time"]
                                   for run in runs if "limit_us" in run]

    def engines(self):
        return in_order({engine for found in (self.ratios, self.reasons)
                         for engines in found.values() for engine in engines})


def parts_of(name):
    """Model and engine of execute/MODEL/ENGINE."""
    parts = name.split("/")
    return parts[1:] if parts[0] == "execute" and len(parts) == 3 else None


class Results:
    """The results of all files."""

    def __init__(self):
        self.comparisons = collections.defaultdict(Comparison)
        self.memory = collections.defaultdict(lambda: collections.defaultdict(dict))
        self.growth = collections.defaultdict(dict)

    def add(self, report):
        for name, runs in report.rounds.items():
            parts = name.split("/")
            if found := parts_of(name):
                model, engine = found
                label = runs[0].get("label", "")
                base = report.rounds.get(f"execute/{model}/eager")
                self.comparisons[report.threads, label].add(model, engine, runs, base)
                self._add_memory(label, model, engine, runs)
            elif len(parts) == 3 and parts[2].isdecimal():
                self.growth["/".join(parts[:2])][int(parts[2])] = runs
        for name, run in report.skipped.items():
            model, engine = parts_of(name)
            comparison = self.comparisons[report.threads, run.get("label", "")]
            comparison.reasons[model][engine] = run["skip_message"]

    def _add_memory(self, label, model, engine, runs):
        if all(key in run for run in runs for key in MEMORY_COUNTERS):
            self.memory[label][model].setdefault(
                engine, [statistics.median(run[key] for run in runs) for key in MEMORY_COUNTERS])


def in_order(engines):
    known = ["eager"] + ENGINES
    return [e for e in known if e in engines] + sorted(engines - set(known))


def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def head(cells):
    return row(cells) + row(["---"] + ["---:"] * (len(cells) - 1))


def ratio_table(comparison):
    engines = comparison.engines()
    has_shares = any(comparison.shares.values())
    text = head(["model", "eager us"] + engines + ["of the limit"] * has_shares)
    medians = collections.defaultdict(list)
    num_rounds = set()
    for model, found in sorted(comparison.ratios.items()):
        cells = []
        for engine in engines:
            if engine not in found:
                cells.append(comparison.reasons[model].get(engine, ""))
                continue
            low, median, high = interval(found[engine])
            medians[engine].append(median)
            num_rounds.add(len(found[engine]))
            cells.append(f"{median:.3f} ({low:.3f} to {high:.3f})")
        if has_shares:
            shares = comparison.shares[model]
            cells.append(f"{statistics.median(shares):.0%}" if shares else "")
        eager = statistics.median(comparison.eager[model]) / 1e3
        text += row([model, f"{eager:.1f}"] + cells)
    means = [f"**{statistics.geometric_mean(medians[engine]):.3f}**" if medians[engine] else ""
             for engine in engines]
    text += row(["**geometric mean**", ""] + means + [""] * has_shares)
    rounds = " or ".join(str(n) for n in sorted(num_rounds))
    return f"Time relative to eager, with its 95 % interval; {rounds} rounds.\n\n" + text


def memory_table(models):
    engines = in_order({engine for found in models.values() for engine in found})
    text = head(["model", *engines])
    for model, found in sorted(models.items()):
        cells = ["{:,.0f}: {:,.0f}".format(*found[engine]) if engine in found else ""
                 for engine in engines]
        text += row([model, *cells])
    return text


def growth_table(results):
    sizes = sorted({size for sizes in results.growth.values() for size in sizes})
    text = head(["us per node or layer"] + [f"{size:,}" for size in sizes])
    for family, found in sorted(results.growth.items()):
        cells = []
        for size in sizes:
            times = [run["time"] / size / 1e3 for run in found.get(size, [])]
            cells.append(f"{statistics.median(times):.3f}" if times else "")
        text += row([family] + cells)
    return text


def tables(reports):
    """The sections for which `reports` have results; may be empty."""
    results = Results()
    for report in reports:
        results.add(report)
    sections = []
    for (threads, label), comparison in sorted(results.comparisons.items()):
        if comparison.ratios:
            on = "1 thread" if threads == 1 else f"{threads} threads"
            sections.append(f"## {KINDS[label]}: ratios to eager on {on}\n\n" +
                            ratio_table(comparison))
    for label, models in sorted(results.memory.items()):
        sections.append(f"## {KINDS[label]}: memory of one run\n\n"
                        "Allocations, and the most bytes held at a time.\n\n" +
                        memory_table(models))
    if results.growth:
        sections.append("## Cost as the work grows\n\n" + growth_table(results))
    return "\n".join(sections)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    options = parser.parse_args(arguments)
    try:
        text = tables([Report(path) for path in options.files])
        if not text:
            raise Failure("the files have neither results of execute/MODEL/ENGINE with eager nor "
                          "results of growing graphs")
    except Failure as failure:
        print(failure, file=sys.stderr)
        return 2
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
