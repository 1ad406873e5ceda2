"""Symbolic shapes and data-dependent sizes."""

import torch
from torch import nn
from torch.export import Dim

from archive_case import Case, case, decomposed
from cases_signature import Fn

BATCH = Dim("batch", min=2, max=64)


def rows(n, width=3):
    return torch.randn(n, width)


@case("dyn_batch_linear")
def _():
    return Case(
        nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)),
        (rows(4),),
        dynamic_shapes=({0: BATCH},),
        more={"other": (rows(7),), "most": (rows(64),)},
        forbidden={
            "one": ((rows(1),), ""),
            "many": ((rows(65),), ""),
            "width": ((rows(4, 5),), ""),
        },
        wrong="value",
    )


@case("dyn_auto")
def _():
    return Case(
        Fn(lambda self, x, y: x @ y),
        (rows(4, 5), rows(5, 6)),
        dynamic_shapes=(({0: Dim.AUTO, 1: Dim.AUTO}, {0: Dim.AUTO, 1: Dim.AUTO}),),
        more={"other": (rows(2, 9), rows(9, 3))},
    )


@case("dyn_equal_dims")
def _():
    n = Dim("n")
    return Case(
        Fn(lambda self, x, y: x + y),
        (rows(4), rows(4)),
        dynamic_shapes=(({0: n}, {0: n}),),
        more={"other": (rows(9), rows(9))},
        forbidden={"unequal": ((rows(4), rows(5)), "")},
    )


@case("dyn_derived_dim")
def _():
    n = Dim("n", min=2, max=30)
    return Case(
        Fn(lambda self, x, y: x.repeat(2, 1) + y),
        (rows(4), rows(8)),
        dynamic_shapes=(({0: n}, {0: 2 * n}),),
        more={"other": (rows(5), rows(10))},
        forbidden={"odd": ((rows(5), rows(11)), "")},
    )


@case("dyn_derived_offset")
def _():
    n = Dim("n", min=3, max=30)
    return Case(
        Fn(lambda self, x, y: x[1:] + y),
        (torch.randn(6), torch.randn(5)),
        dynamic_shapes=(({0: n}, {0: n - 1}),),
        more={"other": (torch.randn(9), torch.randn(8))},
    )


@case("dyn_multiple_of_four")
def _():
    n = Dim("n", min=1, max=16)
    return Case(
        Fn(lambda self, x: x.view(x.shape[0] // 4, 4, 3).sum(1)),
        (rows(8),),
        dynamic_shapes=(({0: 4 * n},),),
        more={"other": (rows(12),)},
    )


@case("dyn_view_arange_expand")
def _():
    def run(self, x):
        b, s, d = x.shape
        position = torch.arange(s, device=x.device)
        table = position.unsqueeze(0).expand(b, s)
        mask = torch.full((s, s), float("-inf")).triu(1)
        heads = x.view(b, s, 2, d // 2).transpose(1, 2)
        scores = heads @ heads.transpose(-1, -2) + mask
        y = (scores.softmax(-1) @ heads).transpose(1, 2).reshape(b, s, d)
        return y, table, x[:, : s // 2], x.new_zeros(b, 2 * s + 1), x.flatten(1)

    return Case(
        Fn(run),
        (torch.randn(2, 5, 8),),
        dynamic_shapes=(({0: Dim("b", min=1, max=8), 1: Dim.AUTO},),),
        more={"other": (torch.randn(3, 9, 8),)},
        wrong="shape",
    )


@case("dyn_shape_arithmetic")
def _():
    def run(self, x):
        n = x.shape[0]
        m = x.shape[1]
        return (
            torch.ones(n // 2),
            torch.ones(n * m),
            torch.ones(n + m - 1),
            torch.ones(n % 3 + 1),
            torch.ones(max(n, m)),
            torch.ones(min(n, 6)),
            torch.ones((n + 1) // 2 * 2),
            x * (n / m),
            x * n**0.5,
            torch.ones(n**2),
            x.sum() * float(n),
            torch.ones(-(-n // 4)),
        )

    return Case(
        Fn(run),
        (rows(6, 5),),
        dynamic_shapes=(({0: Dim.AUTO, 1: Dim.AUTO},),),
        more={"other": (rows(7, 9),)},
    )


@case("dyn_int_outputs")
def _():
    def run(self, x):
        n = x.shape[0]
        return x.relu(), n, n * 2, n // 3, x.shape[1]

    return Case(Fn(run), (rows(6),), dynamic_shapes=(({0: BATCH},),), more={"other": (rows(10),)})


@case("dyn_float_bool_outputs")
def _():
    def run(self, x):
        n = x.shape[0]
        return x.relu(), n / 2, n * 0.5

    return Case(Fn(run), (rows(6),), dynamic_shapes=(({0: BATCH},),), more={"other": (rows(10),)})


@case("dyn_conv_downsample")
def _():
    model = nn.Sequential(
        nn.Conv2d(1, 2, 3, stride=2, padding=1), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(2, 2, 1)
    )
    return Case(
        model,
        (torch.randn(2, 1, 16, 16),),
        dynamic_shapes=(
            {0: Dim("b", max=9), 2: Dim("h", min=8, max=64), 3: Dim("w", min=8, max=64)},
        ),
        more={"other": (torch.randn(3, 1, 21, 30),)},
    )


@case("dyn_interpolate")
def _():
    def run(self, x):
        y = nn.functional.interpolate(x, scale_factor=2.0, mode="bilinear")
        return nn.functional.interpolate(y, size=(x.shape[2], x.shape[3]), mode="nearest")

    return Case(
        Fn(run),
        (torch.randn(1, 2, 5, 6),),
        dynamic_shapes=(({2: Dim("h", min=4, max=20), 3: Dim("w", min=4, max=20)},),),
        more={"other": (torch.randn(1, 2, 8, 9),)},
    )


@case("dyn_cat_split_chunk")
def _():
    def run(self, x, y):
        z = torch.cat([x, y])
        a, b = z.split([x.shape[0], y.shape[0]])
        c, d = z.chunk(2, dim=1)
        return a, b, c, d, torch.stack([x[0], y[0]]), z.unbind(1)[0]

    return Case(
        Fn(run),
        (rows(4, 6), rows(5, 6)),
        dynamic_shapes=(({0: Dim("p", min=2, max=20)}, {0: Dim("q", min=2, max=20)}),),
        more={"other": (rows(3, 6), rows(11, 6))},
    )


@case("dyn_lstm")
def _():
    return Case(
        nn.LSTM(3, 4, batch_first=True, bidirectional=True),
        (torch.randn(2, 5, 3),),
        dynamic_shapes=({0: Dim("b", min=2, max=9)},),
        more={"other": (torch.randn(4, 5, 3),)},
    )


@case("dyn_transformer_encoder")
def _():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return Case(
        nn.TransformerEncoder(layer, 2, enable_nested_tensor=False),
        (torch.randn(2, 5, 8),),
        dynamic_shapes=({0: Dim("b", min=2, max=9), 1: Dim("s", min=2, max=30)},),
        more={"other": (torch.randn(3, 7, 8),)},
    )


@case("dyn_decomposed")
def _():
    def run(self, x):
        b, s, d = x.shape
        y = self.l(x).view(b, s, 2, 2).transpose(1, 2).reshape(b * 2, s, 2)
        return y.softmax(-1).sum(0), torch.arange(s * 2)

    return Case(
        Fn(run, l=nn.Linear(4, 4)),
        (torch.randn(2, 5, 4),),
        dynamic_shapes=(({0: Dim("b", min=2, max=9), 1: Dim("s", min=2, max=30)},),),
        change=decomposed,
        more={"other": (torch.randn(3, 7, 4),)},
    )


@case("dyn_guarded_range")
def _():
    def run(self, x):
        torch._check(x.shape[0] <= 10, lambda: "at most ten rows")
        torch._check(x.shape[0] != 5)
        return x.sum(0)

    return Case(
        Fn(run),
        (rows(4),),
        dynamic_shapes=(({0: Dim.DYNAMIC},),),
        more={"other": (rows(9),)},
        forbidden={"five": ((rows(5),), ""), "eleven": ((rows(11),), "")},
    )


@case("dyn_zero_one")
def _():
    return Case(
        Fn(lambda self, x: (x * 2, x.sum(0))),
        (rows(4),),
        dynamic_shapes=(({0: Dim("n", min=0, max=9)},),),
        more={"one": (rows(1),), "zero": (rows(0),)},
    )


@case("dyn_unbounded")
def _():
    return Case(
        Fn(lambda self, x: x.cumsum(0)),
        (rows(4),),
        dynamic_shapes=(({0: Dim("n")},),),
        more={"many": (rows(5000),)},
    )


@case("dyn_backed_by_two_dims")
def _():
    return Case(
        Fn(lambda self, x: (x.reshape(-1), x.reshape(x.shape[0] * x.shape[1], -1))),
        (torch.randn(3, 4, 2),),
        dynamic_shapes=(({0: Dim("n", min=2, max=40), 1: Dim("m", min=2, max=40)},),),
        more={"other": (torch.randn(6, 2, 2),)},
    )


@case("dyn_strided_input")
def _():
    return Case(
        Fn(lambda self, x: (x.contiguous().view(-1), x.sum(1))),
        (torch.randn(3, 4).t(),),
        dynamic_shapes=(({0: Dim("n", min=2, max=40)},),),
    )


@case("dyn_unflatten_pixel_shuffle")
def _():
    def run(self, x):
        return (
            nn.functional.pixel_shuffle(x, 2),
            x.unflatten(1, (2, 4)).flatten(0, 1),
            nn.functional.unfold(x, 3),
        )

    return Case(
        Fn(run),
        (torch.randn(2, 8, 4, 5),),
        dynamic_shapes=(({0: Dim("b", min=2, max=9), 2: Dim("h", min=4, max=20)},),),
        more={"other": (torch.randn(3, 8, 6, 5),)},
    )


@case("dyn_nested_inputs")
def _():
    return Case(
        Fn(lambda self, d: d["a"] + d["b"][0]),
        ({"a": rows(4), "b": [rows(4)]},),
        dynamic_shapes=(({"a": {0: BATCH}, "b": [{0: BATCH}]},),),
        more={"other": ({"a": rows(6), "b": [rows(6)]},)},
    )


@case("dyn_kwargs")
def _():
    class Model(nn.Module):
        def forward(self, x, *, mask):
            return x.masked_fill(mask, 0.0).sum(1)

    return Case(
        Model(),
        (rows(4),),
        {"mask": torch.rand(4, 3) > 0.5},
        dynamic_shapes={"x": {0: BATCH}, "mask": {0: BATCH}},
    )


@case("data_item")
def _():
    def run(self, n, x):
        k = n.item()
        return x * k, k

    return Case(
        Fn(run),
        (torch.tensor(3), torch.randn(4)),
        more={"other": (torch.tensor(-7), torch.randn(4))},
    )


@case("data_item_float_bool")
def _():
    def run(self, f, b, x):
        return x * f.item(), x + b.item()

    return Case(Fn(run), (torch.tensor(2.5), torch.tensor(2, dtype=torch.int32), torch.randn(4)))


@case("data_item_slice")
def _():
    def run(self, n, x):
        k = n.item()
        torch._check(k >= 0)
        torch._check(k <= x.shape[0])
        return torch.narrow(x, 0, 0, k), torch.zeros(k + 1), torch.arange(k)

    return Case(
        Fn(run),
        (torch.tensor(3), torch.randn(6)),
        more={"other": (torch.tensor(5), torch.randn(6))},
        forbidden={"minus": ((torch.tensor(-1), torch.randn(6)), "")},
    )


@case("data_item_view")
def _():
    def run(self, n, x):
        k = n.item()
        torch._check(k > 1)
        torch._check(12 % k == 0)
        return x.view(-1, 3), x.expand(2, 12) * k

    return Case(Fn(run), (torch.tensor(3), torch.randn(12)))


@case("data_nonzero")
def _():
    def run(self, x):
        where = (x > 0).nonzero()
        n = where.shape[0]
        torch._check(n > 1)
        torch._check(n < 100)
        return where, x[where[:, 0]].sum(), torch.ones(n) * 2

    return Case(
        Fn(run),
        (torch.tensor([1.0, -1, 2, 3]),),
        more={"other": (torch.tensor([1.0, 5, -2, 3, -1, 1][:4]),)},
        forbidden={"none": ((-torch.ones(4),), "")},
    )


@case("data_masked_select")
def _():
    def run(self, x):
        chosen = x[x > 0]
        return chosen * 2, chosen.shape[0], x.masked_select(x < 0)

    return Case(
        Fn(run),
        (torch.tensor([1.0, -1, 2, 3]),),
        more={"other": (torch.tensor([-1.0, -1, -2, 3]),)},
    )


@case("data_unique")
def _():
    def run(self, x):
        values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
        return values, inverse, counts

    return Case(Fn(run), (torch.tensor([3, 1, 3, 2, 1]),))


@case("data_repeat_interleave")
def _():
    return Case(
        Fn(lambda self, x, n: (x.repeat_interleave(n, 0), torch.bincount(n))),
        (rows(3), torch.tensor([1, 0, 4])),
    )


@case("data_tolist")
def _():
    def run(self, sizes, x):
        a, b = sizes.tolist()
        torch._check(a >= 0)
        torch._check(b >= 0)
        torch._check(a + b == x.shape[0])
        p, q = torch.split(x, [a, b])
        return p * 2, q + 1

    return Case(
        Fn(run),
        (torch.tensor([2, 4]), rows(6)),
        more={"other": (torch.tensor([5, 1]), rows(6))},
        forbidden={"sum": ((torch.tensor([5, 2]), rows(6)), "")},
    )


@case("data_item_decomposed")
def _():
    def run(self, n, x):
        k = n.item()
        torch._check(k >= 0)
        torch._check(k <= 100)
        return torch.zeros(k, 2) + 1, x * k

    return Case(Fn(run), (torch.tensor(3), torch.randn(4)), change=decomposed)


@case("data_index_put")
def _():
    def run(self, x, m):
        x = x.clone()
        x[m] = 0.0
        x[:, 1] += 5
        return x

    return Case(Fn(run), (rows(4), torch.rand(4, 3) > 0.5))


@case("data_item_cond_shape")
def _():
    def run(self, x):
        n = (x > 0).sum().item()
        torch._check(n >= 2)
        torch._check(n <= 1000)
        y = torch.full((n, 2), 1.5)
        return y.sum(), y.shape[0], n * 2

    return Case(
        Fn(run), (torch.tensor([1.0, 2, 3, -1]),), more={"two": (torch.tensor([1.0, 2, -3, -1]),)}
    )


@case("dyn_sym_minmax_ite")
def _():
    def run(self, x):
        n = x.shape[0]
        a = torch.sym_max(n, 7)
        b = torch.sym_min(n * 2, 9)
        return (
            torch.ones(a),
            torch.ones(b),
            x * torch.sym_float(n),
            x * torch.sym_sqrt(n),
            torch.ones(torch.sym_int(n / 2)),
        )

    return Case(Fn(run), (rows(6),), dynamic_shapes=(({0: Dim.AUTO},),), more={"other": (rows(5),)})


@case("dyn_prefer_deferred_asserts")
def _():
    def run(self, x, y):
        return x + y[: x.shape[0]]

    return Case(
        Fn(run),
        (rows(4), rows(9)),
        dynamic_shapes=(({0: Dim.DYNAMIC}, {0: Dim.DYNAMIC}),),
        more={"other": (rows(5), rows(7))},
    )


@case("dyn_same_shape_guard_code")
def _():
    def run(self, x, y):
        if x.shape[0] + 2 == y.shape[0]:
            return x.sum() + y.sum()
        return x.sum()

    return Case(
        Fn(run),
        (rows(4), rows(6)),
        dynamic_shapes=(({0: Dim.AUTO}, {0: Dim.AUTO}),),
        forbidden={"guard": ((rows(4), rows(7)), "")},
    )
