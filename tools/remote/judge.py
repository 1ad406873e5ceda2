"""Judges a run of Bazel by what it wrote with --build_event_json_file.

  judge.py cache EVENTS FIRST_TESTLOGS SECOND_TESTLOGS
  judge.py execution EVENTS

cache: EVENTS are those of a second run that should have come from a remote cache, the folders the
bazel-testlogs of both. At least 95 % of what would have run, and of the tests, has to come from the
cache, and what the tests left has to be the same but for times.

execution: everything has to come from the service, and each test has to have run there just now.

Exits with 1 where it is not so.
"""

import base64
import collections
import json
import pathlib
import re
import sys
import zipfile

NEEDED = 0.95

# As Bazel names what runs in its place, and what needs no process.
CACHE_HIT = "remote cache hit"
REMOTE = "remote"
NO_PROCESS = ("internal", "action cache hit")


class Run:
    """What the events tell: processes by who ran them, and the results of tests."""

    def __init__(self, events):
        self.processes = collections.Counter()
        self.results = {}
        for event in events:
            if "buildToolLogs" in event:
                self._read_logs(event["buildToolLogs"].get("log", []))
            if "testResult" in event:
                test = event["id"]["testResult"]
                key = test["label"], test.get("run", 1), test.get("shard", 1)
                self.results[key] = event["testResult"]

    def _read_logs(self, logs):
        for log in logs:
            # Such as: 78 processes: 36 remote cache hit, 42 internal.
            if log["name"] == "process stats" and "contents" in log:
                text = base64.b64decode(log["contents"]).decode()
                for count, runner in re.findall(r"(\d+) ([a-z][a-z -]*?)[,.](?= |$)", text):
                    if runner not in NO_PROCESS:
                        self.processes[runner] += int(count)

    def count_tests(self, strategy):
        return sum(1 for result in self.results.values() if strategy_of(result) == strategy)


def read_events(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]


def strategy_of(result):
    return result.get("executionInfo", {}).get("strategy")


def judge_hits(run):
    """A line for people, and whether enough came from the cache."""
    hits, processes = run.processes[CACHE_HIT], sum(run.processes.values())
    test_hits, tests = run.count_tests(CACHE_HIT), len(run.results)
    line = f"{hits} of {processes} actions came from the cache, {test_hits} of {tests} tests"
    missed = sorted(key[0] for key, result in run.results.items() if strategy_of(result) != CACHE_HIT)
    if missed:
        line += "; not: " + ", ".join(missed)
    enough = bool(tests) and hits >= NEEDED * processes and test_hits >= NEEDED * tests
    return line, enough


def judge_execution(run):
    """A line for people, and whether the service did it all."""
    line = "actions: " + ", ".join(f"{count} {name}" for name, count in run.processes.most_common())
    ran, tests = run.count_tests(REMOTE), len(run.results)
    line += f"; {ran} of {tests} tests ran on the worker"
    elsewhere = set(run.processes) - {CACHE_HIT, REMOTE}
    return line, bool(tests) and ran == tests and not elsewhere


def without_times(xml):
    return re.sub(rb' (time|timestamp|duration)="[^"]*"', b"", xml)


def read_outputs(folder):
    """What tests leave, by path: their verdicts, and the files in their outputs."""
    outputs = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.name == "test.xml":
            outputs[name] = without_times(path.read_bytes())
        elif path.name == "outputs.zip":
            with zipfile.ZipFile(path) as archive:
                for member in archive.namelist():
                    outputs[f"{name}/{member}"] = archive.read(member)
        elif path.is_file() and "test.outputs" in path.parts and path.suffix != ".zip":
            outputs[name] = path.read_bytes()
    return outputs


def compare_outputs(first, second):
    """The paths that the second run has, and those among them that differ from the first."""
    return sorted(second), [name for name in sorted(second) if first.get(name) != second[name]]


def judge_cache(events, first, second):
    line, enough = judge_hits(Run(read_events(events)))
    print(line)
    names, differing = compare_outputs(
        read_outputs(pathlib.Path(first)), read_outputs(pathlib.Path(second))
    )
    print(f"{len(names) - len(differing)} of {len(names)} files that the tests left are the same")
    for name in differing:
        print(f"  differs: {name}")
    return enough and bool(names) and not differing


def main(kind, *arguments):
    if kind == "cache":
        return 0 if judge_cache(*arguments) else 1
    line, remote = judge_execution(Run(read_events(*arguments)))
    print(line)
    return 0 if remote else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
