"""Inputs and outputs of exported programs: constants, None, nesting, mutations, names."""

import collections
import dataclasses
from typing import NamedTuple

import torch
import torch.utils._pytree as pytree
from torch import nn
from torch.export import Dim

from archive_case import Case, case, decomposed


class Fn(nn.Module):
    """A module whose forward is the given function."""

    def __init__(self, function, **members):
        super().__init__()
        self.function = function
        for name, member in members.items():
            setattr(self, name, member)

    def forward(self, *args, **kwargs):
        return self.function(self, *args, **kwargs)


class Constants(nn.Module):
    def forward(self, x, n: int, scale: float, flag: bool, mode: str, extra=None):
        y = x * scale + n
        if flag:
            y = y.relu()
        if mode == "sum":
            y = y.sum(-1)
        return y


@case("sig_constant_inputs")
def _():
    return Case(Constants(), (torch.randn(3, 4), 2, 0.5, True, "sum", None), wrong="value")


@case("sig_constant_inputs_kwargs")
def _():
    return Case(
        Constants(),
        (torch.randn(3, 4), 2),
        {"scale": float("inf"), "flag": False, "mode": "mean", "extra": None},
    )


class NoneOutputs(nn.Module):
    def forward(self, x):
        return None, x + 1, None


@case("sig_none_outputs")
def _():
    return Case(NoneOutputs(), (torch.randn(2, 2),))


class ScalarOutputs(nn.Module):
    def forward(self, x):
        return 3, 2.5, True, "text", x * 2, None


@case("sig_scalar_outputs")
def _():
    return Case(
        ScalarOutputs(),
        (torch.randn(2, 2),),
        either="",
        note="Python cannot load a text as an output",
    )


class InputReturned(nn.Module):
    def forward(self, x, y):
        return x, x + y


@case("sig_input_returned")
def _():
    return Case(InputReturned(), (torch.randn(2, 2), torch.randn(2, 2)))


class OnlyInputReturned(nn.Module):
    def forward(self, x):
        return x


@case("sig_only_input_returned")
def _():
    return Case(OnlyInputReturned(), (torch.randn(2, 2),), wrong="value")


class ParameterReturned(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(3))
        self.register_buffer("b", torch.arange(3.0))

    def forward(self, x):
        return self.w, self.b, x + self.w


@case("sig_parameter_returned")
def _():
    return Case(ParameterReturned(), (torch.randn(3),))


class SameTwice(nn.Module):
    def forward(self, x):
        y = x.sin()
        return y, [y, y + 1], {"again": y}


@case("sig_same_tensor_twice")
def _():
    return Case(SameTwice(), (torch.randn(3),), wrong="nan")


class Point(NamedTuple):
    a: torch.Tensor
    b: torch.Tensor


pytree._register_namedtuple(Point, serialized_type_name="torch_ir.collection.Point")


@dataclasses.dataclass
class Pair:
    left: torch.Tensor
    right: torch.Tensor | None = None


torch.export.register_dataclass(Pair, serialized_type_name="torch_ir.collection.Pair")


class Nested(nn.Module):
    def forward(self, tree, *, bias):
        first, (second, deep) = tree["list"], tree["tuple"]
        total = first[0] + first[1] * second + deep["x"] - tree["point"].a + bias
        return {
            "sum": total,
            "point": Point(total.exp(), tree["point"].b),
            "list": [total, (total * 2, {"k": total * 3})],
            "ordered": collections.OrderedDict([("z", total - 1), ("a", total - 2)]),
        }


@case("sig_nested")
def _():
    def t():
        return torch.randn(2, 3)

    tree = {"list": [t(), t()], "tuple": (t(), {"x": t()}), "point": Point(t(), t())}
    return Case(Nested(), (tree,), {"bias": t()}, wrong="value")


class Dataclasses(nn.Module):
    def forward(self, pair):
        return Pair(pair.left + 1, pair.left * 2)


@case("sig_dataclass")
def _():
    return Case(Dataclasses(), (Pair(torch.randn(2), None),))


class KeywordOnly(nn.Module):
    def forward(self, x, *rest, scale, shift=None, **more):
        for item in rest:
            x = x + item
        x = x * scale
        for key in sorted(more):
            x = x - more[key]
        return x


@case("sig_var_args_kwargs")
def _():
    return Case(
        KeywordOnly(),
        (torch.randn(2), torch.randn(2), torch.randn(2)),
        {"scale": torch.randn(2), "zeta": torch.randn(2), "alpha": torch.randn(2)},
    )


class UnusedInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.used = nn.Linear(3, 3)
        self.unused = nn.Linear(3, 3)

    def forward(self, x, unused, also_unused):
        return self.used(x)


@case("sig_unused_inputs_and_weights")
def _():
    return Case(UnusedInputs(), (torch.randn(2, 3), torch.randn(7), torch.randn(1, 1)))


class NoInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(2, 2))

    def forward(self):
        return self.w @ self.w


@case("sig_no_inputs")
def _():
    return Case(NoInputs(), ())


class NoOutputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(2))

    def forward(self, x):
        self.seen.add_(x)


@case("sig_no_outputs_raw")
def _():
    return Case(NoOutputs(), (torch.ones(2),))


@case("sig_no_outputs_decomposed")
def _():
    return Case(NoOutputs(), (torch.ones(2),), change=decomposed)


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x):
        self.count += 1
        self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
        return x - self.mean, self.count * 2


@case("mut_buffer_raw")
def _():
    return Case(Counter(), (torch.randn(4, 3),), wrong="value")


@case("mut_buffer_decomposed")
def _():
    return Case(Counter(), (torch.randn(4, 3),), change=decomposed)


class MutateReturned(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.arange(4.0))

    def forward(self, x):
        old = self.state.clone()
        self.state.copy_(x)
        return old, self.state


@case("mut_buffer_returned_raw")
def _():
    return Case(MutateReturned(), (torch.randn(4),))


@case("mut_buffer_returned_decomposed")
def _():
    return Case(MutateReturned(), (torch.randn(4),), change=decomposed)


class MutateInput(nn.Module):
    def forward(self, x, y):
        x.add_(y)
        x[0].mul_(2)
        return x.sum(), y * x


@case("mut_input_raw")
def _():
    return Case(MutateInput(), (torch.randn(3, 2), torch.randn(3, 2)))


@case("mut_input_decomposed")
def _():
    return Case(MutateInput(), (torch.randn(3, 2), torch.randn(3, 2)), change=decomposed)


class MutateInputReturned(nn.Module):
    def forward(self, x):
        x.relu_()
        return x


@case("mut_input_returned_raw")
def _():
    return Case(MutateInputReturned(), (torch.randn(3, 2),))


@case("mut_input_returned_decomposed")
def _():
    return Case(MutateInputReturned(), (torch.randn(3, 2),), change=decomposed)


class KvCache(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("k", torch.zeros(1, 8, 4))
        self.proj = nn.Linear(4, 4)

    def forward(self, x, position):
        self.k.index_copy_(1, position, self.proj(x))
        return (x @ self.k.transpose(1, 2)).softmax(-1) @ self.k


@case("mut_kv_cache_raw")
def _():
    return Case(KvCache(), (torch.randn(1, 2, 4), torch.tensor([3, 4])))


@case("mut_kv_cache_decomposed")
def _():
    return Case(KvCache(), (torch.randn(1, 2, 4), torch.tensor([3, 4])), change=decomposed)


@case("mut_slice_assign_raw")
def _():
    return Case(Fn(lambda self, x: _slice_assign(x)), (torch.randn(2, 2),))


def _slice_assign(x):
    out = torch.zeros(4, 4)
    out[1:3, ::2] = x
    out[0, :] = 5
    view = out.view(-1)
    view[3] = 7
    return out, view[2:6]


@case("mut_slice_assign_decomposed")
def _():
    return Case(Fn(lambda self, x: _slice_assign(x)), (torch.randn(2, 2),), change=decomposed)


@case("mut_views_of_input_raw")
def _():
    def run(self, x):
        a = x.view(-1)
        b = x.t()
        a[0] = 9
        b.add_(1)
        return a + 0, b.contiguous()

    return Case(Fn(run), (torch.randn(2, 3),))


class BatchNormTrain(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm2d(3)
        self.inorm = nn.InstanceNorm2d(3, affine=True, track_running_stats=True)

    def forward(self, x):
        return self.inorm(self.bn(x))


@case("mut_batchnorm_training_raw")
def _():
    return Case(BatchNormTrain(), (torch.randn(2, 3, 4, 4),), train=True, atol=1e-4)


@case("mut_batchnorm_training_decomposed")
def _():
    return Case(
        BatchNormTrain(), (torch.randn(2, 3, 4, 4),), train=True, change=decomposed, atol=1e-4
    )


@case("mut_parameter_in_no_grad_raw")
def _():
    def run(self, x):
        with torch.no_grad():
            self.w.mul_(0.5)
        return x @ self.w

    return Case(Fn(run, w=nn.Parameter(torch.randn(3, 3))), (torch.randn(2, 3),))


@case("mut_parameter_decomposed")
def _():
    def run(self, x):
        with torch.no_grad():
            self.w.mul_(0.5)
        return x @ self.w

    return Case(
        Fn(run, w=nn.Parameter(torch.randn(3, 3))),
        (torch.randn(2, 3),),
        change=decomposed,
        no_grad=True,
    )


@case("sig_int_inputs_dynamic")
def _():
    def run(self, x, n):
        return x[:n] * n, n + 1

    return Case(
        Fn(run),
        (torch.arange(12.0).reshape(6, 2), 4),
        dynamic_shapes=((None, Dim.DYNAMIC),),
        more={"two": (torch.arange(12.0).reshape(6, 2), 2)},
        note="an int input that stays symbolic",
    )


@case("sig_scalar_tensor_inputs")
def _():
    def run(self, a, b, c):
        return a + b, torch.where(c, a, b)

    return Case(Fn(run), (torch.tensor(2.0), torch.tensor(3.0), torch.tensor(True)))


@case("sig_empty_tensor_inputs")
def _():
    def run(self, a, b):
        return torch.cat([a, b], 0), a.sum(), b.mean(-1)

    return Case(Fn(run), (torch.empty(0, 3), torch.randn(2, 3)))


@case("sig_input_dtypes")
def _():
    def run(self, *xs):
        return tuple(x.to(torch.float32) * 2 for x in xs) + tuple(x.clone() for x in xs)

    xs = tuple(
        torch.tensor([0, 1, 2]).to(dtype)
        for dtype in (
            torch.uint8,
            torch.int8,
            torch.int16,
            torch.int32,
            torch.int64,
            torch.float16,
            torch.bfloat16,
            torch.float32,
            torch.float64,
            torch.bool,
            torch.uint16,
            torch.uint32,
            torch.uint64,
            torch.float8_e4m3fn,
            torch.float8_e5m2,
        )
    )
    return Case(Fn(run), xs)


@case("sig_input_names")
def _():
    def run(self, end, graph, class_, input, x_1, x_1_1):
        add = end + graph
        return add * class_, input - x_1 + x_1_1

    return Case(Fn(run), tuple(torch.randn(2) for _ in range(6)))


@case("sig_input_strided")
def _():
    def run(self, x, y):
        return x.contiguous().view(-1), y.as_strided((2, 2), (1, 2)), x + y[:, :1]

    return Case(Fn(run), (torch.randn(3, 4).t(), torch.randn(4, 5)))


@case("sig_input_channels_last")
def _():
    return Case(
        nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()).to(memory_format=torch.channels_last),
        (torch.randn(1, 3, 6, 6).to(memory_format=torch.channels_last),),
    )


@case("sig_no_sample_inputs")
def _():
    return Case(nn.Linear(2, 2), (torch.randn(1, 2),), no_sample_inputs=True)


@case("sig_string_to_argument")
def _():
    return Case(Fn(lambda self, d: d["a"] - d["b"]), ({"b": torch.ones(2), "a": torch.zeros(2)},))
