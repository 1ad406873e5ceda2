"""Judges a second run of Bazel that should have come from a remote cache.

  compare_runs.py EXECUTION_LOG FIRST_TESTLOGS SECOND_TESTLOGS

EXECUTION_LOG is what --execution_log_json_file wrote of the second run, the folders are the
bazel-testlogs of both. Exits with 1 when less than 95 % of the actions came from the cache, or when
what a test left differs by more than times.
"""

import collections
import json
import pathlib
import re
import sys
import zipfile

NEEDED = 0.95


def read_actions(text):
    """The log is one JSON object behind the other."""
    decoder = json.JSONDecoder()
    position = 0
    while position < len(text.rstrip()):
        action, position = decoder.raw_decode(text, position)
        yield action
        while position < len(text) and text[position].isspace():
            position += 1


def is_cacheable(action):
    """Bazel writes test.xml for a test that does not, with its duration: never the same action."""
    return not action["commandArgs"][0].endswith("generate-xml.sh")


def judge_hits(actions):
    """A line for people, and whether enough came from the cache."""
    actions = [action for action in actions if is_cacheable(action)]
    hits = sum(1 for action in actions if action.get("remoteCacheHit"))
    tests = [action for action in actions if action.get("mnemonic") == "TestRunner"]
    test_hits = sum(1 for action in tests if action.get("remoteCacheHit"))
    misses = collections.Counter(
        action.get("mnemonic", "?") for action in actions if not action.get("remoteCacheHit")
    )
    line = f"{hits} of {len(actions)} actions came from the cache, {test_hits} of {len(tests)} tests"
    if misses:
        line += "; not: " + ", ".join(f"{count} {name}" for name, count in misses.most_common())
    enough = bool(tests) and hits >= NEEDED * len(actions) and test_hits >= NEEDED * len(tests)
    return line, enough


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


def main():
    log, first, second = (pathlib.Path(argument) for argument in sys.argv[1:])
    line, enough = judge_hits(list(read_actions(log.read_text())))
    print(line)
    names, differing = compare_outputs(read_outputs(first), read_outputs(second))
    print(f"{len(names) - len(differing)} of {len(names)} files that the tests left are the same")
    for name in differing:
        print(f"  differs: {name}")
    sys.exit(0 if enough and names and not differing else 1)


if __name__ == "__main__":
    main()
