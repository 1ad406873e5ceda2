"""Tests of export_model.py. They need a Python with torch, so `bazel test //...` leaves them out.

    python -m unittest tools/export_model_test.py
"""

import contextlib
import io
import json
import os
import pathlib
import struct
import sys
import tempfile
import textwrap
import unittest

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import export_model  # noqa: E402

MODELS = """
    import torch

    class Linear(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 2)
            self.dropout = torch.nn.Dropout()

        def forward(self, x):
            return self.linear(self.dropout(x))

    class Words(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = torch.nn.Embedding(30, 4)

        def forward(self, ids, mask=None, scale=1, *, flag=False):
            y = self.embedding(ids) * scale
            if flag:
                y = y * mask.unsqueeze(-1)
            return {"y": y, "again": [y, ids], "rows": ids.shape[0], "none": None, "sum": y.sum()}

    class Many(torch.nn.Module):
        def forward(self, *tensors):
            return tuple(tensor + 1 for tensor in tensors)

    class Same(torch.nn.Module):
        def forward(self, x):
            return x

    class Writes(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(()))

        def forward(self, x):
            self.count.add_(1)
            return x.mul_(2) + self.count

    class Branches(torch.nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    class Wrong(torch.nn.Module):
        def forward(self, x):
            return x + torch.ones(7)

    class Stacked(torch.nn.Module):
        def forward(self, x, cache):
            return x.repeat(2) + cache["k"][1]

    class Fails(torch.nn.Module):
        def __init__(self):
            raise KeyError("no weights\\nand more")

    def make_linear():
        return Linear()

    def make_exported():
        # As PT2E starts, whose models refuse eval() too.
        return torch.export.export(Linear().eval(), (torch.zeros(4, 3),)).module()

    def make_nothing():
        return 3

    def example_inputs():
        return {"ids": torch.zeros(2, 3, dtype=torch.int64), "scale": 3}

    def lists():
        return [[torch.ones(2), torch.zeros(2)]]

    class TakesList(torch.nn.Module):
        def forward(self, tensors):
            return tensors[0] + tensors[1]

    def nested():
        return {"x": torch.ones(4), "cache": {"k": [torch.ones(3), torch.ones(8)]}}

    instance = Linear()
    number = 3
"""


def read_safetensors(path):
    raw = path.read_bytes()
    (size,) = struct.unpack("<Q", raw[:8])
    dtypes = {code: dtype for dtype, code in export_model.SAFETENSORS_DTYPES.items()}
    tensors, end = {}, 0
    for name, entry in json.loads(raw[8 : 8 + size]).items():
        begin, previous_end = entry["data_offsets"][0], end
        end = entry["data_offsets"][1]
        assert begin == previous_end, "there is a hole in the file"
        data = bytearray(raw[8 + size + begin : 8 + size + end])
        dtype = dtypes[entry["dtype"]]
        flat = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
        tensors[name] = flat.reshape(entry["shape"])
    assert 8 + size + end == len(raw), "something follows the tensors"
    return tensors


class ExportModelTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "models.py").write_text(textwrap.dedent(MODELS))
        self.addCleanup(sys.path.__setitem__, slice(None), list(sys.path))
        for name in ("models", "broken"):
            self.addCleanup(sys.modules.pop, name, None)

    def run_tool(self, *arguments, output="m.pt2"):
        self.out, self.err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(self.out), contextlib.redirect_stderr(self.err):
            return export_model.main([*arguments, "-o", str(self.folder / output)])

    def export(self, name, *arguments, output="m.pt2"):
        """The program, its inputs and its expected outputs."""
        status = self.run_tool(f"{self.folder / 'models.py'}:{name}", *arguments, output=output)
        self.assertEqual(status, 0, self.err.getvalue())
        archive = self.folder / output
        return (
            torch.export.load(archive),
            read_safetensors(archive.with_suffix(".inputs.safetensors")),
            read_safetensors(archive.with_suffix(".expected.safetensors")),
        )

    def assert_refused(self, message, *arguments, output="m.pt2", lines=1):
        before = sorted(self.folder.iterdir())
        self.assertEqual(self.run_tool(*arguments, output=output), 2)
        self.assertIn(message, self.err.getvalue())
        self.assertEqual(self.err.getvalue().count("\n"), lines, self.err.getvalue())
        left = [path for path in self.folder.iterdir() if path.name != "__pycache__"]
        self.assertEqual(sorted(left), [path for path in before if path.name != "__pycache__"])

    def refuse(self, name, message, *arguments, lines=1):
        self.assert_refused(message, f"{self.folder / 'models.py'}:{name}", *arguments, lines=lines)

    def test_expected_is_what_the_model_returns(self):
        program, inputs, expected = self.export("Linear", "--input", "4,3")
        self.assertEqual(inputs.keys(), {"x"})
        self.assertEqual(expected.keys(), {"linear"})
        # In evaluation mode: the dropout does nothing.
        self.assertTrue(torch.equal(program.module()(inputs["x"]), expected["linear"]))
        self.assertIn("torch-ir verify", self.out.getvalue())
        self.assertIn("  or: harness ", self.out.getvalue())

    def test_a_function_and_an_instance_are_models_too(self):
        for name in ("make_linear", "instance", "make_exported"):
            _, _, expected = self.export(name, "--input", "4,3")
            self.assertEqual(expected["linear"].shape, (4, 2))

    def test_a_model_of_an_installed_package(self):
        path = str(self.folder / "m.pt2")
        arguments = ["torch.nn:Identity", "--input", "2", "-o", path]
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(export_model.main(arguments), 0)

    def test_the_same_command_gives_the_same_bytes(self):
        def run(*arguments):
            sys.modules.pop("models", None)
            self.export("Linear", "--input", "4,3", *arguments)
            return {path.name: path.read_bytes() for path in self.folder.glob("m.*")}

        first = run()
        self.assertEqual(len(first), 3)
        self.assertEqual(run(), first)
        other = run("--seed", "1")
        self.assertTrue(all(other[name] != first[name] for name in first))

    def test_the_seed_is_of_the_weights_too(self):
        def weight(*arguments):
            return self.export("Linear", "--input", "4,3", *arguments)[0].state_dict["linear.weight"]

        self.assertTrue(torch.equal(weight(), weight("--seed", "0")))
        self.assertFalse(torch.equal(weight(), weight("--seed", "1")))

    def test_what_lies_beside_the_model_can_be_imported(self):
        (self.folder / "user.py").write_text("from models import Linear as Mine\n")
        self.addCleanup(sys.modules.pop, "user", None)
        path = str(self.folder / "user.py")
        self.assertEqual(self.run_tool(f"{path}:Mine", "--input", "4,3"), 0, self.err.getvalue())

    def test_large_elements_come_first(self):
        path = self.folder / "t.safetensors"
        tensors = {"a": torch.ones(3, dtype=torch.uint8), "b": torch.ones(2, dtype=torch.float64)}
        export_model.save_safetensors(tensors, path)
        self.assertEqual(list(read_safetensors(path)), ["b", "a"])

    def test_the_archive_does_not_tell_where_it_was_made(self):
        self.export("Linear", "--input", "4,3")
        for path in self.folder.glob("m.*"):
            self.assertNotIn(str(self.folder).encode(), path.read_bytes(), path.name)

    def test_outputs_have_the_names_of_the_graph(self):
        arguments = ["--input", "torch.randint(30, (2, 3))", "--input", "mask=2,3", "--input", "flag=True"]
        program, inputs, expected = self.export("Words", *arguments)
        self.assertEqual(inputs.keys(), {"ids", "mask"})
        # 'again' repeats a tensor and returns an input; 'rows' and 'none' are fixed.
        self.assertEqual(expected.keys(), {"mul_1", "ids", "sum_1"})
        self.assertEqual(expected["sum_1"].shape, ())
        self.assertTrue(torch.equal(expected["ids"], inputs["ids"]))
        returned = program.module()(inputs["ids"], mask=inputs["mask"], flag=True)
        self.assertTrue(torch.equal(returned["y"], expected["mul_1"]))

    def test_numbers_are_tensors_without_dimensions(self):
        dynamic = ["--dynamic", "ids:0=rows:1..64", "--dynamic", "0:1=words"]
        program, _, expected = self.export("Words", "--input", "torch.randint(10, (2, 3))", *dynamic)
        rows = [t for name, t in expected.items() if name.startswith("sym_size")]
        self.assertEqual([t.dtype for t in rows], [torch.int64])
        self.assertEqual(rows[0].item(), 2)
        ranges = sorted((r.lower, r.upper) for r in program.range_constraints.values())
        self.assertIn((1, 64), ranges)
        self.assertEqual(len(ranges), 2)

    def test_sizes_of_the_same_name_are_equal(self):
        arguments = ["--input", "torch.randint(10, (2, 3))", "--input", "mask=2,3", "--input", "flag=True"]
        dynamic = ["--dynamic", "mask:0=rows", "--dynamic", "ids:0=rows:2..64"]
        program, _, _ = self.export("Words", *arguments, *dynamic)
        self.assertEqual(len(program.range_constraints), 1)

    def test_sizes_of_nested_inputs_that_depend_on_others(self):
        given = ["--inputs-from", "nested", "--dynamic"]
        for second in ("cache.k.1:0=2*n", "cache.0.1:0=auto"):
            with self.subTest(second):
                first = second.replace("cache.k.1", "x").replace("cache.0.1", "x").replace("2*", "")
                program, _, _ = self.export("Stacked", *given, first, "--dynamic", second)
                x, _, k = (node.meta["val"] for node in program.graph.nodes if node.op == "placeholder")
                self.assertEqual(str(k.shape[0]), f"2*{x.shape[0]}")

    def test_any_number_of_arguments(self):
        arguments = ["--input", "2", "--input", "2,2", "--dynamic", "1:0=n"]
        _, inputs, expected = self.export("Many", *arguments)
        self.assertEqual([t.shape for t in inputs.values()], [(2,), (2, 2)])
        self.assertEqual(len(expected), 2)

    def test_what_the_model_writes_to_is_not_changed(self):
        program, inputs, expected = self.export("Writes", "--input", "3")
        self.assertEqual(program.state_dict["count"].item(), 0)
        self.assertTrue(torch.equal(list(expected.values())[0], inputs["x"] * 2 + 1))

    def test_inputs_of_a_function(self):
        _, inputs, _ = self.export("Words", "--inputs-from", "example_inputs")
        self.assertEqual(inputs["ids"].tolist(), [[0, 0, 0], [0, 0, 0]])
        _, inputs, _ = self.export("TakesList", "--inputs-from", "lists")
        self.assertEqual(list(inputs), ["tensors_0", "tensors_1"])

    def test_every_dtype_is_stored(self):
        for dtype, code in export_model.SAFETENSORS_DTYPES.items():
            name = export_model.dtype_name(dtype)
            with self.subTest(name):
                value = torch.arange(5).to(dtype)
                self.assertEqual(value.dtype, dtype)
                path = self.folder / "t.safetensors"
                export_model.save_safetensors({"a": value, "b": value[:0], "c": value[::2]}, path)
                self.assertEqual(int.from_bytes(path.read_bytes()[:8], "little") % 8, 0)
                read = read_safetensors(path)
                bits = lambda tensor: tensor.contiguous().view(torch.uint8).tolist()  # noqa: E731
                self.assertEqual(bits(read["a"]), bits(value), code)
                self.assertEqual(read["b"].shape, (0,))
                self.assertEqual(bits(read["c"]), bits(value)[:: 2] if value.element_size() == 1
                                 else bits(value[::2]))

    def test_an_input_is_sizes_or_an_expression(self):
        x = export_model.make_value("1000,2")
        self.assertEqual((x.shape, x.dtype), ((1000, 2), torch.float32))
        self.assertAlmostEqual(x.std().item(), 1, 1)
        self.assertEqual(export_model.make_value("torch.ones(())").shape, ())
        self.assertFalse(export_model.make_value("torch.nn.Parameter(torch.ones(2))").requires_grad)
        self.assertEqual(export_model.make_value("'a=b'"), "a=b")
        self.assertIs(export_model.make_value("None"), None)
        self.assertEqual(export_model.make_value("0.5"), 0.5)

    def test_inputs_do_not_depend_on_what_the_model_drew(self):
        _, few, _ = self.export("Same", "--input", "torch.rand(3)")
        _, many, _ = self.export("Linear", "--input", "torch.rand(3)")
        self.assertEqual(few["x"].tolist(), many["x"].tolist())
        _, other, _ = self.export("Same", "--input", "torch.rand(3)", "--seed", "1")
        self.assertNotEqual(few["x"].tolist(), other["x"].tolist())

    def test_a_list_of_tensors(self):
        spec = "[torch.ones(2), torch.zeros(2)]"
        _, inputs, _ = self.export("TakesList", "--input", spec)
        self.assertEqual(list(inputs), ["tensors_0", "tensors_1"])

    def test_a_tensor_of_a_file(self):
        torch.save(torch.arange(6.0).reshape(2, 3), self.folder / "x.pt")
        _, inputs, _ = self.export("Linear", "--input", f"torch.load('{self.folder / 'x.pt'}')")
        self.assertEqual(inputs["x"].tolist(), [[0, 1, 2], [3, 4, 5]])

    def test_weights_of_a_file(self):
        weights = {"linear.weight": torch.ones(2, 3), "linear.bias": torch.zeros(2)}
        path = self.folder / "w.pt"
        torch.save({"model": weights, "epoch": 3}, path)
        given = ["--input", "1,3", "--state-dict", str(path)]
        _, inputs, expected = self.export("Linear", *given, "--weights-key", "model")
        self.assertAlmostEqual(expected["linear"][0, 0].item(), inputs["x"].sum().item(), 5)

        self.refuse("Linear", "is not a state dict; it has a nested one: add --weights-key model",
                    *given)
        self.refuse("Linear", "has no entry 'x'", *given, "--weights-key", "x")
        torch.save({"linear.weight": torch.ones(2, 3)}, path)
        self.refuse("Linear", "does not match the model: missing 'linear.bias'", *given)
        torch.save({**weights, "more": torch.ones(1)}, path)
        self.refuse("Linear", "does not match the model: unexpected 'more'", *given)
        torch.save({**weights, "linear.bias": torch.ones(4)}, path)
        self.refuse("Linear", "'linear.bias' has shape [4], expected [2]", *given)
        path.write_text("no archive")
        self.refuse("Linear", f"cannot load '{path}'", *given)

    def test_errors_of_the_model_are_one_line(self):
        x = ["--input", "2"]
        self.refuse("Fails", "cannot call Fails(): KeyError: 'no weights", *x)
        self.refuse("make_nothing", "make_nothing() returned int, expected a torch.nn.Module", *x)
        self.refuse("number", "'number' has type int; expected a torch.nn.Module", *x)
        self.refuse("missing", "has no attribute 'missing'", *x)
        self.assert_refused("cannot find file 'no.py'", "no.py:Model", *x)
        self.assert_refused("cannot import 'no_such_package'", "no_such_package:Model", *x)
        self.assert_refused("invalid model 'Model'; expected FILE.py:NAME", "Model", *x)
        (self.folder / "broken.py").write_text("def (\n")
        self.assert_refused("SyntaxError", f"{self.folder / 'broken.py'}:Model", *x)

    def test_bad_inputs_are_one_line(self):
        expectations = {
            "x": "--input x: NameError: name 'x' is not defined",
            "int64:3": "--input int64:3: SyntaxError",
            "torch.ones(": "SyntaxError",
            "torch.load('no.pt')": "FileNotFoundError",
            "99999999,99999999,999": "--input 99999999,99999999,999: RuntimeError",
        }
        for spec, message in expectations.items():
            with self.subTest(spec):
                self.refuse("Linear", message, "--input", spec)
        self.refuse("Linear", "forward cannot be called with these inputs: missing a required "
                    "argument: 'x'")
        self.refuse("Linear", "too many positional arguments", "--input", "3", "--input", "3")
        self.refuse("Linear", "unexpected keyword argument 'y'", "--input", "3",
                    "--input", "y=3")
        self.refuse("Words", "duplicate input 'ids'", "--input", "ids=3", "--input", "ids=3")
        self.refuse("Words", "not both", "--input", "3", "--inputs-from", "example_inputs")
        self.refuse("Words", "has no attribute 'nothing'", "--inputs-from", "nothing")
        self.refuse("Words", "make_nothing() returned int; expected a tuple", "--inputs-from", "make_nothing")
        sparse = "torch.eye(2).to_sparse()"
        self.refuse("Same", "the input 'x' is not a strided tensor", "--input", sparse)

    def test_bad_dynamic_sizes_are_one_line(self):
        expectations = {
            "x": "expected INPUT:DIMENSION=SIZE or INPUT:DIMENSION=NAME:LOW..HIGH",
            "y:0=n": "unknown input 'y'; expected one of: 'x'",
            "1:0=n": "unknown input '1'",
            "x:2=n": "dimension 2 is out of range; 'x' has 2 dimensions, counted from 0",
            "x:0=n:5..8": "size 4 of the input is outside the range",
            "x:0=n:8..5": "--dynamic: ",
        }
        for dynamic, message in expectations.items():
            with self.subTest(dynamic):
                self.refuse("Linear", message, "--input", "4,3", "--dynamic", dynamic)
        self.refuse("Linear", "torch.export fixes a size of 1", "--input", "1,3", "--dynamic",
                    "x:0=n")
        self.refuse("Linear", "'n' has two different ranges", "--input", "4,3", "--dynamic", "x:0=n:1..8",
                    "--dynamic", "x:1=n:1..9")
        self.refuse("Words", "'scale' is not a tensor", "--input", "torch.randint(10, (2, 3))", "--input",
                    "scale=int(3)", "--dynamic", "scale:0=n")
        self.refuse("Words", "unknown input 'mask'; expected one of: 'ids'", "--input", "torch.randint(10, (2, 3))",
                    "--dynamic", "mask:0=n")
        self.refuse("TakesList", "'tensors' is not a tensor; name a part of it, such as 'tensors.0'",
                    "--inputs-from", "lists", "--dynamic", "tensors:0=n")
        self.refuse("TakesList", "'tensors' has no part '2'; expected one of: '0', '1'",
                    "--inputs-from", "lists", "--dynamic", "tensors.2:0=n")
        self.refuse("Linear", "'2*n' takes no range", "--input", "4,3", "--dynamic", "x:0=2*n:1..8")

    def test_what_torch_says_below_its_first_line(self):
        # The weights have three columns.
        self.refuse("Linear", "Suggested fixes:\n    n = 3\n", "--input", "4,3", "--dynamic", "x:1=n", lines=4)
        self.assertNotIn("TORCH_LOGS", self.err.getvalue())
        x = ["--input", "2"]
        self.refuse("Branches", "in forward\n      return x if x.sum() > 0 else -x\n", *x, lines=6)
        self.refuse("Wrong", f"models.py:{self.line_of('ones(7)')}, in forward: return x + ", *x, lines=2)

    def line_of(self, text):
        before = (self.folder / "models.py").read_text().split(text)[0]
        return before.count("\n") + 1

    def test_bad_outputs_are_one_line(self):
        model = f"{self.folder / 'models.py'}:Linear"
        self.assert_refused("does not end in .pt2", model, "--input", "4,3", output="m.onnx")
        self.assert_refused("missing folder", model, "--input", "4,3", output="no/m.pt2")
        os.mkdir(self.folder / "d.pt2")
        self.assert_refused("cannot write", model, "--input", "4,3", output="d.pt2")

    def test_bad_flags_are_one_line(self):
        self.refuse("Linear", "unrecognized arguments: --inputs 3; see --help", "--inputs", "3")
        self.refuse("Linear", "--weights-key requires --state-dict", "--input", "4,3", "--weights-key", "k")

    def test_a_traceback_on_request(self):
        arguments = [f"{self.folder / 'models.py'}:Fails", "--input", "3", "--traceback"]
        self.assertEqual(self.run_tool(*arguments), 2)
        self.assertIn('raise KeyError("no weights', self.err.getvalue())


if __name__ == "__main__":
    unittest.main()
