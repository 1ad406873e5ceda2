"""Tests of judge.py."""

import base64
import pathlib
import tempfile
import unittest
import zipfile

from judge import Run, compare_outputs, judge_execution, judge_hits, read_outputs


def events(stats, *strategies):
    """As Bazel writes them, for tests that ran so."""
    contents = base64.b64encode(stats.encode()).decode()
    results = [
        {
            "id": {"testResult": {"label": f"//models:{i}_test", "run": 1, "attempt": 1}},
            "testResult": {"status": "PASSED", "executionInfo": {"strategy": strategy}},
        }
        for i, strategy in enumerate(strategies)
    ]
    logs = [{"name": "elapsed time"}, {"name": "process stats", "contents": contents}]
    return results + [{"id": {"buildToolLogs": {}}, "buildToolLogs": {"log": logs}}]


HIT = "remote cache hit"


class JudgeHitsTest(unittest.TestCase):
    def test_a_miss_in_twenty_is_enough_and_two_are_not(self):
        stats = "31 processes: 19 remote cache hit, 11 internal, 1 linux-sandbox."
        self.assertEqual(
            judge_hits(Run(events(stats, HIT))),
            ("19 of 20 actions came from the cache, 1 of 1 tests", True),
        )
        stats = "20 processes: 18 remote cache hit, 2 linux-sandbox."
        self.assertFalse(judge_hits(Run(events(stats, HIT)))[1])

    def test_tests_count_for_themselves(self):
        stats = "101 processes: 100 remote cache hit, 1 processwrapper-sandbox."
        self.assertEqual(
            judge_hits(Run(events(stats, "processwrapper-sandbox", HIT))),
            (
                "100 of 101 actions came from the cache, 1 of 2 tests; not: //models:0_test",
                False,
            ),
        )

    def test_a_run_without_tests_proves_nothing(self):
        self.assertFalse(judge_hits(Run(events("100 processes: 100 remote cache hit.")))[1])


class JudgeExecutionTest(unittest.TestCase):
    def test_actions_may_come_from_the_cache_and_tests_may_not(self):
        stats = "30 processes: 7 remote cache hit, 21 internal, 2 remote."
        self.assertEqual(
            judge_execution(Run(events(stats, "remote", "remote"))),
            ("actions: 7 remote cache hit, 2 remote; 2 of 2 tests ran on the worker", True),
        )
        self.assertEqual(
            judge_execution(Run(events(stats, "remote", HIT))),
            ("actions: 7 remote cache hit, 2 remote; 1 of 2 tests ran on the worker", False),
        )

    def test_nothing_runs_elsewhere(self):
        stats = "3 processes: 1 local, 2 remote."
        self.assertFalse(judge_execution(Run(events(stats, "remote")))[1])

    def test_a_run_without_tests_proves_nothing(self):
        self.assertFalse(judge_execution(Run(events("1 process: 1 remote.")))[1])

    def test_the_last_attempt_counts_and_shards_are_tests(self):
        found = events("3 processes: 3 remote.", "linux-sandbox", "remote", "remote")
        found[1]["id"]["testResult"] = dict(found[0]["id"]["testResult"], attempt=2)
        found[2]["id"]["testResult"] = dict(found[0]["id"]["testResult"], shard=2)
        self.assertEqual(
            judge_execution(Run(found)),
            ("actions: 3 remote; 2 of 2 tests ran on the worker", True),
        )


class CompareOutputsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def outputs(self, name, xml, page):
        test = self.folder / name / "models" / "A_test"
        (test / "test.outputs").mkdir(parents=True)
        (test / "test.xml").write_text(xml)
        (test / "test.log").write_text(name)
        with zipfile.ZipFile(test / "test.outputs" / "outputs.zip", "w") as archive:
            archive.writestr("A.md", page)
        return read_outputs(self.folder / name)

    def test_times_may_differ(self):
        first = self.outputs("first", '<a name="x" time="0.1" timestamp="now"/>', "page")
        second = self.outputs("second", '<a name="x" time="0.2" timestamp="then"/>', "page")
        names, differing = compare_outputs(first, second)
        self.assertEqual(
            names, ["models/A_test/test.outputs/outputs.zip/A.md", "models/A_test/test.xml"]
        )
        self.assertEqual(differing, [])

    def test_nothing_else_may(self):
        first = self.outputs("first", '<a name="x"/>', "page")
        second = self.outputs("second", '<a name="y"/>', "other page")
        self.assertEqual(len(compare_outputs(first, second)[1]), 2)

    def test_what_only_the_second_run_left_differs(self):
        second = self.outputs("second", '<a name="y"/>', "page")
        self.assertEqual(len(compare_outputs({}, second)[1]), 2)


if __name__ == "__main__":
    unittest.main()
