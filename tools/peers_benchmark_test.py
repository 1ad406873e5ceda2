"""Tests of the parts of peers_benchmark.py that need only a Python with torch. ir_graph_test.py tests
the modules that it times.

    python tools/peers_benchmark_test.py
"""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import torch  # noqa: E402

import peers_benchmark  # noqa: E402
from safetensors_file import write_safetensors  # noqa: E402


class Nested(torch.nn.Module):
    """Takes arguments of all kinds, in another order than a call by position."""

    def forward(self, x, scale, *, pair):
        return {"sum": x + pair[0], "difference": scale * x - pair[1]}


class PeersBenchmarkTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def archive(self, name):
        x, pair = torch.ones(2, 3), (torch.full((3,), 2.0), torch.arange(3))
        program = torch.export.export(Nested(), (x, 5), {"pair": pair})
        path = self.folder / f"{name}.pt2"
        torch.export.save(program, path)
        inputs = {"x": x, "pair_0": pair[0], "pair_1": pair[1]}
        expected = zip(program.graph_signature.user_outputs, (x + pair[0], 5 * x - pair[1]))
        write_safetensors(path.with_suffix(".inputs.safetensors"), inputs)
        write_safetensors(path.with_suffix(".expected.safetensors"), dict(expected))
        return peers_benchmark.Archive(path)

    def test_a_round_fills_its_time(self):
        calls = []

        def timed(iterations):
            calls.append(iterations)
            return 0, iterations * 1e5

        self.assertEqual(peers_benchmark.iterations_for(timed), 200)
        self.assertEqual(calls[0], peers_benchmark.WARM_UP_RUNS)

    def test_an_archive_is_called_as_it_was_exported(self):
        model = self.archive("nested").load()
        self.assertEqual(model.input_names, ["x", "pair_0", "pair_1"])
        outputs = model.program.module()(*model.args, **model.kwargs)
        model.check(outputs.values())
        self.assertTrue(torch.equal(outputs["difference"][0], 5 - torch.arange(3)))

    def test_other_results_are_noticed(self):
        model = self.archive("nested").load()
        first, second = model.expected
        model.check([first + 1e-5, second.numpy()])
        for wrong in ([first + 1e-2, second], [first]):
            with self.assertRaises((AssertionError, ValueError)):
                model.check(wrong)

    def test_a_folder_is_all_archives_in_it(self):
        archives = [self.archive("b"), self.archive("a")]
        self.assertEqual(peers_benchmark.find_archives([self.folder]), archives[::-1])
        self.assertEqual(peers_benchmark.find_archives([archives[0].path]), archives[:1])

    def test_what_is_not_taken_has_its_reason(self):
        missing = peers_benchmark.Archive(self.folder / "missing.pt2")
        with contextlib.redirect_stderr(io.StringIO()) as errors:
            refusal = peers_benchmark.build(missing, "onnxruntime", self.folder / "x.onnx")
        self.assertEqual(refusal, "not read")
        self.assertIn("missing", errors.getvalue())

    def test_a_package_that_is_there_is_not_built_again(self):
        source = self.archive("nested")
        for engine in peers_benchmark.ENGINES:
            peers_benchmark.package_path(self.folder, source, engine).touch()
        built = list(peers_benchmark.build_all([source], self.folder))
        self.assertEqual([(engine, why) for _, engine, _, why in built],
                         [(engine, None) for engine in peers_benchmark.ENGINES])
        # Another model with the same name has another package.
        before = built[0][2]
        source.path.write_bytes(b"another")
        after = peers_benchmark.package_path(self.folder, source, built[0][1])
        self.assertNotEqual(str(after), before)


if __name__ == "__main__":
    unittest.main()
