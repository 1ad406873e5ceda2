"""Tests of benchmark_table.py.

    python tools/benchmark_table_test.py
"""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import benchmark_table  # noqa: E402


def runs(name, times, **counters):
    """Repetitions of a benchmark, with the aggregates that Google Benchmark adds."""
    iterations = [
        {"name": name, "run_name": name, "run_type": "iteration", "repetition_index": i,
         "cpu_time": time, "real_time": 2 * time * time, "time_unit": "us", **counters}
        for i, time in enumerate(times)
    ]
    median = {"name": name + "_median", "run_name": name, "run_type": "aggregate",
              "cpu_time": 1e9, "real_time": 1e9, "time_unit": "us"}
    return iterations + [median]


class BenchmarkTableTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, *benchmarks, threads="1"):
        path = self.folder / name
        path.write_text(json.dumps({"context": {"threads": threads},
                                    "benchmarks": sum(benchmarks, [])}))
        return str(path)

    def run_table(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = benchmark_table.main(list(arguments))
        return status, out.getvalue(), err.getvalue()

    def table(self, *arguments):
        status, text, errors = self.run_table(*arguments)
        self.assertEqual((status, errors), (0, ""))
        return text

    def test_ratios_are_paired_and_have_their_interval(self):
        # The ratios are 0.1, 0.2, ..., 1.5: of 15, the interval is from the 4th to the 12th.
        path = self.write(
            "a.json",
            runs("execute/Net/eager", [10] * 15),
            runs("execute/Net/exact", list(range(1, 16))),
            runs("execute/Other/eager", [4]),
            runs("execute/Other/exact", [2]),
            runs("execute/Other/fast", [1]))
        self.assertEqual(
            self.table(path),
            "## Models of the registry: ratios to eager on 1 thread\n"
            "\n"
            "Time relative to eager, with its 95 % interval; 1 or 15 rounds.\n"
            "\n"
            "| model | eager us | exact | fast |\n"
            "| --- | ---: | ---: | ---: |\n"
            "| Net | 10.0 | 0.800 (0.400 to 1.200) |  |\n"
            "| Other | 4.0 | 0.500 (0.500 to 0.500) | 0.250 (0.250 to 0.250) |\n"
            "| **geometric mean** |  | **0.632** | **0.250** |\n")

    def test_each_file_is_compared_with_its_own_eager(self):
        first = self.write("a.json", runs("execute/Net/eager", [10, 10]),
                           runs("execute/Net/exact", [5, 5]))
        second = self.write("b.json", runs("execute/Net/eager", [20, 20]),
                            runs("execute/Net/onnxruntime", [5, 5]))
        self.assertIn("| model | eager us | onnxruntime | exact |\n", self.table(first, second))
        self.assertIn("| Net | 15.0 | 0.250 (0.250 to 0.250) | 0.500 (0.500 to 0.500) |\n",
                      self.table(first, second))

    def test_several_threads_are_compared_in_real_time(self):
        one = self.write("one.json", runs("execute/Net/eager", [10]),
                         runs("execute/Net/exact", [5]))
        all_cores = self.write("all.json", runs("execute/Net/eager/real_time", [10]),
                               runs("execute/Net/exact/real_time", [5]), threads="8")
        text = self.table(all_cores, one)
        first, second = text.split("## Models of the registry: ratios to eager on 8 threads\n")
        self.assertIn("| Net | 10.0 | 0.500", first)
        self.assertIn("| Net | 200.0 | 0.250", second)

    def test_archives_have_tables_of_their_own(self):
        path = self.write(
            "a.json",
            runs("execute/Net/eager", [10]), runs("execute/Net/exact", [5]),
            runs("execute/bert/eager", [10], label="archive"),
            runs("execute/bert/exact", [2], label="archive"))
        registry, archives = self.table(path).split(
            "## Archives: ratios to eager on 1 thread\n")
        self.assertIn("| Net | 10.0 | 0.500 (0.500 to 0.500) |\n", registry)
        self.assertNotIn("bert", registry)
        self.assertIn("| bert | 10.0 | 0.200 (0.200 to 0.200) |\n", archives)

    def test_the_share_of_the_limit_has_a_column(self):
        path = self.write("a.json", runs("execute/Net/eager", [10] * 3),
                          runs("execute/Other/eager", [10]),
                          runs("execute/Net/fast", [4, 5, 8], limit_us=2),
                          runs("execute/Other/fast", [5]))
        text = self.table(path)
        self.assertIn("| model | eager us | fast | of the limit |\n| --- | ---: | ---: | ---: |\n", text)
        self.assertRegex(text, r"\| Net \| .* \| 40% \|\n")
        self.assertRegex(text, r"\| Other \| .* \|  \|\n")

    def test_what_an_engine_does_not_take_says_why(self):
        skipped = {"name": "execute/Net/onnxruntime", "run_name": "execute/Net/onnxruntime",
                   "run_type": "iteration", "skipped": True, "skip_message": "not exported"}
        path = self.write("a.json", runs("execute/Net/eager", [10]),
                          runs("execute/Net/exact", [5]), [skipped])
        self.assertIn(
            "| model | eager us | onnxruntime | exact |\n"
            "| --- | ---: | ---: | ---: |\n"
            "| Net | 10.0 | not exported | 0.500 (0.500 to 0.500) |\n"
            "| **geometric mean** |  |  | **0.500** |\n", self.table(path))

    def test_memory_has_a_table(self):
        path = self.write(
            "a.json",
            runs("execute/Net/exact", [1], allocs=0, peak_bytes=4096),
            runs("execute/Net/eager", [1], allocs=12, peak_bytes=1234567),
            runs("execute/Other/eager", [1], allocs=1, peak_bytes=2))
        self.assertIn(
            "## Models of the registry: memory of one run\n"
            "\n"
            "Allocations, and the most bytes held at a time.\n"
            "\n"
            "| model | eager | exact |\n"
            "| --- | ---: | ---: |\n"
            "| Net | 12: 1,234,567 | 0: 4,096 |\n"
            "| Other | 1: 2 |  |\n", self.table(path))

    def test_growth_is_time_a_node(self):
        path = self.write("a.json", runs("load/chain/10000", [50_000]),
                          runs("load/chain/100", [400, 600, 500]), runs("run/wide/100", [10]))
        self.assertEqual(
            self.table(path),
            "## Cost as the work grows\n"
            "\n"
            "| us per node or layer | 100 | 10,000 |\n"
            "| --- | ---: | ---: |\n"
            "| load/chain | 5.000 | 5.000 |\n"
            "| run/wide | 0.100 |  |\n")

    def test_a_benchmark_that_failed_is_an_error(self):
        failed = {"name": "execute/Net/exact", "run_name": "execute/Net/exact",
                  "error_occurred": True, "error_message": "output 0 does not match eager's"}
        path = self.write("a.json", [failed])
        self.assertEqual(
            self.run_table(path),
            (2, "", f"{path}: execute/Net/exact failed: output 0 does not match eager's\n"))

    def test_other_files_are_refused(self):
        path = self.folder / "a.json"
        path.write_text("[]")
        self.assertEqual(
            self.run_table(str(path)),
            (2, "", f"{path}: not a report of Google Benchmark: 'benchmarks' is missing\n"))
        missing = str(self.folder / "missing.json")
        self.assertIn("No such file", self.run_table(missing)[2])

    def test_nothing_to_print_is_an_error(self):
        status, _, errors = self.run_table(self.write("a.json", runs("execute/Net/exact", [1])))
        self.assertEqual(status, 2)
        self.assertIn("neither results of execute/MODEL/ENGINE with eager nor", errors)

    def test_ranks_are_those_of_the_sign_test(self):
        found = [benchmark_table.rank_of_interval(n) for n in (1, 5, 6, 9, 15, 20, 25, 100)]
        self.assertEqual(found, [0, 0, 0, 1, 3, 5, 7, 39])


if __name__ == "__main__":
    unittest.main()
