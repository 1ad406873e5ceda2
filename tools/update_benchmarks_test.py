"""Tests of update_benchmarks.py.

    python tools/update_benchmarks_test.py
"""

import argparse
import io
import json
import pathlib
import re
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import update_benchmarks  # noqa: E402


class UpdateBenchmarksTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.page = self.folder / "BENCHMARKS.md"
        for attribute, value in {"PAGE": self.page, "has": lambda *modules: False}.items():
            patch = mock.patch.object(update_benchmarks, attribute, value)
            patch.start()
            self.addCleanup(patch.stop)

    def write_report(self, name, benchmarks, **context):
        """A report with the time of each benchmark in microseconds."""
        runs = [{"name": key, "cpu_time": time, "real_time": time, "time_unit": "us"}
                for key, time in benchmarks.items()]
        text = json.dumps({"context": context, "benchmarks": runs})
        (self.folder / name).write_text(text)

    def write_reports(self):
        times = {"execute/Net/eager": 2, "execute/Net/exact": 1}
        self.write_report("runtime.json", times, threads="1", libtorch="2.13.0", onednn="3.1",
                          cpu_capability="AVX2", host_name="secret", date="today")
        self.write_report("runtime_all.json", times, threads="4", peak="4 threads: 9 GFLOP/s")
        self.write_report("scaling.json", {"load/chain/10": 20})

    def update(self):
        return update_benchmarks.main(
            ["--reports", str(self.folder), "--bin", str(self.folder / "bin")])

    def test_the_page_has_the_machine_and_all_sections(self):
        self.write_reports()
        self.assertEqual(self.update(), 0)
        text = self.page.read_text()
        self.assertRegex(text, r"- Machine: .+, \d+ cores, AVX2\.\n")
        self.assertIn("- Software: LibTorch 2.13.0, oneDNN 3.1.\n"
                      "- Peak: 4 threads: 9 GFLOP/s.\n", text)
        self.assertEqual(re.findall("^## (.*)", text, re.MULTILINE),
                         ["Models of the registry: ratios to eager on 1 thread",
                          "Models of the registry: ratios to eager on 4 threads",
                          "Cost as the work grows"])
        self.assertNotRegex(text, "secret|today")

    def test_a_benchmark_that_does_not_run_leaves_the_page(self):
        self.write_reports()
        (self.folder / "scaling.json").write_text("{}")
        self.page.write_text("as it was")
        with mock.patch("sys.stderr"):
            self.assertEqual(self.update(), 1)
        self.assertEqual(self.page.read_text(), "as it was")

    def commands(self, *modules, **options):
        found = lambda *names: set(names) <= set(modules)  # noqa: E731
        with mock.patch.object(update_benchmarks, "has", found):
            return {name: list(map(str, command)) for name, command in update_benchmarks.commands(
                argparse.Namespace(**{"archives": [], "model": [], **options}), pathlib.Path("bin")).items()}

    def test_archives_are_measured_with_the_models(self):
        testdata = f"--pt2={update_benchmarks.ROOT / 'harness/testdata'}"
        commands = self.commands()
        self.assertEqual(list(commands), ["runtime_all.json", "scaling.json", "runtime.json"])
        self.assertIn(testdata, commands["runtime.json"])

        commands = self.commands("torch", "transformers", "onnxruntime", "onnxscript")
        self.assertEqual(list(commands),
                         ["archives", "peers.json", "runtime_all.json", "scaling.json"])
        for name in ("peers.json", "runtime_all.json"):
            self.assertLess({testdata, "--pt2=archives"}, set(commands[name]))

    def test_own_archives_are_measured_beside_them(self):
        with mock.patch("os.getcwd", return_value=str(self.folder)):
            commands = self.commands("torch", "onnxruntime", "onnxscript",
                                     archives=[pathlib.Path("mine"), self.folder / "others"])
        added = {f"--pt2={self.folder / name}" for name in ("mine", "others")}
        for name in ("peers.json", "runtime_all.json"):
            self.assertLess(added, set(commands[name]))

    def test_a_folder_without_archives_is_an_error(self):
        stderr = io.StringIO()
        with mock.patch("sys.stderr", stderr), self.assertRaises(SystemExit):
            update_benchmarks.main(["--archives", str(self.folder)])
        self.assertIn(f"No archives (.pt2) in '{self.folder}'.", stderr.getvalue())

    def test_models_may_be_left_out(self):
        commands = self.commands("torch", "onnxruntime", "onnxscript", model=["Net", "bert"])
        self.assertIn("--benchmark_filter=^execute/(Net|bert)/", commands["runtime_all.json"])
        self.assertLess({"--model=Net", "--model=bert"}, set(commands["peers.json"]))


if __name__ == "__main__":
    unittest.main()
