"""Graphs that are decomposed to `prims.*`, which PyTorch defines in Python alone.

`prims_functions` calls the operators themselves. torch.export refuses calls of those that return a
view of an argument, but not decompositions to them: `prims_views_operators`.
"""

import torch
import torch._inductor.inductor_prims  # noqa: F401 - defines operators
from torch import nn

from archive_case import Case, case

CPU = torch.device("cpu")
ops = torch.ops.prims

UNARY = (
    "abs asin asinh atan bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 cbrt ceil "
    "cos cosh digamma erf erfc erfcx exp exp2 expm1 floor isfinite lgamma neg reciprocal round sign "
    "signbit sin sinh spherical_bessel_j0 tan tanh trunc"
).split()
UNARY_OF_FRACTIONS = "acos atanh erf_inv log log10 log1p log2 ndtri rsqrt sqrt".split()
BINARY = "add atan2 div eq fmax fmin fmod ge gt hypot le lt maximum minimum mul ne nextafter".split()
BINARY_OF_FRACTIONS = "igamma igammac pow remainder sub".split()
INTEGERS = (
    "add bitwise_and bitwise_or bitwise_xor div fmod gcd maximum mul remainder shift_left "
    "shift_right_arithmetic sub"
).split()


# Decompositions to operators that return a view.
VIEWS = {
    torch.ops.aten.alias.default: lambda a: ops.view_of(a),
    torch.ops.aten.unsqueeze.default: lambda a, dim: ops.broadcast_in_dim(
        a, [*a.shape[:dim], 1, *a.shape[dim:]], [i for i in range(a.dim() + 1) if i != dim]
    ),
    torch.ops.aten.expand.default: lambda a, shape: ops.broadcast_in_dim(
        a, shape, list(range(len(shape) - a.dim(), len(shape)))
    ),
    torch.ops.aten.unflatten.int: lambda a, dim, sizes: ops.split_dim(a, dim, sizes[0]),
    torch.ops.aten.view.default: lambda a, shape: (
        ops.split_dim(a, 0, shape[0])
        if len(shape) > a.dim()
        else ops.collapse_view(a, 0, a.dim() - len(shape))
    ),
    torch.ops.aten.squeeze.dims: lambda a, dims: ops.squeeze(a, dims),
    torch.ops.aten.permute.default: lambda a, dims: ops.transpose(a, dims),
    torch.ops.aten.view.dtype: lambda a, dtype: ops.view_of_dtype(a, dtype),
    torch.ops.aten._conj.default: lambda a: ops.conj(a),
    torch.ops.aten.view_as_real.default: lambda a: torch.stack([ops.real(a), ops.imag(a)], -1),
}


def with_views(program):
    return program.run_decompositions(dict(VIEWS))


class Operators(nn.Module):
    def elementwise(self, x, fraction, n, c):
        for name in UNARY:
            yield getattr(ops, name)(x)
        for name in UNARY_OF_FRACTIONS:
            yield getattr(ops, name)(fraction)
        for name in BINARY:
            yield getattr(ops, name)(x, fraction)
        for name in BINARY_OF_FRACTIONS:
            yield getattr(ops, name)(fraction, ops.abs(x))
        options = {"device": CPU, "requires_grad": False}
        one = ops.full_like(x, 1, dtype=x.dtype, **options)
        yield ops.zeta(ops.add(fraction, one), fraction)
        for name in INTEGERS:
            three = ops.full_like(n, 3, dtype=n.dtype, **options)
            yield getattr(ops, name)(n, three)
        yield ops.bitwise_not(n)
        yield ops.conj_physical(c)
        yield ops.abs(c)
        yield ops.acosh(ops.exp(ops.abs(x)))
        yield ops.where(ops.gt(x, fraction), x, fraction)
        yield ops.fill(x, 2.5)
        yield from ops.frexp(x)
        yield ops.fma(x, fraction, x)

    def conversions(self, x, n):
        for dtype in (torch.float64, torch.bfloat16, torch.int32, torch.bool, torch.float32):
            for value in (x, x.t(), x[:, ::2], x.t()[::2]):
                yield ops.convert_element_type(value, dtype)
        yield ops.convert_element_type(n, torch.float16)
        yield ops.device_put(x, CPU)
        yield ops.clone(x.t())
        yield ops.clone(x.t(), memory_format=torch.contiguous_format)
        yield ops.copy_strided(x, [1, x.shape[0]])

    def reductions(self, x, fraction, n):
        for value in (x, x.t()):
            for dims in ([0], [1], [0, 1]):
                for name in ("amax", "amin", "prod", "sum"):
                    yield getattr(ops, name)(value, dims)
                yield ops.var(value, dims, 0)
                yield ops.var(value, dims, 2.0)
        yield ops.prod(x, [])
        yield ops.sum(n, [1])
        yield from ops.prepare_softmax_online(x, 1)

    def shapes(self, x, n):
        yield ops.cat([x, x], 1)
        yield ops.rev(x, [1])
        for value in (x, x.t()):
            yield ops.collapse(value, 0, 1)
            yield ops.reshape(value, [2, x.numel() // 2])
        yield ops.as_strided_scatter(x, x[0, :2], [2], [3], 1)

    def creation(self, x):
        options = {"dtype": torch.float32, "device": CPU, "requires_grad": False}
        yield ops.iota(5, start=3, step=-2, dtype=torch.int64, device=CPU, requires_grad=False)
        yield ops.iota(3, start=1, step=2, dtype=torch.int32, device=CPU, requires_grad=False)
        yield ops.full([2, 3], 1.5, **options)
        yield ops.full_like(x.t(), 7, **(options | {"dtype": torch.int64}))
        yield ops.scalar_tensor(2.5, dtype=torch.float64, device=CPU)
        yield ops.fill(ops.empty([2, 3], **options), 1.0)
        yield ops.fill(ops.empty_strided([2, 3], [1, 2], **options), 2.0)
        yield ops.fill(ops.empty_permuted([2, 3], [1, 0], **options), 3.0)

    def transforms(self, x, c):
        yield ops.fft_r2c(x, dim=[0, 1], onesided=True)
        yield ops.fft_r2c(x, dim=[1], onesided=False)
        yield ops.fft_c2c(c, dim=[1], forward=True)
        yield ops.fft_c2c(c, dim=[0], forward=False)
        yield ops.fft_c2r(c, dim=[1], last_dim_size=6)
        yield from ops.svd(x, full_matrices=False)

    def forward(self, x, fraction, n, c):
        return [
            *self.elementwise(x, fraction, n, c),
            *self.conversions(x, n),
            *self.reductions(x, fraction, n),
            *self.shapes(x, n),
            *self.creation(x),
            *self.transforms(x, c),
        ]


class Views(nn.Module):
    def forward(self, x, c):
        aten = torch.ops.aten
        y = x * 2
        parts = (
            aten.alias(y),
            aten.unsqueeze(y, 1),
            aten.expand(aten.unsqueeze(y, 1), [4, 3, 6]),
            aten.view(y, [24]),
            aten.view(y, [2, 2, 6]),
            aten.squeeze(aten.unsqueeze(y, 0), [0]),
            aten.permute(y, [1, 0]),
            aten.view.dtype(y, torch.int32),
        )
        return (
            *[part + 1 for part in parts],
            *[part.permute(*reversed(range(part.dim()))) for part in parts],
            aten.view_as_real(aten._conj(c) * 2),
        )


def inputs():
    return (
        torch.randn(4, 6) * 2,
        torch.rand(4, 6) * 0.9 + 0.05,
        torch.randint(-20, 20, (4, 6)),
        torch.randn(4, 6, dtype=torch.complex64),
    )


@case("prims_functions")
def _():
    return Case(Operators(), inputs())


@case("prims_views_operators")
def _():
    c = torch.randn(4, 6, dtype=torch.complex64)
    return Case(Views(), (torch.randn(4, 6), c), change=with_views)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.layer = nn.LayerNorm(32)
        self.attention = nn.MultiheadAttention(32, 4, batch_first=True)
        self.out = nn.Linear(32, 5)

    def forward(self, x):
        x = nn.functional.gelu(self.norm(self.conv(x))).flatten(2)
        x = nn.functional.pad(x, (0, 16)).unflatten(2, (-1, 32)).flatten(1, 2)
        x = self.layer(x)
        x = x + self.attention(x, x, x)[0]
        return torch.softmax(self.out(x.mean(1)), -1), x.std(-1), x.flip(1)[:, ::2].cumsum(1)


def by_all(program):
    import torch._decomp
    import torch._refs  # noqa: F401 - adds decompositions

    return program.run_decompositions(dict(torch._decomp.decomposition_table))


@case("prims_network")
def _():
    return Case(Net(), (torch.randn(2, 3, 4, 4),), change=by_all)
