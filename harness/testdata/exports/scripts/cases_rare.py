"""Argument kinds, symbolic operations and archive shapes that everyday models seldom have."""

import math

import torch
from torch import nn
from torch.export import Dim

from archive_case import Case, case
from cases_signature import Fn


@case("rare_bool_lists_and_none_outputs")
def _():
    def run(self, g, x, w):
        a = torch.ops.aten.convolution_backward(
            g, x, w, [3], [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [True, False, True]
        )
        n = torch.ops.aten.native_layer_norm(x, [5], None, None, 1e-5)
        b = torch.ops.aten.native_layer_norm_backward(
            x, x, [5], n[1], n[2], None, None, [True, False, False]
        )
        return a[0], a[2], n[0], b[0]

    return Case(
        Fn(run),
        (torch.randn(1, 3, 5, 5), torch.randn(1, 2, 5, 5), torch.randn(3, 2, 3, 3)),
        atol=1e-4,
    )


@case("rare_optional_tensor_lists")
def _():
    def run(self, x, i, v):
        y = torch.ops.aten.index_put(x, [None, i], v, True)
        z = torch.ops.aten.index(x, [None, i])
        return y, z, torch.ops.aten._unsafe_index(x, [i, None])

    return Case(Fn(run), (torch.randn(3, 4), torch.tensor([0, 2, 0]), torch.randn(3, 3)))


@case("rare_item_bool")
def _():
    def run(self, b, x):
        return x * b.item()

    return Case(Fn(run), (torch.tensor(True), torch.randn(3)))


@case("rare_sym_numel_stride")
def _():
    def run(self, x):
        return x * x.numel(), x * x.stride(0), x.new_ones(x.numel()), x.numel()

    return Case(
        Fn(run),
        (torch.randn(4, 5),),
        dynamic_shapes=(({0: Dim("n", min=2, max=40), 1: Dim("m", min=2, max=40)},),),
        more={"other": (torch.randn(7, 3),)},
    )


@case("rare_sym_operations")
def _():
    def run(self, x):
        n, m = x.shape
        return (
            x.new_ones(n % m + 1),
            x * (n - m),
            x * -n,
            x * (n / m),
            x * float(n),
            x.new_ones(int(math.ceil(n / 3))),
            x.new_ones(int(math.floor(m / 2))),
            x.new_ones(n**2),
            x * (n // -3),
            x * math.sqrt(m),
            x * (1 / n),
            x * (n * m - m),
            x * (n % 7),
        )

    return Case(
        Fn(run),
        (torch.randn(6, 5),),
        dynamic_shapes=(({0: Dim.AUTO, 1: Dim.AUTO},),),
        more={"same": (torch.randn(6, 5) + 1,)},
    )


@case("rare_unbacked_operations")
def _():
    def run(self, t, x):
        n = t.item()
        torch._check(n >= 3)
        torch._check(n <= 50)
        return (
            torch.ones(n // 2 + 1),
            torch.ones(n % 4 + 1),
            torch.ones(torch.sym_max(n, 5)),
            torch.ones(torch.sym_min(n, 9)),
            x * n,
            torch.ones(n * n),
            torch.ones(n - 2),
            x * (n / 4),
            x * torch.sym_float(n),
            torch.arange(n, 2 * n),
            torch.ones(2, n).view(n, 2),
            x * torch.sym_ite(n > 5, 2, 3),
            -n,
            n * 0.5,
        )

    return Case(
        Fn(run),
        (torch.tensor(7), torch.randn(2)),
        more={"other": (torch.tensor(4), torch.randn(2))},
    )


@case("rare_unbacked_comparisons")
def _():
    def run(self, t, u):
        a, b = t.item(), u.item()
        torch._check(a > 0)
        torch._check(b > 0)
        torch._check(a != b)
        torch._check(a + b < 100)
        torch._check(a * 2 >= b)
        torch._check((a - b) % 2 == 0)
        torch._check(torch.sym_not(a == 50))
        return torch.ones(a + b), torch.zeros(a) + b

    return Case(
        Fn(run),
        (torch.tensor(3), torch.tensor(5)),
        more={"other": (torch.tensor(9), torch.tensor(7))},
        forbidden={
            "equal": ((torch.tensor(3), torch.tensor(3)), ""),
            "odd": ((torch.tensor(3), torch.tensor(4)), ""),
            "zero": ((torch.tensor(0), torch.tensor(2)), ""),
        },
    )


@case("rare_split_by_dynamic_sizes")
def _():
    def run(self, x):
        n = x.shape[0]
        a, b = x.split([n // 2, n - n // 2])
        return (
            a,
            b,
            x[n // 2 :],
            x[:-1],
            x[1 : n - 1],
            x.narrow(0, 1, n - 1),
            x.flip(0)[: n // 3 + 1],
        )

    return Case(
        Fn(run),
        (torch.randn(7, 2),),
        dynamic_shapes=(({0: Dim.AUTO},),),
        more={"other": (torch.randn(12, 2),)},
    )


@case("rare_pad_and_unfold_dynamic")
def _():
    def run(self, x):
        n = x.shape[-1]
        return (
            nn.functional.pad(x, (0, (4 - n % 4) % 4)),
            x.unfold(-1, 2, 2),
            nn.functional.pad(x, (n, 0)),
        )

    return Case(
        Fn(run),
        (torch.randn(2, 7),),
        dynamic_shapes=(({1: Dim.AUTO},),),
        more={"other": (torch.randn(2, 11),)},
    )


@case("rare_symbols_from_several_inputs")
def _():
    def run(self, x, y, z):
        return torch.cat([x, y]).sum(0) + z.view(-1, x.shape[1]).sum(0), x.shape[0] + y.shape[
            0
        ] + z.shape[0]

    return Case(
        Fn(run),
        (torch.randn(2, 3), torch.randn(4, 3), torch.randn(12)),
        dynamic_shapes=(({0: Dim.AUTO, 1: Dim.AUTO}, {0: Dim.AUTO, 1: Dim.AUTO}, {0: Dim.AUTO}),),
        more={"other": (torch.randn(5, 3), torch.randn(3, 3), torch.randn(6))},
    )


@case("rare_dim_only_in_derived")
def _():
    n = Dim("n", min=2, max=16)
    return Case(
        Fn(lambda self, x, y: x.view(-1, 3, 2).sum(1) + y[: x.shape[0] // 3]),
        (torch.randn(12, 2), torch.randn(9, 2)),
        dynamic_shapes=(({0: 3 * n}, {0: 2 * n + 1}),),
        more={"other": (torch.randn(15, 2), torch.randn(11, 2))},
        forbidden={
            "mismatch": ((torch.randn(15, 2), torch.randn(13, 2)), ""),
            "not_multiple": ((torch.randn(13, 2), torch.randn(9, 2)), ""),
        },
    )


@case("rare_operator_keyword_order")
def _():
    def run(self, x, y):
        return torch.addmm(input=x, mat2=y, mat1=x, alpha=2, beta=3), torch.ops.aten.sub.Tensor(
            other=y, self=x
        )

    return Case(Fn(run), (torch.randn(3, 3), torch.randn(3, 3)))


@case("rare_out_variants_and_foreach")
def _():
    def run(self, x, y):
        a = torch._foreach_add([x, y], 1.0)
        b = torch._foreach_mul([x, y], [2.0, 3.0])
        c = torch.empty(3)
        torch.sin(x, out=c)
        torch._foreach_mul_(a, 2.0)
        return a, b, c

    return Case(Fn(run), (torch.randn(3), torch.randn(3)))


@case("rare_memory_formats")
def _():
    def run(self, x):
        y = x.contiguous(memory_format=torch.channels_last)
        return (
            y * 1,
            y.to(memory_format=torch.contiguous_format),
            torch.empty_like(y, memory_format=torch.preserve_format).fill_(2),
            y.clone(memory_format=torch.contiguous_format),
            y.stride(1) + x * 0,
        )

    return Case(Fn(run), (torch.randn(1, 3, 4, 5),))


@case("rare_string_arguments")
def _():
    def run(self, x):
        return (
            torch.div(x, 2, rounding_mode="trunc"),
            torch.einsum("ij,ji->i", x, x),
            nn.functional.pad(x[None], (1, 1), mode="circular"),
            x.scatter_reduce(0, x.long() * 0, x, "sum"),
        )

    return Case(Fn(run), (torch.randn(3, 3),))


@case("rare_complex_scalars")
def _():
    def run(self, x):
        return (
            x * 2j,
            torch.add(x, 1 + 1j, alpha=2),
            torch.full((2,), 1 - 2j),
            x.to(torch.complex64).pow(2 + 0j),
        )

    return Case(Fn(run), (torch.rand(3) + 1,))


@case("rare_nested_functions_of_state")
def _():
    """Two buffers over one storage, mutated through one of them."""
    base = torch.arange(6.0)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("whole", base)
            self.register_buffer("part", base[2:4])

        def forward(self, x):
            self.whole.add_(x)
            return self.part * 2, self.whole.sum()

    return Case(
        Model(),
        (torch.ones(6),),
        note="aliased buffers: what Python's loader makes of the alias decides",
    )


@case("rare_large_constants")
def _():
    return Case(
        Fn(lambda self, x: x + torch.arange(5000, dtype=torch.float32).sin()[:3]), (torch.randn(3),)
    )


@case("rare_int64_arithmetic")
def _():
    def run(self, x):
        return (
            x * (2**40),
            x + 2**62,
            x // -3,
            x % -3,
            x.bitwise_xor(5),
            x.bitwise_left_shift(2),
            x.to(torch.uint8) - 1,
            x.float().to(torch.int8),
        )

    return Case(Fn(run), (torch.tensor([1, -2, 3]),))


@case("rare_empty_graph_of_constants")
def _():
    return Case(Fn(lambda self, x: (torch.ones(2), x)), (torch.randn(2),))


@case("rare_long_names")
def _():
    class Deep(nn.Module):
        def __init__(self, depth):
            super().__init__()
            self.a_rather_long_name_of_a_submodule = Deep(depth - 1) if depth else nn.Linear(2, 2)

        def forward(self, x):
            return self.a_rather_long_name_of_a_submodule(x)

    return Case(Deep(40), (torch.randn(1, 2),))


@case("rare_wrong_meta")
def _():
    """PyTorch's meta kernels declare another dtype or shape than its kernels return."""

    def run(self, x, y, n):
        aten = torch.ops.aten
        wide, half, ones = y.double(), y.half(), torch.ones_like(y)
        return [
            aten.threshold_backward(n, x, 0) * 2,
            aten.threshold_backward(x, wide, 0).sum(),
            aten.arange.start_out(0, 12, 1, out=torch.zeros(3, 4)) + 1,
            aten.arange.start_out(0, 5, 1, out=torch.zeros(3, dtype=torch.int64)) + 1,
            aten.cumprod_backward(x, y, 1, wide).t(),
            aten.huber_loss(x, wide, 0),
            aten.mish_backward(x, half) + 1,
            aten.mse_loss_backward(x, y, wide, 1),
            aten.native_dropout_backward(x, ones > 0, 1.0),
            aten.smooth_l1_loss_backward(x, y, wide, 1, 1.0),
            aten.soft_margin_loss(x, wide, 0) - 1,
            torch.ops.prims.signbit(x),
            torch.ops.prims.sum(n.int(), [0]) + 1,
        ]

    return Case(
        Fn(run), (torch.randn(3, 4), torch.randn(3, 4), torch.randint(-5, 5, (3, 4)))
    )
