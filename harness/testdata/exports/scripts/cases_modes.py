"""Gradient modes, autocast, asserts, effects, casts, quantisation, custom operators."""

import torch
from torch import nn

from archive_case import Case, case, decomposed
from cases_signature import Fn


@case("mode_no_grad")
def _():
    def run(self, x):
        with torch.no_grad():
            y = self.l(x)
        return y + self.l(x)

    return Case(Fn(run, l=nn.Linear(3, 3)), (torch.randn(2, 3),), wrong="value")


@case("mode_no_grad_decomposed")
def _():
    def run(self, x):
        with torch.no_grad():
            y = self.l(x)
        return y + self.l(x)

    return Case(Fn(run, l=nn.Linear(3, 3)), (torch.randn(2, 3),), change=decomposed)


@case("mode_grad_nested")
def _():
    def run(self, x):
        with torch.no_grad():
            y = x.sin()
            with torch.enable_grad():
                z = y * 2
                with torch.set_grad_enabled(False):
                    z = z + x.cos()
            y = y + z
        a, b = y.split(1)
        return a, b, z

    return Case(
        Fn(run), (torch.randn(2, 3),), either="", note="Python cannot load a region without values"
    )


@case("mode_grad_whole")
def _():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.l = nn.Linear(3, 3)

        @torch.no_grad()
        def forward(self, x):
            return self.l(x), tuple(x.max(0))

    return Case(Model(), (torch.randn(2, 3),))


@case("mode_inference_mode")
def _():
    def run(self, x):
        with torch.inference_mode():
            return x + 1

    return Case(Fn(run), (torch.randn(2, 3),))


@case("mode_autocast")
def _():
    def run(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.l(x)
            z = y.softmax(-1)
        return y, z, self.l(x)

    return Case(Fn(run, l=nn.Linear(3, 3)), (torch.randn(2, 3),), wrong="dtype")


@case("mode_autocast_conv_matmul")
def _():
    def run(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.c(x).relu()
            y = y.flatten(1) @ self.w
            y = torch.addmm(self.b, y, self.w2)
            return y, torch.nn.functional.layer_norm(y, (4,)), y.float().exp()

    return Case(
        Fn(
            run,
            c=nn.Conv2d(1, 2, 3),
            w=nn.Parameter(torch.randn(32, 4)),
            b=nn.Parameter(torch.randn(4)),
            w2=nn.Parameter(torch.randn(4, 4)),
        ),
        (torch.randn(2, 1, 6, 6),),
        rtol=2e-2,
        atol=2e-2,
    )


@case("mode_autocast_nested_disabled")
def _():
    def run(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = x @ x
            with torch.autocast("cpu", enabled=False):
                z = y.float() @ x
            w = z @ x
        return y, z, w

    return Case(Fn(run), (torch.randn(3, 3),))


@case("mode_autocast_in_no_grad")
def _():
    def run(self, x):
        with torch.no_grad():
            with torch.autocast("cpu", dtype=torch.float16, cache_enabled=False):
                y = self.l(x)
        return y

    return Case(Fn(run, l=nn.Linear(3, 3)), (torch.randn(2, 3),))


@case("mode_autocast_decomposed")
def _():
    def run(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.l(x)
        return y.float()

    return Case(Fn(run, l=nn.Linear(3, 3)), (torch.randn(2, 3),), change=decomposed)


def add_autocast(name, function, args, **members):
    """One composite operator under autocast, which casts the arguments of its parts, not its own."""

    @case(f"mode_autocast_{name}")
    def _():
        def run(self, *xs):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return function(self, *xs)

        return Case(Fn(run, **{k: v() for k, v in members.items()}), args(), rtol=2e-2, atol=2e-2)


add_autocast(
    "einsum",
    lambda self, x, y: torch.einsum("ij,kj->ik", x, y),
    lambda: (torch.randn(3, 4), torch.randn(5, 4)),
)
add_autocast(
    "tensordot",
    lambda self, x, y: torch.tensordot(x, y, 1),
    lambda: (torch.randn(3, 4), torch.randn(4, 5)),
)
add_autocast("gru", lambda self, x: self.g(x)[0], lambda: (torch.randn(5, 2, 3),), g=lambda: nn.GRU(3, 4))
add_autocast("rnn_cell", lambda self, x: self.g(x), lambda: (torch.randn(2, 3),), g=lambda: nn.LSTMCell(3, 4))
add_autocast(
    "multihead_attention",
    lambda self, x: self.a(x, x, x)[0],
    lambda: (torch.randn(2, 5, 8),),
    a=lambda: nn.MultiheadAttention(8, 2, batch_first=True),
)
add_autocast(
    "transformer_layer",
    lambda self, x: self.t(x),
    lambda: (torch.randn(2, 5, 8),),
    t=lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True),
)
add_autocast(
    "losses",
    lambda self, x, y: (nn.functional.cross_entropy(x, y), nn.functional.mse_loss(x, x + 1), x.softmax(-1).sum()),
    lambda: (torch.randn(4, 3), torch.tensor([0, 1, 2, 1])),
)
add_autocast(
    "attention",
    lambda self, q: nn.functional.scaled_dot_product_attention(q, q, q),
    lambda: (torch.randn(1, 2, 4, 8),),
)
add_autocast(
    "conv_transpose_and_norms",
    lambda self, x: self.n(self.c(x)) + self.g(self.c(x)),
    lambda: (torch.randn(1, 2, 5, 5),),
    c=lambda: nn.ConvTranspose2d(2, 4, 3),
    n=lambda: nn.BatchNorm2d(4),
    g=lambda: nn.GroupNorm(2, 4),
)
add_autocast(
    "mixed_precision_arguments",
    lambda self, x, y: (torch.cat([x, y.bfloat16()]), x + y.bfloat16(), torch.stack([x.bfloat16(), y]), x @ y.T.double().float()),
    lambda: (torch.randn(3, 3), torch.randn(3, 3)),
)
add_autocast(
    "bilinear_and_cdist",
    lambda self, x, y: (self.b(x, y), torch.cdist(x, y), torch.linalg.multi_dot([x, y.T, x]), nn.functional.cosine_similarity(x, y)),
    lambda: (torch.randn(4, 3), torch.randn(4, 3)),
    b=lambda: nn.Bilinear(3, 3, 2),
)


@case("mode_autocast_lstm")
def _():
    def run(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.l(x)[0]

    return Case(Fn(run, l=nn.LSTM(3, 4)), (torch.randn(5, 2, 3),), rtol=2e-2, atol=2e-2)


@case("assert_tensor_metadata")
def _():
    def run(self, x, y):
        return (
            x.to(torch.float64),
            y.to(x.dtype),
            x.to("cpu"),
            y.to(x.device, torch.float32, copy=True),
        )

    return Case(Fn(run), (torch.randn(2), torch.arange(2)))


@case("assert_torch_check_item")
def _():
    def run(self, n, x):
        k = n.item()
        torch._check(k >= 1)
        torch._check(k <= 5)
        return x[:3] * k, x * (k + 1)

    return Case(
        Fn(run),
        (torch.tensor(3), torch.randn(6)),
        forbidden={"seven": ((torch.tensor(7), torch.randn(6)), "")},
    )


@case("assert_async")
def _():
    def run(self, x):
        torch._assert_async((x > -100).all(), "x is too small")
        return x + 1

    return Case(
        Fn(run),
        (torch.randn(3),),
        forbidden={"small": ((torch.full((3,), -1000.0),), "too small")},
    )


@case("assert_async_decomposed")
def _():
    def run(self, x):
        torch._assert_async((x > -100).all(), "x is too small")
        return x + 1

    return Case(
        Fn(run),
        (torch.randn(3),),
        change=decomposed,
        forbidden={"small": ((torch.full((3,), -1000.0),), "too small")},
    )


@case("effect_print")
def _():
    def run(self, x):
        torch.ops.aten._print("hello\x1b[31m")
        return x + 1

    return Case(Fn(run), (torch.randn(3),), either="_print")


@case("effect_print_decomposed")
def _():
    def run(self, x):
        torch.ops.aten._print("hello")
        return x + 1

    return Case(
        Fn(run),
        (torch.randn(3),),
        change=decomposed,
        either="_print",
        note="with_effects and tokens",
    )


@case("dropout_eval")
def _():
    return Case(
        nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.AlphaDropout(0.1), nn.Dropout1d(0.3)),
        (torch.randn(2, 3),),
    )


@case("dropout_train")
def _():
    return Case(
        nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)),
        (torch.randn(2, 3),),
        train=True,
        random=True,
    )


@case("random_ops")
def _():
    def run(self, x):
        return (
            torch.rand(2, 3) + x,
            torch.randn_like(x),
            torch.randint(0, 5, (2,)),
            x.bernoulli(0.5),
        )

    return Case(Fn(run), (torch.randn(2, 3),), random=True)


@case("cast_all_dtypes")
def _():
    def run(self, x):
        dtypes = (
            torch.uint8,
            torch.int8,
            torch.int16,
            torch.int32,
            torch.int64,
            torch.float16,
            torch.bfloat16,
            torch.float64,
            torch.bool,
            torch.uint16,
            torch.uint32,
            torch.uint64,
            torch.float8_e4m3fn,
            torch.float8_e5m2,
            torch.float8_e4m3fnuz,
            torch.float8_e5m2fnuz,
            torch.complex64,
            torch.complex128,
        )
        return tuple(x.to(d) for d in dtypes)

    return Case(Fn(run), (torch.tensor([0.0, 1.0, 2.5, 7.0]),))


@case("cast_float8_matmul")
def _():
    def run(self, x):
        w = self.w.to(torch.float8_e4m3fn)
        return x @ w.to(torch.float32), w, x.to(torch.float8_e5m2).to(torch.bfloat16)

    return Case(Fn(run, w=nn.Parameter(torch.randn(3, 3))), (torch.randn(2, 3),))


@case("cast_complex")
def _():
    def run(self, x):
        z = torch.complex(x, x * 2)
        f = torch.fft.fft(z)
        return (
            f,
            z.conj() * (1 + 2j),
            z.real,
            torch.view_as_real(z),
            z.abs(),
            torch.polar(x.abs(), x),
        )

    return Case(Fn(run), (torch.randn(4),))


@case("cast_view_dtype")
def _():
    def run(self, x):
        return x.view(torch.int32), x.view(torch.uint8), x.view(torch.int16)

    return Case(Fn(run), (torch.randn(4),))


@case("factory_ops")
def _():
    def run(self, x):
        return (
            torch.zeros(2, 3),
            torch.ones(2, dtype=torch.int32),
            torch.full((2,), 3.5),
            torch.arange(0, 10, 3),
            torch.linspace(0, 1, 5),
            torch.eye(3),
            torch.zeros_like(x),
            torch.full_like(x, float("-inf")),
            x.new_ones(2),
            x.new_full((2,), 7),
            torch.tensor([1, 2, 3]),
            torch.tensor(2.5),
            torch.scalar_tensor(4.0),
            torch.empty_like(x, memory_format=torch.contiguous_format).fill_(1),
            torch.tril_indices(3, 3),
            x.new_zeros((1, 2), dtype=torch.bool),
            torch.logspace(0, 2, 3),
            torch.hann_window(4),
        )

    return Case(Fn(run), (torch.randn(2, 2),))


@case("scalars_non_finite")
def _():
    def run(self, x):
        m = x.masked_fill(x > 0, float("-inf"))
        return (
            m,
            x.clamp(max=float("inf")),
            torch.nan_to_num(x / 0.0, nan=0.0, posinf=1e30, neginf=-1e30),
            torch.full((2,), float("nan")),
            x.add(1, alpha=-0.0),
            x * 1e-45,
            x * 0.1,
        )

    return Case(Fn(run), (torch.randn(4),))


@case("scalars_python")
def _():
    def run(self, x, i):
        return (
            x / 2,
            2 / x,
            1 - x,
            x**2,
            2**x,
            x // 3,
            x % 3,
            -x,
            i / 2,
            i // 2,
            i % 3,
            i << 1,
            i & 6,
            ~i,
            x > 0.5,
            x == 1,
            i * True,
            x * 3.0,
            i + 2**40,
            abs(x),
            round_(x),
        )

    def round_(x):
        return torch.round(x, decimals=2)

    return Case(Fn(run), (torch.rand(4) + 0.5, torch.arange(4)))


@case("sdpa_variants")
def _():
    F = nn.functional

    def run(self, q, k, v, mask):
        return (
            F.scaled_dot_product_attention(q, k[:, :4], v[:, :4]),
            F.scaled_dot_product_attention(q, k[:, :4], v[:, :4], is_causal=True),
            F.scaled_dot_product_attention(q, k[:, :2], v[:, :2], enable_gqa=True),
            F.scaled_dot_product_attention(q, k[:, :4], v[:, :4], attn_mask=mask, scale=0.3),
            F.scaled_dot_product_attention(q, k[:, :4], v[:, :4], attn_mask=mask > 0),
        )

    return Case(
        Fn(run),
        (
            torch.randn(2, 4, 5, 8),
            torch.randn(2, 4, 5, 8),
            torch.randn(2, 4, 5, 8),
            torch.randn(5, 5) + torch.eye(5) * 9,
        ),
    )


@case("sdpa_decomposed")
def _():
    F = nn.functional

    def run(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    return Case(Fn(run), tuple(torch.randn(2, 4, 5, 8) for _ in range(3)), change=decomposed)


_LIBRARY = torch.library.Library("torch_ir_collection", "DEF")
_LIBRARY.define("double_it(Tensor x, int times=2) -> Tensor")
_LIBRARY.impl("double_it", lambda x, times=2: x * times, "CompositeExplicitAutograd")
_LIBRARY.define("effectful(Tensor x) -> ()")
_LIBRARY.impl("effectful", lambda x: None, "CompositeExplicitAutograd")
_LIBRARY.define("mutate(Tensor(a!) x) -> ()")
_LIBRARY.impl("mutate", lambda x: [x.add_(1), None][1], "CompositeExplicitAutograd")


@case("custom_op")
def _():
    def run(self, x):
        return torch.ops.torch_ir_collection.double_it(x, 3) + 1

    return Case(Fn(run), (torch.randn(3),), refuse="torch_ir_collection")


@case("custom_op_library_api")
def _():
    @torch.library.custom_op("torch_ir_collection::scaled", mutates_args=())
    def scaled(x: torch.Tensor, by: float) -> torch.Tensor:
        return x * by

    @scaled.register_fake
    def _(x, by):
        return torch.empty_like(x)

    return Case(Fn(lambda self, x: scaled(x, 2.0)), (torch.randn(3),), refuse="torch_ir_collection")


@case("custom_op_with_effects")
def _():
    from torch._higher_order_ops.effects import _EffectType, _register_effectful_op

    _register_effectful_op(torch.ops.torch_ir_collection.effectful.default, _EffectType.ORDERED)

    def run(self, x):
        torch.ops.torch_ir_collection.effectful(x)
        return x + 1

    return Case(Fn(run), (torch.randn(3),), change=decomposed, refuse="torch_ir_collection")


@case("custom_op_auto_functionalized")
def _():
    def run(self, x):
        y = x.clone()
        torch.ops.torch_ir_collection.mutate(y)
        return y

    return Case(Fn(run), (torch.randn(3),), change=decomposed, refuse="auto_functionalized")


@case("prims_ops")
def _():
    def run(self, x):
        return torch.ops.prims.sin(x) + torch.ops.prims.convert_element_type(x, torch.float64)

    return Case(Fn(run), (torch.randn(3),), either="prims", note="prims have Python kernels")


@case("quantized_decomposed")
def _():
    import torch.ao.quantization.fx._decomposed  # noqa: F401 - registers the operators

    q = torch.ops.quantized_decomposed

    def run(self, x):
        a = q.quantize_per_tensor(x, 0.1, 3, -128, 127, torch.int8)
        b = q.dequantize_per_tensor(a, 0.1, 3, -128, 127, torch.int8)
        c = q.quantize_per_channel(self.w, self.s, self.z, 0, -128, 127, torch.int8)
        d = q.dequantize_per_channel(c, self.s, self.z, 0, -128, 127, torch.int8)
        return b @ d.t()

    return Case(
        Fn(
            run,
            w=nn.Parameter(torch.randn(3, 3)),
            s=nn.Buffer(torch.tensor([0.1, 0.2, 0.3])),
            z=nn.Buffer(torch.zeros(3, dtype=torch.int64)),
        ),
        (torch.randn(2, 3),),
        refuse="quantized_decomposed",
        note="the namespace has Python kernels only",
    )


@case("quantized_aten_int8")
def _():
    def run(self, x):
        scale = x.abs().amax(-1, keepdim=True) / 127
        q = (x / scale).round().clamp(-128, 127).to(torch.int8)
        acc = torch._int_mm(q, self.w)
        return acc.to(torch.float32) * scale

    w = nn.Buffer(torch.randint(-128, 127, (32, 16), dtype=torch.int8))
    return Case(Fn(run, w=w), (torch.randn(32, 32),))
