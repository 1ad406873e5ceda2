"""Tests of ir_graph.py and safetensors_file.py.

    python tools/ir_graph_test.py
"""

import pathlib
import sys
import tempfile
import unittest

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from ir_graph import GraphModule  # noqa: E402
from safetensors_file import DTYPES, read_safetensors, write_safetensors  # noqa: E402


def value(name, *shape, **fields):
    return {"name": name, "shape": list(shape), "dtype": "float32", **fields}


def node(op_type, inputs, outputs, graphs=(), **attrs):
    inputs = [value(i) if isinstance(i, str) else i for i in inputs]
    return {"name": (outputs or ["checks"])[0], "op_type": op_type, "inputs": inputs,
            "outputs": [value(o) for o in outputs], "attrs": attrs, "graphs": list(graphs)}


def graph(inputs, nodes, outputs, **fields):
    return {"graph_inputs": [value(i) if isinstance(i, str) else i for i in inputs],
            "graph_outputs": [value(o) for o in outputs], "nodes": nodes,
            "weight_name_mapping": {}, **fields}


class GraphModuleTest(unittest.TestCase):

    # Whole numbers: their sums do not depend on how a machine orders them.
    x = torch.arange(8.0).reshape(2, 4)

    def run_graph(self, nodes, outputs, weights=None, inputs=("x",), arguments=None, **fields):
        module = GraphModule(graph(inputs, nodes, outputs, **fields), weights or {})
        return module(*(arguments or [self.x.clone()]))

    def test_weights_and_constants_have_their_values(self):
        weight = torch.arange(12.0).reshape(3, 4)
        (z,) = self.run_graph(
            [node("aten.linear.default", ["x", "p_weight"], ["y"]),
             node("aten.index.Tensor", ["y", "c_columns"], ["z"],
                  _tensor_list_sizes=[1], _tensor_list_none_masks=[[True, False]])],
            ["z"], {"layer.weight": weight},
            weight_name_mapping={"p_weight": "layer.weight", "c_columns": "columns"},
            constants={"columns": {"data": [2, 0], "dtype": "int64"}})
        self.assertTrue(torch.equal(z, (self.x @ weight.T)[:, [2, 0]]))

    def test_state_is_returned_after_the_outputs(self):
        outputs = self.run_graph(
            [node("aten.select.int", ["b_sum"], ["row"], dim=0, index=1),
             node("aten.add_.Tensor", ["row", "x"], ["add_"]),
             node("aten.mul.Tensor", ["x"], ["y"], other=2)],
            ["y"], {"sum": torch.ones(2, 2, 4)}, weight_name_mapping={"b_sum": "sum"},
            state=["b_sum"])
        expected = torch.stack([torch.ones(2, 4), self.x + 1])
        self.assertTrue(torch.equal(outputs[0], self.x * 2))
        self.assertTrue(torch.equal(outputs[1], expected))

    def test_weights_lie_in_memory_as_in_the_model(self):
        base = torch.arange(12.0)
        for weight in (base.view(3, 4).t(), base[:4].expand(2, 4), base.as_strided((4, 3), (1, 1)),
                       torch.ones(3, 0).t(), base.view(1, 3, 2, 2).permute(0, 3, 1, 2)):
            fields = {"name": "w", "shape": list(weight.shape), "strides": list(weight.stride())}
            module = GraphModule(
                graph([], [], ["p_w"], weights=[fields], weight_name_mapping={"p_w": "w"}),
                {"w": weight.contiguous()})
            (laid_out,) = module()
            self.assertEqual(laid_out.stride(), weight.stride())
            self.assertTrue(torch.equal(laid_out, weight))

    def test_trainable_weights_give_the_bits_of_the_model(self):
        x = torch.randn(2, 17, 32)[:, :1]
        layer = torch.nn.Linear(32, 128)
        linear = node("aten.linear.default", ["x", "p_w", "p_b"], ["y"])
        for trainable in (True, False):
            layer.requires_grad_(trainable)
            weights = [{"name": name, "shape": list(tensor.shape), "requires_grad": trainable}
                       for name, tensor in (("w", layer.weight), ("b", layer.bias))]
            module = GraphModule(
                graph(["x"], [linear], ["y"], weights=weights,
                      weight_name_mapping={"p_w": "w", "p_b": "b"}),
                {"w": layer.weight.detach().clone(), "b": layer.bias.detach().clone()})
            with torch.no_grad():
                (y,) = module(x)
                self.assertTrue(torch.equal(y, layer(x)))
            self.assertFalse(y.requires_grad)
    def test_inputs_with_strides_lie_in_memory_as_in_the_model(self):
        x = torch.randn(3, 2).t()
        read = node("aten.as_strided.default", ["x"], ["y"], size=[6], stride=[1])
        inputs = [value("x", 2, 3, strides=[1, 2])]
        (y,) = GraphModule(graph(inputs, [read], ["y"]), {})(x.contiguous())
        self.assertTrue(torch.equal(y, x.t().flatten()))

    def test_a_write_to_a_tied_weight_shows_through_its_other_names(self):
        (y,) = self.run_graph(
            [node("aten.add_.Tensor", ["p_a", "x"], ["z"]),
             node("aten.mul.Tensor", ["p_b", "x"], ["y"])], ["y"],
            {"a": torch.zeros_like(self.x), "b": torch.zeros_like(self.x)},
            weight_name_mapping={"p_a": "a", "p_b": "b"}, tied_weights=[["a", "b"]])
        self.assertTrue(torch.equal(y, self.x * self.x))

    def test_an_argument_that_no_run_can_make_is_an_error(self):
        packed = {"opaque": "an object of the class 'C'"}
        with self.assertRaisesRegex(ValueError, "argument 'p' of node 'y' .* class 'C', which no"):
            self.run_graph([node("aten.neg.default", ["x"], ["y"], p=packed)], ["y"])

    def test_a_tied_weight_has_any_of_its_names(self):
        (y,) = self.run_graph(
            [node("aten.add.Tensor", ["x", "p_head"], ["y"])], ["y"], {"embed": self.x},
            weight_name_mapping={"p_head": "head"}, tied_weights=[["embed", "head"]])
        self.assertTrue(torch.equal(y, self.x + self.x))

    def test_a_weight_that_nobody_has_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "missing weight 'w': neither"):
            self.run_graph([], ["x"], weight_name_mapping={"p_w": "w"})

    def test_lists_numbers_and_defaults_are_bound(self):
        first, second = self.run_graph(
            [node("aten.split.Tensor", ["x"], ["a", "b"], split_size=2, dim=-1),
             node("aten.cat.default", ["b", "a"], ["c"], _tensor_list_sizes=[2], dim=1),
             node("aten.add.Tensor", ["c", "x"], ["d"], alpha=3),
             node("aten.div.Tensor", ["d"], ["e"], other=4.0)],
            ["e", "a"])
        x = self.x
        expected = torch.add(torch.cat([x[:, 2:], x[:, :2]], 1), x, alpha=3) / 4
        self.assertTrue(torch.equal(first, expected))
        self.assertTrue(torch.equal(second, x[:, :2]))

    def test_optional_tensors_go_where_they_are_named(self):
        clamped, normed = self.run_graph(
            [node("aten.clamp.Tensor", ["x", value("x", arg="max")], ["a"]),
             node("aten.clamp.Tensor", ["x", value("p_c", arg="max")], ["b"]),
             node("aten.layer_norm.default", ["x", value("p_c", arg="bias")], ["c"],
                  normalized_shape=[4])],
            ["b", "c"], {"c": torch.full((4,), 3.0)}, weight_name_mapping={"p_c": "c"})
        self.assertTrue(torch.equal(clamped, self.x.clamp(max=3)))
        norm = torch.nn.functional.layer_norm(self.x, [4], bias=torch.full((4,), 3.0))
        self.assertTrue(torch.equal(normed, norm))

    def test_optional_tensors_are_all_given_or_none(self):
        normed, _, _ = self.run_graph(
            [node("aten._native_batch_norm_legit_no_training.default", ["x", "p_mean", "p_var"],
                  ["a", "b", "c"], momentum=0.1, eps=1e-5)],
            ["a", "b", "c"], {"m": torch.zeros(4), "v": torch.ones(4)},
            weight_name_mapping={"p_mean": "m", "p_var": "v"})
        self.assertTrue(torch.allclose(normed, self.x))

    def test_texts_become_what_the_schema_says(self):
        a, b = self.run_graph(
            [node("aten._to_copy.default", ["x"], ["a"], dtype="float64", device="meta",
                  layout="strided", memory_format="contiguous_format"),
             node("aten.mul.Tensor", ["x"], ["b"], other=[0.0, 1.0])], ["a", "b"])
        self.assertTrue(torch.equal(a, self.x.double()))
        self.assertEqual(a.device.type, "cpu")
        self.assertTrue(torch.equal(b, self.x * 1j))

    def test_numbers_go_from_node_to_node(self):
        (y,) = self.run_graph(
            [node("aten.sym_size.int", ["x"], ["rows"], dim=0),
             node("_operator.floordiv", [], ["n"], a={"value": "k"}, b={"value": "rows"}),
             node("torch.sym_max", [], ["m"], a={"value": "n"}, b=2),
             node("math.trunc", [], ["t"], x=2.5),
             node("torch.sym_ite", [], ["s"], b=True, t={"value": "m"}, f={"value": "t"}),
             node("aten.view.default", ["x"], ["y"], size=[{"value": "s"}, -1])],
            ["y"], inputs=["x", value("k", scalar=True)],
            arguments=[self.x, torch.tensor(9)])
        self.assertEqual(list(y.shape), [4, 2])

    def test_control_flow_runs_its_graphs(self):
        double = graph(["v"], [node("aten.add.Tensor", ["v", "v"], ["w"])], ["w"])
        negate = graph(["v"], [node("aten.neg.default", ["v"], ["w"])], ["w"])
        for flag, expected in [(True, self.x * 2), (False, -self.x)]:
            (y,) = self.run_graph(
                [node("higher_order.cond", ["p", "x"], ["y"], [double, negate],
                      _tensor_list_sizes=[1])],
                ["y"], inputs=["x", "p"], arguments=[self.x, torch.tensor(flag)])
            self.assertTrue(torch.equal(y, expected))
        small = graph(["v", "limit"], [
            node("aten.amax.default", ["v"], ["most"]),
            node("aten.lt.Tensor", ["most", "limit"], ["goes_on"])], ["goes_on"])
        body = graph(["v", "limit"], double["nodes"], ["w"])
        body["nodes"][0]["inputs"] = [value("v"), value("v")]
        (y,) = self.run_graph(
            [node("higher_order.while_loop", ["x", "limit"], ["y"], [small, body],
                  _tensor_list_sizes=[1, 1])],
            ["y"], inputs=["x", "limit"], arguments=[self.x, torch.tensor(50.0)])
        self.assertTrue(torch.equal(y, self.x * 8))

    def test_loops_over_slices_run_their_body(self):
        body = graph(["h", "row", "w"],
                     [node("aten.add.Tensor", ["h", "row"], ["next"]),
                      node("aten.mul.Tensor", ["h", "w"], ["out"])], ["next", "out"])
        last, outs = self.run_graph(
            [node("higher_order.scan", ["h", "x", "w"], ["a", "b"], [body], _tensor_list_sizes=[1, 1, 1])],
            ["a", "b"], inputs=("h", "x", "w"), arguments=[self.x[0], self.x, self.x[1]])
        self.assertTrue(torch.equal(last, self.x[0] + self.x.sum(0)))
        self.assertTrue(torch.equal(outs, torch.stack([self.x[0], self.x[0] * 2]) * self.x[1]))
        twice = graph(["row"], [node("aten.mul.Tensor", ["row"], ["y"], other=2)], ["y"])
        (mapped,) = self.run_graph(
            [node("higher_order.map_impl", ["x"], ["y"], [twice], _tensor_list_sizes=[1, 0])], ["y"])
        self.assertTrue(torch.equal(mapped, self.x * 2))

    def test_other_kernels_are_called_and_nodes_are_told(self):
        observed = []
        ir = graph(["x"], [node("aten.relu.default", ["x"], ["y"]),
                           node("aten.neg.default", ["y"], ["z"])], ["z"])
        module = GraphModule(ir, {}, {"aten.relu.default": lambda x: x + 1},
                             lambda node, values: observed.append((node["name"], set(values))))
        self.assertTrue(torch.equal(module(self.x)[0], -(self.x + 1)))
        self.assertEqual(observed, [("y", {"x", "y"}), ("z", {"x", "y", "z"})])

    def test_the_edge_dialect_has_memory_formats_as_orders_of_dimensions(self):
        image = torch.arange(24.0).reshape(1, 2, 3, 4)
        for op_type, order, stride in (("_to_dim_order_copy", [0, 2, 3, 1], 2),
                                       ("_clone_dim_order", [0, 1, 2, 3], 1)):
            (y,) = self.run_graph(
                [node(f"dim_order_ops.{op_type}.default", ["x"], ["y"], dim_order=order)], ["y"],
                arguments=[image])
            self.assertTrue(torch.equal(y, image))
            self.assertEqual(y.stride(3), stride)
        with self.assertRaisesRegex(ValueError, "unsupported dim_order"):
            self.run_graph([node("dim_order_ops._clone_dim_order.default", ["x"], ["y"],
                                 dim_order=[1, 0, 2, 3])], ["y"], arguments=[image])

    def test_arguments_that_do_not_fit_are_errors(self):
        with self.assertRaisesRegex(ValueError, "node 'y' has arguments that its operator"):
            self.run_graph([node("aten.relu.default", ["x", "x"], ["y"])], ["y"])
        with self.assertRaisesRegex(ValueError, "node 'y' has arguments that its operator"):
            self.run_graph([node("aten.relu.default", ["x"], ["y"], slope=1)], ["y"])
        with self.assertRaisesRegex(ValueError, "this torch has no operator my.op.default"):
            self.run_graph([node("my.op.default", ["x"], ["y"])], ["y"])
        with self.assertRaisesRegex(ValueError, "returned 1 values, expected 2"):
            self.run_graph([node("aten.relu.default", ["x"], ["y", "z"])], ["y"])

    def test_torch_export_sees_the_operators(self):
        module = GraphModule(graph(["x"], [node("aten.relu.default", ["x"], ["y"])], ["y"]), {})
        program = torch.export.export(module, (self.x,))
        self.assertEqual([str(n.target) for n in program.graph.nodes if n.op == "call_function"],
                         ["aten.relu.default"])


def bytes_of(tensor):
    return tensor.resolve_conj().contiguous().reshape(-1).view(torch.uint8).tolist()


class SafetensorsTest(unittest.TestCase):

    def test_tensors_of_all_dtypes_come_back(self):
        tensors = {"empty": torch.empty(2, 0), "scalar": torch.tensor(3),
                   "bool": torch.tensor([True, False]),
                   "view": torch.arange(6.0).reshape(2, 3).T, "conj": torch.tensor([1 + 2j]).conj()}
        for name, dtype in DTYPES.items():
            if dtype is torch.bool:
                continue
            tensors[name] = torch.arange(32, dtype=torch.uint8).view(dtype)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "tensors.safetensors"
            write_safetensors(path, tensors)
            read = read_safetensors(path)
        self.assertEqual(read.keys(), tensors.keys())
        for name, tensor in tensors.items():
            self.assertEqual((read[name].dtype, read[name].shape), (tensor.dtype, tensor.shape))
            self.assertEqual(bytes_of(read[name]), bytes_of(tensor), name)

    def test_the_safetensors_package_reads_what_is_written(self):
        try:
            from safetensors.torch import load_file
        except ImportError:
            self.skipTest("safetensors is not installed")
        tensors = {"b": torch.tensor([True, False]), "a": torch.arange(3.0), "n": torch.tensor(7)}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "tensors.safetensors"
            write_safetensors(path, tensors)
            for name, tensor in load_file(path).items():
                self.assertTrue(torch.equal(tensor, tensors[name]), name)


if __name__ == "__main__":
    unittest.main()
