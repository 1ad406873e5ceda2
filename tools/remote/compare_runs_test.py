"""Tests of compare_runs.py."""

import json
import pathlib
import tempfile
import unittest
import zipfile

from compare_runs import compare_outputs, judge_hits, read_actions, read_outputs


def action(mnemonic, hit, program="gcc"):
    return {"commandArgs": [program], "mnemonic": mnemonic, "remoteCacheHit": hit}


class JudgeHitsTest(unittest.TestCase):
    def test_a_miss_in_twenty_is_enough_and_two_are_not(self):
        actions = [action("TestRunner", True)] + 18 * [action("CppCompile", True)]
        line, enough = judge_hits(actions + [action("CppCompile", False)])
        self.assertEqual(
            line, "19 of 20 actions came from the cache, 1 of 1 tests; not: 1 CppCompile"
        )
        self.assertTrue(enough)
        self.assertFalse(judge_hits(actions[:-1] + 2 * [action("CppCompile", False)])[1])

    def test_tests_count_for_themselves(self):
        actions = 100 * [action("CppCompile", True)]
        self.assertFalse(judge_hits(actions + [action("TestRunner", False)])[1])

    def test_a_run_without_tests_proves_nothing(self):
        self.assertFalse(judge_hits(100 * [action("CppCompile", True)])[1])

    def test_the_xml_of_shell_tests_is_left_out(self):
        line, enough = judge_hits(
            [action("TestRunner", True), action("TestRunner", False, "tools/generate-xml.sh")]
        )
        self.assertEqual(line, "1 of 1 actions came from the cache, 1 of 1 tests")
        self.assertTrue(enough)

    def test_the_log_is_one_object_behind_the_other(self):
        text = json.dumps({"a": 1}, indent=2) + json.dumps({"b": 2}) + "\n"
        self.assertEqual(list(read_actions(text)), [{"a": 1}, {"b": 2}])


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
