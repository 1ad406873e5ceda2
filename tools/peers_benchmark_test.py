"""Tests of peers_benchmark.py, of what needs no more than a Python with torch.

    python tools/peers_benchmark_test.py
"""

import json
import pathlib
import struct
import sys
import tempfile
import unittest

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import peers_benchmark  # noqa: E402


def value(name, *shape):
    return {"name": name, "shape": list(shape), "dtype": "float32"}


def node(op_type, inputs, outputs, **attrs):
    return {"name": outputs[0], "op_type": op_type, "inputs": [value(i) for i in inputs],
            "outputs": [value(o) for o in outputs], "attrs": attrs}


class PeersBenchmarkTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        torch.manual_seed(0)

    def write_weights(self, **tensors):
        header, data = {}, b""
        for name, tensor in tensors.items():
            piece = tensor.numpy().tobytes()
            header[name] = {"dtype": "F32", "shape": list(tensor.shape),
                            "data_offsets": [len(data), len(data) + len(piece)]}
            data += piece
        text = json.dumps(header).encode()
        path = self.folder / "weights.safetensors"
        path.write_bytes(struct.pack("<Q", len(text)) + text + data)

    def module(self, nodes, outputs, mapping=None, constants=None):
        ir = {"graph_inputs": [value("x", 2, 4)], "graph_outputs": [value(o) for o in outputs],
              "weight_name_mapping": mapping or {}, "constants": constants or {}, "nodes": nodes}
        (self.folder / "ir.json").write_text(json.dumps(ir))
        return peers_benchmark.module_of(self.folder)

    def test_weights_and_constants_have_their_values(self):
        weight = torch.arange(12.0).reshape(3, 4)
        self.write_weights(**{"layer.weight": weight})
        module, names = self.module(
            [node("aten.linear.default", ["x", "p_weight"], ["y"]),
             node("aten.index.Tensor", ["y", "c_columns"], ["z"],
                  _tensor_list_sizes=[1], _tensor_list_none_masks=[[True, False]])],
            ["z"], {"p_weight": "layer.weight", "c_columns": "columns"},
            {"columns": {"data": [2, 0], "dtype": "int64"}})
        # Whole numbers: their sums do not depend on how a machine orders them.
        x = torch.arange(8.0).reshape(2, 4)
        self.assertEqual(names, (["x"], ["z"]))
        self.assertTrue(torch.equal(module(x)[0], (x @ weight.T)[:, [2, 0]]))

    def test_lists_numbers_and_defaults_are_bound(self):
        self.write_weights()
        module, _ = self.module(
            [node("aten.split.Tensor", ["x"], ["a", "b"], split_size=2, dim=-1),
             node("aten.cat.default", ["b", "a"], ["c"], _tensor_list_sizes=[2], dim=1),
             node("aten.add.Tensor", ["c", "x"], ["d"], alpha=3),
             node("aten.div.Tensor", ["d"], ["e"], other=4.0)],
            ["e", "a"])
        x = torch.randn(2, 4)
        expected = torch.add(torch.cat([x[:, 2:], x[:, :2]], 1), x, alpha=3) / 4
        first, second = module(x)
        self.assertTrue(torch.equal(first, expected))
        self.assertTrue(torch.equal(second, x[:, :2]))

    def test_arguments_that_do_not_fit_are_errors(self):
        self.write_weights()
        with self.assertRaisesRegex(ValueError, "node 'y' has arguments that its operator"):
            self.module([node("aten.relu.default", ["x", "x"], ["y"])], ["y"])
        with self.assertRaisesRegex(ValueError, "node 'y' has arguments that its operator"):
            self.module([node("aten.relu.default", ["x"], ["y"], slope=1)], ["y"])

    def test_a_round_fills_its_time(self):
        calls = []

        def timed(iterations):
            calls.append(iterations)
            return 0, iterations * 1e5

        self.assertEqual(peers_benchmark.iterations_for(timed), 200)
        self.assertEqual(calls[0], peers_benchmark.WARM_UP_RUNS)


if __name__ == "__main__":
    unittest.main()
