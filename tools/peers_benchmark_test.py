"""Tests of peers_benchmark.py, of what needs no more than a Python with torch; the modules that it
times are tested in ir_graph_test.py.

    python tools/peers_benchmark_test.py
"""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import peers_benchmark  # noqa: E402


class PeersBenchmarkTest(unittest.TestCase):

    def test_a_round_fills_its_time(self):
        calls = []

        def timed(iterations):
            calls.append(iterations)
            return 0, iterations * 1e5

        self.assertEqual(peers_benchmark.iterations_for(timed), 200)
        self.assertEqual(calls[0], peers_benchmark.WARM_UP_RUNS)


if __name__ == "__main__":
    unittest.main()
