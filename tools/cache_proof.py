"""Proves that a cache spares other machines the work.

    tools/cache_proof.py CACHE TESTLOGS [FLAG]...

CACHE is the disk cache that `tools/bazel test --disk_cache=CACHE //...` of this commit filled, and
TESTLOGS its bazel-testlogs; remote caches have the same keys. The tests run again in a clone in another
folder, with LibTorch under another path. At least 95 % of the actions, tests among them, have to come
from the cache, and the tests have to leave the same bytes, but for times. FLAGs are more flags for
Bazel. What is not committed is not in the clone.
"""

import base64
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent
NEEDED = 0.95
# Disk caches are "remote" to Bazel before 5.0.
HITS = ("disk cache hit", "remote cache hit")


def count_processes(events):
    """How many processes there were by who ran them: {"disk cache hit": 36, "linux-sandbox": 2}."""
    counts = {}
    for event in events:
        for log in event.get("buildToolLogs", {}).get("log", []):
            if log["name"] == "process stats":
                text = base64.b64decode(log["contents"]).decode()
                found = re.findall(r"(\d+) ([a-z][a-z -]*?)[,.](?= |$)", text)
                counts.update({runner: int(count) for count, runner in found})
    return {runner: count for runner, count in counts.items() if runner not in ("internal", "action cache hit")}


def list_tests(events):
    """The results of all tests, shards and all."""
    tests = {}
    for event in events:
        if "testResult" in event:
            key = event["id"]["testResult"]
            tests[key["label"], key.get("shard", 1)] = event["testResult"]
    return tests


def judge_hits(events):
    """Whether enough came from the cache; prints how much did."""
    processes, tests = count_processes(events), list_tests(events)
    hits, total = sum(processes.get(hit, 0) for hit in HITS), sum(processes.values())
    missed = sorted(label for (label, _), it in tests.items() if not it.get("cachedLocally") and
                    it.get("executionInfo", {}).get("strategy") not in HITS)
    print(f"{hits} of {total} actions came from the cache, {len(tests) - len(missed)} of {len(tests)} tests")
    print("".join(f"  ran again: {label}\n" for label in missed), end="")
    return bool(tests) and hits >= NEEDED * total and len(missed) <= (1 - NEEDED) * len(tests)


def read_outputs(folder):
    """What tests left, by path: their verdicts without times, and the files of their outputs."""
    outputs = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.name == "test.xml":
            outputs[name] = re.sub(rb' (time|timestamp|duration)="[^"]*"', b"", path.read_bytes())
        elif path.name == "outputs.zip":
            with zipfile.ZipFile(path) as archive:
                outputs.update({f"{name}/{member}": archive.read(member) for member in archive.namelist()})
    return outputs


def judge_outputs(first, second):
    """Whether the tests left the same; prints what differs."""
    differing = sorted(name for name in second if first.get(name) != second[name])
    print(f"{len(second) - len(differing)} of {len(second)} files that the tests left are the same")
    print("".join(f"  differs: {name}\n" for name in differing), end="")
    return bool(second) and not differing


def place_libtorch(folder):
    """The LibTorch of the first run under another path, with the libraries that a wheel may have beside it."""
    command = [CHECKOUT / "tools/bazel", "info", "output_base"]
    base = subprocess.check_output(command, cwd=CHECKOUT, stderr=subprocess.DEVNULL, text=True).strip()
    libtorch = pathlib.Path(base, "external/libtorch/root.txt").read_text().strip()
    for name in ("torch", "torch.libs", "nvidia"):
        source = pathlib.Path(libtorch).parent / name if name != "torch" else pathlib.Path(libtorch)
        if source.exists():
            (folder / name).symlink_to(source)
    return folder / "torch"


def main(cache, testlogs, *flags):
    testlogs = pathlib.Path(testlogs).resolve()
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        subprocess.run(["git", "clone", "-q", CHECKOUT, work / "clone"], check=True)
        bazel = [work / "clone/tools/bazel", f"--output_base={work}/base"]
        environment = dict(os.environ, LIBTORCH=str(place_libtorch(work)))
        try:
            subprocess.run(
                [*bazel, "test", *flags, f"--disk_cache={pathlib.Path(cache).resolve()}", f"--symlink_prefix={work}/second-",
                 "--test_summary=terse", f"--build_event_json_file={work}/events.json", "//..."],
                cwd=work / "clone", env=environment, check=True)
            events = [json.loads(line) for line in (work / "events.json").read_text().splitlines()]
            enough = judge_hits(events)
            same = judge_outputs(read_outputs(testlogs), read_outputs((work / "second-testlogs").resolve()))
        finally:
            # Bazel leaves read-only folders.
            subprocess.run([*bazel, "clean", "--expunge"], cwd=work / "clone", check=False)
    return 0 if enough and same else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
