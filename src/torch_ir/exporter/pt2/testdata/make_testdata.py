"""Writes the .pt2 archives of this folder, with PyTorch's outputs for their example inputs.

python make_testdata.py, with torch 2.13.0. NAME.pt2 is what torch.export.save writes, without what differs from
machine to machine (stack traces, ids); NAME.expected.pt holds the outputs that are tensors, by name.
"""

import dataclasses
import io
import json
import math
import pathlib
import zipfile
from typing import NamedTuple
from unittest import mock

import torch
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.hints_wrap import hints_wrapper
from torch._higher_order_ops.map import map as higher_order_map
from torch._higher_order_ops.out_dtype import out_dtype
from torch._higher_order_ops.scan import scan
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import Dim, export
from torch.export.pt2_archive._package import package_pt2

HERE = pathlib.Path(__file__).resolve().parent


def without_traces(value):
    """`value`, parsed JSON, without the metadata that tells where the exporting code was."""
    if isinstance(value, dict):
        kept = ("nn_module_stack",)
        return {
            key: {k: v for k, v in item.items() if k in kept} if key == "metadata" else without_traces(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [without_traces(item) for item in value]
    return value


def entries_of(program):
    """The entries of an archive of `program`, or of several by name, without the root folder."""
    buffer = io.BytesIO()
    if isinstance(program, dict):
        package_pt2(buffer, exported_programs=program)
    else:
        torch.export.save(program, buffer)
    entries = {}
    with zipfile.ZipFile(buffer) as archive:
        for name in archive.namelist():
            rest = name.split("/", 1)[1]
            content = archive.read(name)
            if rest.startswith("models/"):
                content = json.dumps(without_traces(json.loads(content)), separators=(",", ":")).encode()
            if not rest.startswith(".data/"):
                entries[rest] = content
    return entries


def write_zip(name, entries):
    with zipfile.ZipFile(HERE / name, "w") as archive:
        for entry, content in entries.items():
            archive.writestr(zipfile.ZipInfo(entry), content)


def pickled(value):
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


def write_expected(name, program):
    args, kwargs = program.example_inputs
    with torch.no_grad():
        results = program.module()(*args, **kwargs)
    leaves = torch.utils._pytree.tree_leaves(results)
    specs = [s for s in program.graph_signature.output_specs if s.kind.name == "USER_OUTPUT"]
    expected = {
        spec.arg.name: (leaf if isinstance(leaf, torch.Tensor) else torch.tensor(leaf)).detach().clone()
        for spec, leaf in zip(specs, leaves, strict=True)
        if hasattr(spec.arg, "name") and spec.arg.name
    }
    torch.save(expected, HERE / f"{name}.expected.pt")


def write(name, program):
    write_zip(f"{name}.pt2", {f"{name}/{entry}": content for entry, content in entries_of(program).items()})
    write_expected(name, program)


def write_old_layouts(program):
    """The same model as PyTorch up to 2.7 and PyTorch 2.8 laid it out."""
    entries = entries_of(program)
    state_dict = pickled(dict(program.state_dict))
    constants = pickled(dict(program.constants))
    oldest = {
        "serialized_exported_program.json": entries["models/model.json"],
        "serialized_state_dict.pt": state_dict,
        "serialized_constants.pt": constants,
        "serialized_example_inputs.pt": entries["data/sample_inputs/model.pt"],
        "version": b"8.7",
    }
    write_zip("layout_2_7.pt2", oldest)
    middle = {
        "archive_format": b"pt2",
        "archive_version": b"0",
        "models/model.json": entries["models/model.json"],
        "data/weights/model.pt": state_dict,
        "data/constants/model.pt": constants,
        "data/sample_inputs/model.pt": entries["data/sample_inputs/model.pt"],
    }
    write_zip("layout_2_8.pt2", {f"layout/{entry}": content for entry, content in middle.items()})


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)
        self.register_buffer("scale", torch.tensor(2.0))
        self.register_buffer("shift", torch.tensor([0.5, -0.5]), persistent=False)

    def forward(self, x):
        return self.linear(x) * self.scale + self.shift + torch.tensor([1.0, 2.0])


class Weights(torch.nn.Module):
    """Weights that share memory, are views, or are of every dtype and odd shapes."""

    DTYPES = (
        "uint8 int8 int16 int32 int64 float16 float32 float64 complex32 complex64 complex128 bool bfloat16 uint16 "
        "float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu uint32 uint64"
    ).split()

    def __init__(self):
        super().__init__()
        base = torch.arange(12.0).reshape(3, 4)
        self.whole = torch.nn.Parameter(base)
        self.tied = self.whole
        self.register_buffer("transposed", base.t())
        self.register_buffer("row", base[1])
        self.register_buffer("column", base[:, 2])
        self.register_buffer("expanded", torch.tensor([3.0]).expand(4))
        self.register_buffer("scalar", torch.tensor(4.0))
        self.register_buffer("empty", torch.empty(2, 0))
        self.register_buffer("unused", torch.tensor([1, 2]))
        for name in self.DTYPES:
            values = torch.tensor([1.0, 0.0, 2.0]).to(getattr(torch, name))
            self.register_buffer("a_" + name, values)

    def forward(self, x):
        return (
            self.whole @ x + self.tied.sum(),
            self.transposed @ torch.ones(3) + self.row + self.expanded * self.scalar,
            self.column,
            self.empty,
        )


class Wrappers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        with torch.no_grad():
            mul = self.linear(x) * 2
            with torch.enable_grad():
                mul = mul + x
        with torch.autocast("cpu", dtype=torch.bfloat16):
            low = self.linear(mul)
            with torch.autocast("cpu", enabled=False):
                high = self.linear(mul)
            joined = torch.cat([low, high])
            product = torch.matmul(joined, mul.t())
        return mul, low, high, product


class Recurrent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(3, 4)

    def forward(self, x):
        with torch.autocast("cpu", enabled=False):
            return self.lstm(x)[0]


class ControlFlow(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x, count):
        size = x.shape[0]
        first = torch.cond(x.sum() > 0, lambda x: self.linear(x) + size, lambda x: x - size, (x,))
        second = torch.cond(size > 4, lambda x: x.sin(), lambda x: x.cos(), (x,))
        looped = torch._higher_order_ops.while_loop(
            lambda i, x: i < 5, lambda i, x: (i + 1, self.linear(x)), (count, x)
        )
        return first, second, looped


class Dynamic(torch.nn.Module):
    def forward(self, x, n: int, flag: bool, text: str, nothing=None):
        size = x.shape[0]
        number = x[0, 0].item()
        count = n * 2 + size
        return (
            x.reshape(-1) * number,
            torch.full((count,), size / 2),
            size // 2,
            torch.sym_max(size, n),
            number * 2.5,
            3,
            None,
            2.5,
            True,
        )


class Mutations(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(2))

    def forward(self, x):
        self.count.add_(1)
        x.mul_(2)
        return x + self.count, self.count


class SharedBuffers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(4))
        self.register_buffer("same", self.count[:])

    def forward(self, x):
        self.count.view(2, 2).add_(1)
        return x + self.same


class Strides(torch.nn.Module):
    """Calls that depend on how weights lie in memory."""

    def __init__(self):
        super().__init__()
        base = torch.randn(6, 4)
        self.turned = torch.nn.Parameter(base.t().clone(memory_format=torch.preserve_format))
        self.images = torch.nn.Parameter(torch.randn(8, 4, 3, 3).to(memory_format=torch.channels_last))
        # Contiguous in both formats.
        self.depthwise = torch.nn.Parameter(torch.randn(4, 1, 3, 3).as_strided((4, 1, 3, 3), (9, 1, 3, 1)))
        self.register_buffer("buffer", torch.arange(12.0).view(3, 4).t())
        self.register_buffer("repeated", torch.tensor([[1.0], [2.0]]).expand(2, 3))
        self.register_buffer("windows", torch.arange(6.0).as_strided((4, 3), (1, 1)))
        self.constant = torch.arange(6).view(2, 3).t()

    def forward(self, x, image):
        images = torch.conv2d(image, self.images)
        depthwise = torch.conv2d(image, self.depthwise, groups=4)
        return (
            torch.as_strided(self.buffer, (2, 6), (6, 1)),
            torch.as_strided(self.turned.view(2, 2, 6), (24,), (1,)),
            torch.as_strided(self.repeated, (2, 2), (0, 1)),
            torch.as_strided(self.windows, (6,), (1,)),
            torch.as_strided(self.constant, (6,), (1,)),
            torch.as_strided(images, (images.numel(),), (1,)),
            torch.as_strided(depthwise, (depthwise.numel(),), (1,)),
            x @ self.turned,
        )


class Part(torch.nn.Module):
    """Reads memory around a buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("part", torch.arange(12.0).view(3, 4)[:, 1:])

    def forward(self, x):
        return x + torch.as_strided(self.part.t(), (4,), (1,), 0)


class Effects(torch.nn.Module):
    def forward(self, x):
        torch.ops.aten._print("")
        torch.ops.aten._assert_async.msg(x.sum() < 1e9, "too large")
        return x.sin()


class Signature(torch.nn.Module):
    def forward(self, tree, *rest, scale, bias=None):
        first, (second, third) = tree["first"], tree["pair"]
        return {"sum": first + second, "rest": [rest[0] * scale, (third, third)], "none": None, "input": first}


class Lists(torch.nn.Module):
    def forward(self, x, index):
        a, b, c = x.split(1, dim=1)
        values, _ = x.max(dim=1)
        return x[:, index], x[index], torch.cat([a, c]), values, torch.clamp(x, max=float("inf")), x * (1 + 2j)


# What export decides here leaves no trace in shapes and ranges.
class Guards(torch.nn.Module):
    def forward(self, x, pair, n):
        rows = x.shape[0]
        if rows % 4 == 0 and rows > pair["a b"][0].shape[0] and n % 3 != 1 and math.ceil(rows * 0.3) != 4:
            return x.sum(0) * 2
        return x.mean(0)


def write_guards():
    """Prints which sizes Python's module takes; pt2_test.cc has them too."""
    shapes = ({0: Dim.DYNAMIC}, {"a b": [{0: Dim.DYNAMIC}]}, Dim.DYNAMIC)
    program = export(Guards(), (torch.ones(8, 3), {"a b": [torch.ones(6)]}, 3), dynamic_shapes=shapes)
    write_zip("guards.pt2", {f"guards/{entry}": content for entry, content in entries_of(program).items()})
    for rows, others, n in ((8, 6, 3), (9, 6, 3), (8, 8, 3), (8, 6, 4), (12, 6, 3), (16, 15, 5)):
        try:
            program.module()(torch.ones(rows, 3), {"a b": [torch.ones(others)]}, n)
            print(rows, others, n, "taken")
        except AssertionError as error:
            print(rows, others, n, error)


class Loops(torch.nn.Module):
    """Loops over slices: a scan in reverse with two carried values, and a map."""

    def __init__(self):
        super().__init__()
        self.mix = torch.nn.Linear(6, 3)

    def forward(self, xs, h):
        def step(carried, slices):
            new = torch.tanh(self.mix(torch.cat([carried[0], slices["x"]], dim=-1)))
            return (new, carried[1] + 1), (new * 2, slices["y"].sum())

        start = (h, torch.zeros(()))
        carried, results = scan(step, start, {"x": xs, "y": xs * 2}, dim=1, reverse=True)
        return carried, results, higher_order_map(lambda x, y: (self.mix(torch.cat([x, x + y], -1)), x.sum(0)), xs, h[0])


@torch.compiler.nested_compile_region
def region(x, y):
    return torch.relu(x) + y, x * 2


class Inlined(torch.nn.Module):
    """Wrappers that say how to compile: an invoke_subgraph twice, and a hints_wrapper."""

    def __init__(self):
        super().__init__()
        self.parts = torch.nn.ModuleDict({"semi;colon, comma": torch.nn.Sequential(torch.nn.Linear(3, 3))})

    def forward(self, x, y):
        def hinted(x):
            return torch.relu(x) + y

        x, y = region(*region(x, y))
        (part,) = self.parts.values()
        return hints_wrapper(hinted, (part(part(x)),), {}, hints={"level": 3})


def define_operators(library):
    def add(x, y):
        x.add_(y)

    library.define("add_(Tensor(a!) x, Tensor y) -> ()")
    library.impl("add_", add, "CompositeExplicitAutograd")


class Kept(torch.nn.Module):
    """Higher-order operators that do not run: auto_functionalized_v2, out_dtype, and vmap's functions."""

    def forward(self, x, y):
        x = x.clone()
        torch.ops.make_testdata.add_(x[0], y)
        return x + y, out_dtype(torch.ops.aten.mm.default, torch.int32, x.to(torch.int8), x.to(torch.int8))


class Vmap(torch.nn.Module):
    def forward(self, x):
        return torch.vmap(lambda row: row * 2)(x)


class NoValues(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)

    def forward(self, x):
        return self.linear(x)


def without_values():
    with FakeTensorMode():
        model, x = NoValues().eval(), torch.randn(4, 3)
    return export(model, (x,))


class Autocast(torch.nn.Module):
    """Operators of each kind that autocast on CUDA knows."""

    def __init__(self):
        super().__init__()
        self.linear, self.norm = torch.nn.Linear(3, 3), torch.nn.LayerNorm(3)

    def forward(self, x):
        with torch.autocast("cuda"):
            y = self.linear(x)
            return y, y.softmax(-1), self.norm(y), torch.cat([y, x]), y.pow(2), y.sum(), y @ y, y.relu()


class AssociativeScan(torch.nn.Module):
    def forward(self, x):
        return associative_scan(lambda a, b: a + b, x, dim=0)


class Layer:
    def __init__(self, keys, values):
        self.keys, self.values, self.device = keys, values, keys.device


class Cache(list):
    """Of layers, as a class of its own; torch.export gets all keys, then all values."""

    def __init__(self, layers):
        super().__init__(layers)
        self.last = layers[-1].keys


class Pair(NamedTuple):
    left: torch.Tensor
    right: torch.Tensor


@dataclasses.dataclass
class Scaled:
    by: torch.Tensor
    rounds: int


class Objects(torch.nn.Module):
    def forward(self, x, cache, pair, *, scaled):
        weighted = [layer.keys * (i + 1) - layer.values * (i + 3) for i, layer in enumerate(cache)]
        return x + weighted[0] + weighted[1], (pair.left - 2 * pair.right) * scaled.by


def objects():
    """A model whose inputs are a cache, a named tuple and a data class."""

    def flatten(cache):
        return [[layer.keys for layer in cache], [layer.values for layer in cache]], None

    def flatten_with_keys(cache):
        names = map(torch.utils._pytree.MappingKey, ("keys", "values"))
        return list(zip(names, flatten(cache)[0])), None

    torch.utils._pytree.register_pytree_node(
        Cache,
        flatten,
        lambda parts, _: Cache([Layer(keys, values) for keys, values in zip(*parts)]),
        serialized_type_name="Cache",
        flatten_with_keys_fn=flatten_with_keys,
    )
    torch.export.register_dataclass(Scaled, serialized_type_name="Scaled")
    torch.utils._pytree._register_namedtuple(Pair, serialized_type_name="Pair")
    cache = Cache([Layer(torch.randn(2), torch.randn(2)) for _ in range(2)])
    pair = Pair(torch.randn(3), torch.randn(3))
    return export(Objects(), (torch.randn(2), cache, pair), {"scaled": Scaled(torch.randn(3), 2)})


def on_gpu(model, *shape):
    """Exports as on a GPU, which need not be there."""
    with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad(), mock.patch("torch.cuda.amp.common.amp_definitely_not_available", lambda: False):
        for module in model.modules():
            for name, parameter in list(module.named_parameters(recurse=False)):
                fake = torch.empty(parameter.shape, device="cuda")
                setattr(module, name, torch.nn.Parameter(fake, requires_grad=False))
        return export(model.eval(), (torch.empty(*shape, device="cuda"),))


def programs():
    torch.manual_seed(1)
    return {name: export(NoValues().eval(), (torch.ones(rows, 3),)) for name, rows in (("prefill", 4), ("decode", 1))}


def main():
    write_guards()
    torch.manual_seed(0)
    x = torch.randn(4, 4)
    small = export(Small(), (torch.randn(2, 3),))
    write("small", small)
    write_old_layouts(small)
    write("weights", export(Weights(), (torch.randn(4),)))
    write("wrappers", export(Wrappers(), (x,)))
    write("recurrent", export(Recurrent(), (torch.randn(2, 1, 3),)))
    batch = Dim("batch", min=3, max=64)
    write(
        "control_flow",
        export(ControlFlow(), (torch.randn(6, 3), torch.tensor(0)), dynamic_shapes=({0: batch}, None)),
    )
    write(
        "dynamic",
        export(
            Dynamic(),
            (torch.rand(6, 3), 3, True, "text"),
            dynamic_shapes=({0: batch}, Dim.DYNAMIC, None, None),
        ),
    )
    write("mutations", export(Mutations(), (torch.randn(2),)).run_decompositions({}))
    shared = entries_of(export(SharedBuffers(), (torch.ones(4),)))
    write_zip("shared_buffers.pt2", {f"shared_buffers/{entry}": content for entry, content in shared.items()})
    write("strides", export(Strides(), (torch.randn(3, 4), torch.randn(2, 4, 6, 6))))
    write("part", export(Part(), (torch.ones(4),)))
    write("effects", export(Effects(), (x,)).run_decompositions({}))
    tree = {"first": torch.randn(2), "pair": (torch.randn(2), torch.randn(3))}
    write("signature", export(Signature(), (tree, torch.randn(2)), {"scale": torch.tensor(3.0)}))
    write("objects", objects())
    write("lists", export(Lists(), (torch.randn(3, 3), torch.tensor([0, 2]))))
    write("loops", export(Loops(), (torch.randn(3, 5, 3), torch.randn(3, 3))))
    write("inlined", export(Inlined(), (torch.randn(2, 3), torch.randn(2, 3)), strict=True))
    library = torch.library.Library("make_testdata", "DEF")
    define_operators(library)
    kept = export(Kept(), (torch.ones(3, 3), torch.ones(3))).run_decompositions({})
    for name, program in (("kept", kept), ("vmap", export(Vmap(), (torch.ones(2, 3),))), ("no_values", without_values()), ("programs", programs()), ("autocast_cuda", on_gpu(Autocast(), 3, 3)), ("associative_scan", on_gpu(AssociativeScan(), 4, 3))):
        write_zip(f"{name}.pt2", {f"{name}/{entry}": content for entry, content in entries_of(program).items()})


if __name__ == "__main__":
    main()
