"""Weights, buffers and constants in every dtype and every kind of memory layout."""

import torch
from torch import nn

from archive_case import Case, case, decomposed
from cases_signature import Fn

DTYPES = (
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "bool",
    "complex32",
    "complex64",
    "complex128",
    "uint16",
    "uint32",
    "uint64",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e4m3fnuz",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
)


def values(dtype):
    return torch.tensor([0.0, 1.0, 2.0, 4.0]).to(getattr(torch, dtype))


class OneWeight(nn.Module):
    def __init__(self, tensor, parameter):
        super().__init__()
        if parameter:
            self.w = nn.Parameter(
                tensor, requires_grad=tensor.is_floating_point() and tensor.element_size() > 1
            )
        else:
            self.register_buffer("w", tensor)

    def forward(self, x):
        if self.w.is_complex():
            return self.w.clone(), torch.view_as_real(self.w.to(torch.complex64)) + x[:, None]
        return self.w.clone(), self.w.to(torch.float32) + x


def add_dtype(dtype):
    @case(f"weight_parameter_{dtype}")
    def _():
        return Case(OneWeight(values(dtype), True), (torch.randn(4),))

    @case(f"weight_buffer_{dtype}")
    def _():
        return Case(OneWeight(values(dtype), False), (torch.randn(4),))


for _dtype in DTYPES:
    add_dtype(_dtype)


@case("weight_all_dtypes_one_model")
def _():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            for dtype in DTYPES:
                self.register_buffer(f"b_{dtype}", values(dtype), persistent=dtype[0] != "u")

        def forward(self, x):
            for dtype in DTYPES:
                b = getattr(self, f"b_{dtype}")
                x = x + (b.to(torch.complex64).real if b.is_complex() else b.to(torch.float32))
            return x

    return Case(Model(), (torch.randn(4),), wrong="value")


@case("weight_tied")
def _():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(7, 4)
            self.head = nn.Linear(4, 7, bias=False)
            self.head.weight = self.embed.weight
            self.third = nn.Linear(4, 7, bias=False)
            self.third.weight = self.embed.weight

        def forward(self, x):
            h = self.embed(x)
            return self.head(h) + self.third(h)

    return Case(Model(), (torch.tensor([[1, 2, 6]]),))


@case("weight_views_of_one_storage")
def _():
    base = torch.randn(40)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Parameter(base[:12].view(3, 4))
            self.b = nn.Parameter(base[8:20].view(3, 4))
            self.c = nn.Parameter(base[20:32].view(4, 3).t())
            self.register_buffer("d", base[3:39:9])
            self.register_buffer("whole", base)

        def forward(self, x):
            return x @ self.a.t() + x @ self.b.t() + x @ self.c.t(), x * self.d, self.whole.sum()

    return Case(Model(), (torch.randn(2, 4),))


@case("weight_offset_without_whole")
def _():
    base = torch.randn(64)
    return Case(
        Fn(
            lambda self, x: x * self.a + self.b,
            a=nn.Parameter(base[16:20]),
            b=nn.Buffer(base[33:37]),
        ),
        (torch.randn(4),),
    )


@case("weight_expanded")
def _():
    return Case(
        Fn(
            lambda self, x: (x + self.e, self.s * 2, self.z.sum()),
            e=nn.Parameter(torch.randn(1, 4).expand(3, 4)),
            s=nn.Buffer(torch.tensor(2.5).expand(2, 2)),
            z=nn.Buffer(torch.randn(3, 1, 2).expand(3, 5, 2)),
        ),
        (torch.randn(3, 4),),
    )


@case("weight_strided")
def _():
    return Case(
        Fn(
            lambda self, x: (x @ self.t, x @ self.step, self.flip.clone()),
            t=nn.Parameter(torch.randn(5, 4).t()),
            step=nn.Parameter(torch.randn(8, 10)[::2, 1::3]),
            flip=nn.Buffer(torch.randn(3, 4, 5).permute(2, 0, 1)),
        ),
        (torch.randn(2, 4),),
    )


@case("weight_channels_last")
def _():
    return Case(
        nn.Sequential(nn.Conv2d(3, 4, 3), nn.Conv2d(4, 2, 3)).to(memory_format=torch.channels_last),
        (torch.randn(1, 3, 8, 8),),
        atol=1e-4,
    )


@case("weight_channels_last_3d")
def _():
    return Case(
        nn.Conv3d(2, 3, 2).to(memory_format=torch.channels_last_3d), (torch.randn(1, 2, 4, 4, 4),)
    )


@case("weight_scalar_and_empty")
def _():
    return Case(
        Fn(
            lambda self, x: (
                x * self.s + self.b,
                torch.cat([x, self.e]),
                self.m.sum(),
                self.n.clone(),
            ),
            s=nn.Parameter(torch.tensor(2.0)),
            b=nn.Buffer(torch.tensor(3, dtype=torch.int64)),
            e=nn.Parameter(torch.empty(0)),
            m=nn.Buffer(torch.empty(3, 0, 2)),
            n=nn.Buffer(torch.empty(0, dtype=torch.bool)),
        ),
        (torch.randn(3),),
    )


@case("weight_nonpersistent_buffers")
def _():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("a", torch.randn(3), persistent=False)
            self.register_buffer("b", torch.arange(3), persistent=False)
            self.register_buffer("c", torch.randn(3))
            self.register_buffer("none", None)

        def forward(self, x):
            return x + self.a * self.b - self.c

    return Case(Model(), (torch.randn(3),), wrong="value")


@case("constant_lifted")
def _():
    def run(self, x):
        return (
            x + torch.tensor([1.0, 2.0, 3.0]),
            x * torch.tensor(2),
            torch.tensor([[True, False]]) & (x[:1] > 0),
            x + torch.tensor([1, 2, 3], dtype=torch.bfloat16),
            torch.tensor([], dtype=torch.int32),
            torch.tensor(7.0, dtype=torch.float64),
            self.constant * 2,
        )

    model = Fn(run)
    model.constant = torch.arange(4.0)
    return Case(model, (torch.randn(3),))


@case("constant_attribute_shared")
def _():
    table = torch.randn(5, 4)
    model = Fn(lambda self, i: self.table[i] + self.row)
    model.table = table
    model.row = table[2]
    return Case(model, (torch.tensor([0, 4]),))


@case("constant_decomposed")
def _():
    def run(self, x):
        return x + torch.tensor([1.0, 2.0, 3.0]), x[torch.tensor([2, 0])]

    return Case(Fn(run), (torch.randn(3),), change=decomposed)


@case("weight_names_odd")
def _():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.add_module("0", nn.Linear(2, 2))
            self.add_module("é x/y", nn.Linear(2, 2))
            self.register_parameter("w 'q'", nn.Parameter(torch.randn(2)))
            self.register_parameter("end", nn.Parameter(torch.randn(2)))
            self.a = nn.ModuleDict({"b_c": nn.Linear(2, 2)})
            self.a_b = nn.ModuleDict({"c": nn.Linear(2, 2)})

        def forward(self, x):
            x = getattr(self, "0")(x)
            x = getattr(self, "é x/y")(x)
            return self.a["b_c"](x) + self.a_b["c"](x) + getattr(self, "w 'q'") * self.end

    return Case(Model(), (torch.randn(1, 2),))


@case("weight_same_storage_two_dtypes")
def _():
    base = torch.randn(4)
    return Case(
        Fn(
            lambda self, x: (x + self.f, self.i.clone()),
            f=nn.Buffer(base),
            i=nn.Buffer(base.view(torch.int32)),
        ),
        (torch.randn(4),),
        note="two names of different dtypes over one record",
    )


@case("weight_nan_inf")
def _():
    return Case(
        Fn(
            lambda self, x: (x + self.w, self.w.isnan()),
            w=nn.Parameter(torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0])),
        ),
        (torch.randn(4),),
    )


@case("weight_requires_grad_false")
def _():
    model = nn.Linear(3, 3)
    model.weight.requires_grad_(False)
    return Case(model, (torch.randn(1, 3),))


@case("weight_half_model")
def _():
    return Case(
        nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8)).half(),
        (torch.randn(2, 8).half(),),
        rtol=1e-2,
        atol=1e-2,
    )


@case("weight_bfloat16_model")
def _():
    return Case(
        nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8)).bfloat16(),
        (torch.randn(2, 8).bfloat16(),),
        rtol=2e-2,
        atol=2e-2,
    )


@case("weight_double_model")
def _():
    return Case(
        nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8)).double(),
        (torch.randn(2, 8).double(),),
        wrong="dtype",
    )


@case("weight_complex_model")
def _():
    return Case(nn.Linear(3, 3, dtype=torch.complex64), (torch.randn(2, 3, dtype=torch.complex64),))


@case("weight_conj_view")
def _():
    return Case(
        Fn(
            lambda self, x: (x + self.w, self.w.real),
            w=nn.Buffer(torch.randn(3, dtype=torch.complex64).conj().resolve_conj()),
        ),
        (torch.randn(3, dtype=torch.complex64),),
    )
