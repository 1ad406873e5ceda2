"""Counts the test cases of Bazel runs and prints `N passed, N failed[, N skipped]`.

.ci/run passes the files that `bazel test --build_event_json_file=FILE` wrote. They name each test
target and its test.xml, so that targets that did not build count as failed, and results of earlier
runs do not count. Exits with 1 if a case failed or no case ran.
"""

import collections
import json
import pathlib
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree


def count_cases(path):
    """The outcomes of the cases in a test.xml."""
    outcomes = collections.Counter()
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            outcomes["failed"] += 1
        elif case.find("skipped") is not None or case.get("status") == "notrun":
            outcomes["skipped"] += 1
        else:
            outcomes["passed"] += 1
    return outcomes


def count_result(result):
    """The outcomes of one run of a test target; a run without cases counts as one case."""
    outcomes = collections.Counter()
    for output in result.get("testActionOutput", []):
        if output["name"] == "test.xml":
            try:
                outcomes = count_cases(urllib.parse.unquote(urllib.parse.urlparse(output["uri"]).path))
            except (OSError, ElementTree.ParseError):
                pass
    if result["status"] not in ("PASSED", "FLAKY"):
        outcomes["failed"] = max(outcomes["failed"], 1)
    elif not outcomes:
        outcomes["passed"] = 1
    return outcomes


def count_run(path):
    """The outcomes of all test targets of one `bazel test`."""
    targets = set()
    results = {}
    for line in pathlib.Path(path).read_text().splitlines():
        event = json.loads(line)
        identifier = event["id"]
        if "testSize" in event.get("configured", {}):
            targets.add(identifier["targetConfigured"]["label"])
        if "testResult" in event:
            test = identifier["testResult"]
            # Only the last attempt counts.
            results[test["label"], test.get("run"), test.get("shard")] = event["testResult"]
    outcomes = collections.Counter()
    for result in results.values():
        outcomes += count_result(result)
    outcomes["failed"] += len(targets - {label for label, _, _ in results})
    return outcomes


def main(paths):
    outcomes = collections.Counter()
    for path in paths:
        outcomes += count_run(path)
    summary = f"{outcomes['passed']} passed, {outcomes['failed']} failed"
    if outcomes["skipped"]:
        summary += f", {outcomes['skipped']} skipped"
    print(summary)
    return 0 if outcomes["passed"] and not outcomes["failed"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
