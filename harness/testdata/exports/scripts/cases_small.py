"""Small hand-written models of all common kinds."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.export import Dim

from archive_case import Case, case, decomposed
from cases_signature import Fn


def image(n=1, c=3, h=16, w=16):
    return torch.randn(n, c, h, w)


class SmallCnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 8, 3, groups=4, dilation=2, padding="same"),
            nn.GroupNorm(2, 8),
            nn.SiLU(),
            nn.AdaptiveAvgPool2d(2),
        )
        self.head = nn.Linear(32, 5)

    def forward(self, x):
        return F.log_softmax(self.head(self.features(x).flatten(1)), -1)


@case("cnn_small")
def _():
    return Case(SmallCnn(), (image(2),), wrong="value")


@case("cnn_small_strict")
def _():
    return Case(SmallCnn(), (image(2),), strict=True)


@case("cnn_small_decomposed")
def _():
    return Case(SmallCnn(), (image(2),), change=decomposed)


@case("cnn_small_core_aten_linear_kept")
def _():
    def change(program):
        table = torch.export.default_decompositions()
        table.pop(torch.ops.aten.linear.default, None)
        return program.run_decompositions(table)

    return Case(SmallCnn(), (image(2),), change=change)


@case("cnn_small_no_decompositions")
def _():
    return Case(SmallCnn(), (image(2),), change=lambda program: program.run_decompositions({}))


@case("cnn_small_training")
def _():
    return Case(SmallCnn(), (image(2),), train=True, atol=1e-4)


@case("mlp")
def _():
    return Case(
        nn.Sequential(
            nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8), nn.ELU(), nn.Linear(8, 2), nn.Softmax(-1)
        ),
        (torch.randn(3, 4),),
        wrong="shape",
    )


@case("mlp_activations")
def _():
    def run(self, x):
        fs = (
            F.relu,
            F.relu6,
            F.leaky_relu,
            F.elu,
            F.selu,
            F.celu,
            F.gelu,
            F.silu,
            F.mish,
            F.softplus,
            F.softsign,
            F.hardswish,
            F.hardsigmoid,
            F.hardtanh,
            F.logsigmoid,
            F.tanhshrink,
            F.softshrink,
            F.hardshrink,
            torch.sigmoid,
            torch.tanh,
            F.glu,
            lambda x: F.gelu(x, approximate="tanh"),
            lambda x: F.threshold(x, 0.1, 20),
            lambda x: F.prelu(x, torch.tensor([0.2])),
            lambda x: F.softmin(x, -1),
            lambda x: F.rrelu(x),
            lambda x: F.normalize(x, dim=-1),
        )
        return [f(x) for f in fs]

    return Case(Fn(run), (torch.randn(3, 4),))


class UNet(nn.Module):
    def __init__(self, c=4):
        super().__init__()

        def block(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())

        self.d1, self.d2, self.mid = block(1, c), block(c, 2 * c), block(2 * c, 4 * c)
        self.up2, self.u2 = nn.ConvTranspose2d(4 * c, 2 * c, 2, stride=2), block(4 * c, 2 * c)
        self.up1, self.u1 = (
            nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True),
            block(3 * c, c),
        )
        self.out = nn.Conv2d(c, 2, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        m = self.mid(F.max_pool2d(b, 2))
        b = self.u2(torch.cat([self.up2(m), b], 1))
        a = self.u1(torch.cat([self.up1(b), a], 1))
        return self.out(a)


@case("unet")
def _():
    return Case(UNet(), (image(1, 1),), wrong="nan")


@case("unet_dynamic")
def _():
    h, w = Dim("h", min=2, max=16), Dim("w", min=2, max=16)
    return Case(
        UNet(),
        (image(1, 1),),
        dynamic_shapes=({2: 4 * h, 3: 4 * w},),
        more={"other": (image(1, 1, 24, 12),)},
    )


@case("autoencoder")
def _():
    return Case(
        nn.Sequential(
            nn.Conv2d(1, 4, 3, 2, 1),
            nn.LeakyReLU(0.1),
            nn.Conv2d(4, 8, 3, 2, 1),
            nn.Flatten(),
            nn.Linear(128, 6),
            nn.Linear(6, 128),
            nn.Unflatten(1, (8, 4, 4)),
            nn.ConvTranspose2d(8, 4, 3, 2, 1, output_padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(4, 1, 4, 2, 1),
            nn.Sigmoid(),
        ),
        (image(2, 1),),
    )


@case("vae_eval")
def _():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.e, self.d = nn.Linear(6, 4), nn.Linear(2, 6)

        def forward(self, x, noise):
            mu, logvar = self.e(x).chunk(2, -1)
            z = mu + noise * (0.5 * logvar).exp()
            return self.d(z), mu, logvar

    return Case(Model(), (torch.randn(3, 6), torch.randn(3, 2)))


@case("conv_kinds")
def _():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.c1 = nn.Conv1d(2, 4, 3, padding=1, padding_mode="circular")
            self.c2 = nn.Conv2d(2, 4, (3, 2), stride=(2, 1), bias=False)
            self.c3 = nn.Conv3d(1, 2, 2)
            self.t1 = nn.ConvTranspose1d(2, 3, 3, stride=2)
            self.t3 = nn.ConvTranspose3d(1, 2, 2)
            self.reflect = nn.Conv2d(2, 2, 3, padding=1, padding_mode="reflect")
            self.depthwise = nn.Conv2d(4, 4, 3, groups=4, padding="valid")

        def forward(self, a, b, c):
            x = self.c2(b)
            return (
                self.c1(a),
                x,
                self.c3(c),
                self.t1(a),
                self.t3(c),
                self.reflect(b),
                self.depthwise(x),
            )

    return Case(Model(), (torch.randn(1, 2, 8), image(1, 2, 9, 9), torch.randn(1, 1, 3, 4, 5)))


@case("pool_and_norm_kinds")
def _():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.norms = nn.ModuleList(
                [
                    nn.BatchNorm2d(4, affine=False),
                    nn.BatchNorm2d(4, track_running_stats=False),
                    nn.GroupNorm(2, 4, affine=False),
                    nn.InstanceNorm2d(4),
                    nn.LayerNorm([4, 8, 8]),
                    nn.LayerNorm(8, elementwise_affine=False),
                    nn.LayerNorm(8, bias=False),
                    nn.RMSNorm(8),
                    nn.LocalResponseNorm(2),
                ]
            )

        def forward(self, x):
            y, index = F.max_pool2d(x, 2, return_indices=True)
            return [n(x) for n in self.norms] + [
                y,
                index,
                F.max_unpool2d(y, index, 2),
                F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
                F.lp_pool2d(x, 2, 2),
                F.adaptive_max_pool2d(x, (3, None)),
                F.adaptive_avg_pool2d(x, 1),
                F.avg_pool1d(x[0], 2),
                F.max_pool3d(x[None], 2),
                F.avg_pool2d(x, 2, divisor_override=3),
            ]

    return Case(Model(), (image(2, 4, 8, 8),))


@case("image_ops")
def _():
    def run(self, x, grid):
        return (
            F.interpolate(x, scale_factor=2),
            F.interpolate(x, size=(5, 7), mode="bicubic", antialias=True),
            F.interpolate(x, size=5, mode="area"),
            F.grid_sample(x, grid, align_corners=False),
            F.pad(x, (1, 2, 0, 3)),
            F.pad(x, (1, 1, 1, 1), mode="reflect"),
            F.pad(x, (1, 1), value=3.5),
            F.pad(x, (1, 1, 1, 1), mode="replicate"),
            F.pixel_unshuffle(x, 2),
            F.fold(F.unfold(x, 2), (8, 8), 2),
            F.affine_grid(torch.eye(2, 3)[None], (1, 1, 3, 3), False),
            x.roll((1, -1), (2, 3)),
            x.flip(-1),
            x.rot90(1, (2, 3)),
        )

    return Case(Fn(run), (image(1, 2, 8, 8), torch.rand(1, 4, 4, 2) * 2 - 1))


def add_recurrent(name, make, args, **more):
    @case(name)
    def _():
        return Case(make(), args(), **more)


add_recurrent(
    "lstm_default_state", lambda: nn.LSTM(3, 4), lambda: (torch.randn(5, 2, 3),), wrong="value"
)
add_recurrent(
    "lstm_batch_first_bidirectional",
    lambda: nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True),
    lambda: (torch.randn(2, 5, 3),),
)
add_recurrent(
    "lstm_given_state",
    lambda: nn.LSTM(3, 4),
    lambda: (torch.randn(5, 2, 3), (torch.randn(1, 2, 4), torch.randn(1, 2, 4))),
)
add_recurrent(
    "lstm_unbatched_no_bias_projection",
    lambda: nn.LSTM(3, 4, bias=False, proj_size=2),
    lambda: (torch.randn(5, 3),),
)
add_recurrent(
    "lstm_dropout_eval", lambda: nn.LSTM(3, 4, 3, dropout=0.5), lambda: (torch.randn(5, 2, 3),)
)
add_recurrent(
    "lstm_decomposed",
    lambda: nn.LSTM(3, 4, batch_first=True),
    lambda: (torch.randn(2, 3, 3),),
    change=decomposed,
)
add_recurrent(
    "gru_default_state", lambda: nn.GRU(3, 4, 2, batch_first=True), lambda: (torch.randn(2, 5, 3),)
)
add_recurrent(
    "gru_bidirectional_given_state",
    lambda: nn.GRU(3, 4, bidirectional=True),
    lambda: (torch.randn(5, 2, 3), torch.randn(2, 2, 4)),
)
add_recurrent(
    "gru_decomposed", lambda: nn.GRU(3, 4), lambda: (torch.randn(3, 2, 3),), change=decomposed
)
add_recurrent("rnn_tanh", lambda: nn.RNN(3, 4, 2), lambda: (torch.randn(5, 2, 3),))
add_recurrent(
    "rnn_relu", lambda: nn.RNN(3, 4, nonlinearity="relu"), lambda: (torch.randn(5, 2, 3),)
)


@case("rnn_cells_unrolled")
def _():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.gru, self.rnn = nn.LSTMCell(3, 4), nn.GRUCell(4, 4), nn.RNNCell(4, 4)

        def forward(self, x):
            h, c, g, r = (torch.zeros(x.size(1), 4) for _ in range(4))
            outs = []
            for step in x:
                h, c = self.lstm(step, (h, c))
                g = self.gru(h, g)
                r = self.rnn(g, r)
                outs.append(r)
            return torch.stack(outs), c

    return Case(Model(), (torch.randn(4, 2, 3),))


@case("seq2seq_attention")
def _():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.encoder, self.decoder = (
                nn.Embedding(11, 6),
                nn.GRU(6, 6, batch_first=True),
                nn.GRUCell(12, 6),
            )
            self.out = nn.Linear(6, 11)

        def forward(self, source, target):
            keys, hidden = self.encoder(self.embed(source))
            h = hidden[0]
            outs = []
            for step in self.embed(target).unbind(1):
                weights = torch.bmm(keys, h.unsqueeze(2)).softmax(1)
                context = (weights * keys).sum(1)
                h = self.decoder(torch.cat([step, context], -1), h)
                outs.append(self.out(h))
            return torch.stack(outs, 1).argmax(-1), torch.stack(outs, 1)

    return Case(Model(), (torch.randint(0, 11, (2, 5)), torch.randint(0, 11, (2, 3))))


@case("attention_multihead")
def _():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.MultiheadAttention(8, 2, batch_first=True)
            self.b = nn.MultiheadAttention(
                8, 2, kdim=6, vdim=5, add_bias_kv=True, add_zero_attn=True
            )

        def forward(self, x, k, v, mask, padding):
            y, w = self.a(x, x, x, attn_mask=mask, key_padding_mask=padding)
            z, none = self.a(x, x, x, need_weights=False)
            u, each = self.b(x, k, v, average_attn_weights=False)
            return y, w, z, none, u, each

    return Case(
        Model(),
        (
            torch.randn(5, 5, 8),
            torch.randn(5, 5, 6),
            torch.randn(5, 5, 5),
            torch.randn(5, 5).triu(1) * -10,
            torch.tensor([[False] * 4 + [True]] * 5),
        ),
        atol=1e-4,
    )


@case("attention_bool_mask_eval")
def _():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.MultiheadAttention(8, 4, batch_first=True)

        def forward(self, x, mask):
            return self.a(x, x, x, attn_mask=mask, is_causal=False)

    return Case(Model(), (torch.randn(2, 4, 8), torch.ones(4, 4, dtype=torch.bool).triu(1)))


@case("transformer_encoder")
def _():
    layer = nn.TransformerEncoderLayer(
        8, 2, 16, batch_first=True, activation="gelu", norm_first=True
    )
    return Case(
        nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(8), enable_nested_tensor=False),
        (torch.randn(2, 5, 8),),
        kwargs={"mask": nn.Transformer.generate_square_subsequent_mask(5), "is_causal": True},
    )


@case("transformer_encoder_fast_path")
def _():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return Case(nn.TransformerEncoder(layer, 2), (torch.randn(2, 5, 8),))


@case("transformer_encoder_training")
def _():
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
    return Case(nn.TransformerEncoder(layer, 1), (torch.randn(5, 2, 8),), train=True)


@case("transformer_full")
def _():
    return Case(
        nn.Transformer(8, 2, 1, 1, 16, batch_first=True),
        (torch.randn(2, 5, 8), torch.randn(2, 3, 8)),
    )


@case("transformer_decomposed")
def _():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return Case(
        nn.TransformerEncoder(layer, 1, enable_nested_tensor=False),
        (torch.randn(2, 5, 8),),
        change=decomposed,
    )


class Block(nn.Module):
    def __init__(self, d, heads, causal):
        super().__init__()
        self.n1, self.n2, self.heads, self.causal = nn.LayerNorm(d), nn.LayerNorm(d), heads, causal
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU("tanh"), nn.Linear(2 * d, d))

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, s, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.proj(a.transpose(1, 2).reshape(b, s, d))
        return x + self.mlp(self.n2(x))


class Vit(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.patch = nn.Conv2d(3, d, 4, 4)
        self.token = nn.Parameter(torch.randn(1, 1, d))
        self.position = nn.Parameter(torch.randn(1, 17, d))
        self.blocks = nn.Sequential(Block(d, 2, False), Block(d, 2, False))
        self.head = nn.Linear(d, 5)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.position
        return self.head(self.blocks(x)[:, 0])


@case("vit_small")
def _():
    return Case(Vit(), (image(2),), wrong="value")


@case("vit_small_dynamic")
def _():
    return Case(
        Vit(),
        (image(2),),
        dynamic_shapes=({0: Dim("b", min=2, max=8)},),
        more={"other": (image(5),)},
    )


@case("gpt_small")
def _():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.tok, self.pos = nn.Embedding(31, 16), nn.Embedding(12, 16)
            self.blocks, self.norm = (
                nn.ModuleList([Block(16, 4, True) for _ in range(2)]),
                nn.LayerNorm(16),
            )
            self.head = nn.Linear(16, 31, bias=False)
            self.head.weight = self.tok.weight

        def forward(self, ids):
            x = self.tok(ids) + self.pos(torch.arange(ids.shape[1], device=ids.device))
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x))

    return Case(
        Model(),
        (torch.randint(0, 31, (2, 7)),),
        dynamic_shapes=({0: Dim("b", min=2, max=4), 1: Dim("s", min=2, max=12)},),
        more={"other": (torch.randint(0, 31, (3, 12)),)},
        wrong="value",
    )


class SwinBlock(nn.Module):
    def __init__(self, d=8, window=4, shift=2, side=8):
        super().__init__()
        self.window, self.shift = window, shift
        self.norm, self.qkv, self.proj = nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.table = nn.Parameter(torch.randn((2 * window - 1) ** 2, 2))
        c = torch.stack(
            torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")
        ).flatten(1)
        r = (c[:, :, None] - c[:, None, :]).permute(1, 2, 0) + window - 1
        self.register_buffer("index", r[..., 0] * (2 * window - 1) + r[..., 1])
        img = torch.zeros(1, side, side, 1)
        cuts = (slice(0, -window), slice(-window, -shift), slice(-shift, None))
        for n, (h, w) in enumerate((h, w) for h in cuts for w in cuts):
            img[:, h, w, :] = n
        m = self.split(img).squeeze(-1)
        m = m[:, None] - m[:, :, None]
        self.register_buffer(
            "mask", m.masked_fill(m != 0, -100.0).masked_fill(m == 0, 0.0), persistent=False
        )

    def split(self, x):
        b, h, w, c = x.shape
        s = self.window
        return x.view(b, h // s, s, w // s, s, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, s * s, c)

    def forward(self, x):
        b, h, w, c = x.shape
        s = self.window
        y = torch.roll(self.norm(x), (-self.shift, -self.shift), (1, 2))
        y = self.split(y)
        q, k, v = (
            self.qkv(y).reshape(y.shape[0], s * s, 3, 2, c // 2).permute(2, 0, 3, 1, 4).unbind(0)
        )
        a = (q * (c // 2) ** -0.5) @ k.transpose(-2, -1)
        a = a + self.table[self.index.view(-1)].view(s * s, s * s, -1).permute(
            2, 0, 1
        ).contiguous().unsqueeze(0)
        n = self.mask.shape[0]
        a = (a.view(b, n, 2, s * s, s * s) + self.mask.unsqueeze(1).unsqueeze(0)).view(
            -1, 2, s * s, s * s
        )
        y = self.proj((a.softmax(-1) @ v).transpose(1, 2).reshape(-1, s * s, c))
        y = y.view(b, h // s, w // s, s, s, c).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)
        return x + torch.roll(y, (self.shift, self.shift), (1, 2))


@case("swin_block")
def _():
    return Case(SwinBlock(), (torch.randn(2, 8, 8, 8),), wrong="nan")


class Mamba(nn.Module):
    def __init__(self, d=6, n=4):
        super().__init__()
        self.inp, self.conv = nn.Linear(d, 2 * d), nn.Conv1d(d, d, 3, groups=d, padding=2)
        self.x_proj, self.dt, self.out = nn.Linear(d, 2 * n + 1), nn.Linear(1, d), nn.Linear(d, d)
        self.a_log, self.skip, self.n = (
            nn.Parameter(torch.arange(1.0, n + 1).repeat(d, 1).log()),
            nn.Parameter(torch.ones(d)),
            n,
        )

    def forward(self, x):
        b, s, d = x.shape
        u, gate = self.inp(x).chunk(2, -1)
        u = F.silu(self.conv(u.transpose(1, 2))[..., :s]).transpose(1, 2)
        dt, bb, cc = self.x_proj(u).split([1, self.n, self.n], -1)
        dt = F.softplus(self.dt(dt))
        a = -torch.exp(self.a_log.float())
        da = torch.exp(torch.einsum("bsd,dn->bsdn", dt, a))
        dbu = torch.einsum("bsd,bsn,bsd->bsdn", dt, bb, u)
        state, ys = torch.zeros(b, d, self.n, device=x.device), []
        for i in range(s):
            state = da[:, i] * state + dbu[:, i]
            ys.append((state @ cc[:, i].unsqueeze(-1)).squeeze(-1))
        y = torch.stack(ys, 1) + u * self.skip
        return self.out(y * F.silu(gate))


@case("mamba_block")
def _():
    return Case(Mamba(), (torch.randn(2, 5, 6),), wrong="value")


@case("mixture_of_experts")
def _():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate, self.experts = (
                nn.Linear(6, 4),
                nn.ModuleList([nn.Linear(6, 6) for _ in range(4)]),
            )

        def forward(self, x):
            weights, chosen = self.gate(x).softmax(-1).topk(2, -1)
            out = torch.zeros_like(x)
            for i, expert in enumerate(self.experts):
                hit = (chosen == i).to(x.dtype) * weights
                out = out + expert(x) * hit.sum(-1, keepdim=True)
            return out, chosen

    return Case(Model(), (torch.randn(5, 6),))


@case("rotary_llama_block")
def _():
    class Model(nn.Module):
        def __init__(self, d=16, heads=4, kv=2):
            super().__init__()
            self.heads, self.kv, self.hd = heads, kv, d // heads
            self.norm = nn.RMSNorm(d)
            self.q, self.k, self.v, self.o = (
                nn.Linear(d, d, bias=False),
                nn.Linear(d, kv * self.hd, bias=False),
                nn.Linear(d, kv * self.hd, bias=False),
                nn.Linear(d, d, bias=False),
            )
            self.register_buffer(
                "inv", 1.0 / 10000 ** (torch.arange(0, self.hd, 2) / self.hd), persistent=False
            )

        def forward(self, x):
            b, s, d = x.shape
            y = self.norm(x)
            q = self.q(y).view(b, s, self.heads, -1).transpose(1, 2)
            k = self.k(y).view(b, s, self.kv, -1).transpose(1, 2)
            v = self.v(y).view(b, s, self.kv, -1).transpose(1, 2)
            angle = torch.outer(torch.arange(s, dtype=torch.float32), self.inv)
            cos, sin = torch.cat([angle, angle], -1).cos(), torch.cat([angle, angle], -1).sin()

            def turn(t):
                a, c = t.chunk(2, -1)
                return t * cos + torch.cat([-c, a], -1) * sin

            mask = torch.full((s, s), float("-inf")).triu(1)
            k, v = (t.repeat_interleave(self.heads // self.kv, 1) for t in (turn(k), v))
            a = (
                (turn(q) @ k.transpose(-1, -2) / math.sqrt(self.hd) + mask)
                .softmax(-1, dtype=torch.float32)
                .to(x.dtype)
            )
            return x + self.o((a @ v).transpose(1, 2).reshape(b, s, d))

    return Case(Model(), (torch.randn(2, 6, 16),))


@case("rotary_complex")
def _():
    def run(self, x):
        freqs = torch.polar(
            torch.ones(5, 4),
            torch.outer(torch.arange(5.0), torch.rand(4, generator=None) * 0 + 0.3),
        )
        y = torch.view_as_complex(x.reshape(2, 5, 4, 2)) * freqs
        return torch.view_as_real(y).flatten(2)

    return Case(Fn(run), (torch.randn(2, 5, 8),))


@case("gnn_scatter")
def _():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.l = nn.Linear(4, 4)

        def forward(self, x, edges):
            source, target = edges
            messages = self.l(x).index_select(0, source)
            summed = torch.zeros_like(x).index_add(0, target, messages)
            degree = torch.zeros(x.shape[0]).scatter_add(
                0, target, torch.ones_like(target, dtype=x.dtype)
            )
            most = torch.full_like(x, -1e9).scatter_reduce(
                0, target[:, None].expand_as(messages), messages, "amax"
            )
            return (
                summed / degree.clamp(min=1)[:, None],
                most,
                x[source] - x[target],
                x.gather(1, target[:5, None] % 4),
            )

    return Case(Model(), (torch.randn(5, 4), torch.randint(0, 5, (2, 9))))


@case("embedding_bag_kinds")
def _():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.sum, self.mean, self.max = (
                nn.EmbeddingBag(9, 4, mode=m) for m in ("sum", "mean", "max")
            )
            self.padded = nn.Embedding(9, 4, padding_idx=0)

        def forward(self, ids, offsets, weights):
            return (
                self.sum(ids, offsets, per_sample_weights=weights),
                self.mean(ids, offsets),
                self.max(ids, offsets),
                self.mean(ids.view(2, -1)),
                self.padded(ids),
            )

    return Case(Model(), (torch.randint(0, 9, (8,)), torch.tensor([0, 3, 3]), torch.rand(8)))


@case("losses")
def _():
    def run(self, x, y, target):
        return (
            F.cross_entropy(x, target),
            F.cross_entropy(x, target, label_smoothing=0.1, reduction="none", ignore_index=1),
            F.mse_loss(x, y),
            F.l1_loss(x, y, reduction="sum"),
            F.smooth_l1_loss(x, y),
            F.huber_loss(x, y, delta=0.7),
            F.binary_cross_entropy_with_logits(x, y.sigmoid()),
            F.kl_div(x.log_softmax(-1), y.softmax(-1), reduction="batchmean"),
            F.nll_loss(x.log_softmax(-1), target),
            F.cosine_similarity(x, y),
            F.triplet_margin_loss(x, y, x + 1),
            F.pairwise_distance(x, y),
            F.hinge_embedding_loss(x, y.sign()),
            F.poisson_nll_loss(x, y.abs()),
            F.multi_margin_loss(x, target),
        )

    return Case(Fn(run), (torch.randn(4, 3), torch.randn(4, 3), torch.tensor([0, 2, 1, 2])))


@case("indexing_kinds")
def _():
    def run(self, x, i, m):
        return (
            x[i],
            x[:, i],
            x[i, :, i],
            x[None, ..., 0],
            x[m],
            x[:, ::2, -1:],
            x[i, None],
            x[..., i],
            torch.take(x, i),
            x.take_along_dim(i[:, None, None], 0),
            x.index_fill(1, i, 0.5),
            x.masked_fill(m[:, None, None], 9),
            x.where(x > 0, 1.0),
            x.diagonal(0, 0, 1),
            x.unfold(1, 2, 1),
            x.narrow(0, 1, 2),
            x.select(2, -1),
            x.tril(),
            torch.tril_indices(3, 3),
            x.cumsum(1),
        )

    return Case(
        Fn(run), (torch.randn(3, 4, 5), torch.tensor([0, 2, 1]), torch.tensor([True, False, True]))
    )


@case("reductions_and_sorting")
def _():
    def run(self, x):
        return (
            x.sum(),
            x.mean((0, 2)),
            x.amax(1, keepdim=True),
            x.max(1),
            x.min(),
            x.argmax(),
            x.argmin(0),
            x.sort(-1, descending=True),
            x.topk(2),
            x.kthvalue(2),
            x.median(0),
            x.mode(1),
            x.var(0, unbiased=False),
            x.std(1, correction=2),
            x.norm(),
            x.norm(1, -1),
            torch.linalg.vector_norm(x, 3, 1),
            x.logsumexp(1),
            x.prod(0),
            x.any(),
            x.all(1),
            (x > 0).sum(),
            x.cumprod(0),
            x.cummax(0),
            torch.var_mean(x, 1),
            torch.aminmax(x),
            x.argsort(1),
            x.histc(4, -2, 2),
            x.bool().count_nonzero(0),
            x.quantile(0.3, 1),
        )

    return Case(Fn(lambda self, x: pytree_tuple(run(self, x))), (torch.randn(3, 4, 5),))


def pytree_tuple(value):
    """Turns torch's own named results into tuples: an archive cannot name their types."""
    if isinstance(value, tuple):
        return tuple(pytree_tuple(v) for v in value)
    return value


@case("linear_algebra")
def _():
    def run(self, a, b, v):
        spd = a @ a.mT + 3 * torch.eye(3)
        return pytree_tuple(
            (
                torch.linalg.inv(spd),
                torch.linalg.det(spd),
                torch.linalg.cholesky(spd),
                torch.linalg.solve(spd, v),
                torch.linalg.eigvalsh(spd),
                torch.linalg.svdvals(a),
                torch.linalg.qr(spd).R.abs(),
                torch.linalg.matrix_norm(a),
                torch.linalg.pinv(a),
                torch.einsum("ij,jk->ik", a, b.mT),
                torch.bmm(a[None], b.mT[None]),
                torch.addmm(spd, a, b.mT),
                torch.outer(v, v),
                torch.dot(v, v),
                torch.kron(a, b),
                torch.tensordot(a, b, dims=([1], [1])),
                torch.cross(v, v + 1, dim=0),
                torch.baddbmm(spd[None], a[None], b.mT[None], beta=0.5),
                torch.trace(spd),
                torch.matrix_exp(spd / 10),
                torch.chain_matmul(spd, a, b.mT),
                torch.cdist(a, b),
                torch.linalg.slogdet(spd),
            )
        )

    return Case(
        Fn(run), (torch.randn(3, 4), torch.randn(3, 4), torch.randn(3)), atol=1e-3, rtol=1e-3
    )


@case("fft_and_signal")
def _():
    def run(self, x):
        s = torch.stft(x, 8, hop_length=4, window=torch.hann_window(8), return_complex=True)
        return (
            s.abs(),
            torch.istft(s, 8, hop_length=4, window=torch.hann_window(8)),
            torch.fft.rfft(x).real,
            torch.fft.irfft(torch.fft.rfft(x)),
            torch.fft.fft2(x.view(4, 8)).imag,
            torch.fft.fftshift(x),
            F.conv1d(x[None, None], torch.ones(1, 1, 3)),
        )

    return Case(Fn(run), (torch.randn(32),))


@case("deep_chain")
def _():
    def run(self, x):
        for i in range(400):
            x = x * 1.001 + 0.001
        return x

    return Case(Fn(run), (torch.randn(3),))


@case("wide_outputs")
def _():
    return Case(Fn(lambda self, x: [x + i for i in range(300)]), (torch.randn(2),))


@case("module_shared_twice")
def _():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(3, 3)
            self.b = self.a
            self.list = nn.ModuleList([self.a, nn.Linear(3, 3)])

        def forward(self, x):
            return self.b(self.a(x)) + self.list[0](x) + self.list[1](x)

    return Case(Model(), (torch.randn(2, 3),))


@case("preserved_module_signature")
def _():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Sequential(nn.Linear(3, 3), nn.ReLU())

        def forward(self, x):
            return self.a(x)

    return Case(Model(), (torch.randn(2, 3),), note="module_call_graph with nested fqns")


@case("weight_norm_parametrized")
def _():
    return Case(torch.nn.utils.parametrizations.weight_norm(nn.Linear(3, 4)), (torch.randn(2, 3),))


@case("spectral_norm_parametrized_eval")
def _():
    return Case(
        torch.nn.utils.parametrizations.spectral_norm(nn.Linear(3, 4)), (torch.randn(2, 3),)
    )


@case("bilinear_and_misc_layers")
def _():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.b, self.p = nn.Bilinear(3, 4, 2), nn.PReLU(2)
            self.c = nn.CosineSimilarity(dim=1)

        def forward(self, x, y):
            return (
                self.p(self.b(x, y)),
                self.c(x, x + 1),
                F.one_hot(torch.tensor([0, 2]), 4),
                F.gumbel_softmax(x, hard=False).shape[0],
            )

    return Case(Model(), (torch.randn(2, 3), torch.randn(2, 4)))


@case("vmap_inside")
def _():
    def run(self, x, w):
        return torch.vmap(lambda a: (a @ w).sin())(x)

    return Case(
        Fn(run),
        (torch.randn(4, 3), torch.randn(3, 2)),
        refuse="vmap",
        note="torch._functorch.predispatch nodes: Python runs them",
    )


@case("vmap_inside_decomposed")
def _():
    def run(self, x, w):
        return torch.vmap(lambda a: (a @ w).sin())(x)

    return Case(Fn(run), (torch.randn(4, 3), torch.randn(3, 2)), change=decomposed)
