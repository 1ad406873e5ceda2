"""Control flow and the other higher-order operators."""

import torch
from torch import nn
from torch.export import Dim

from archive_case import Case, case, decomposed
from cases_signature import Fn


@case("cond_tensor_pred")
def _():
    def run(self, p, x):
        return torch.cond(p, lambda x: x.sin(), lambda x: x.cos() + 1, (x,))

    return Case(
        Fn(run),
        (torch.tensor(True), torch.randn(3)),
        more={"false": (torch.tensor(False), torch.randn(3))},
        wrong="value",
    )


@case("cond_computed_pred")
def _():
    def run(self, x):
        return torch.cond(
            x.sum() > 0, lambda x: (x * 2, x.sum()), lambda x: (x - 1, x.mean()), (x,)
        )

    return Case(Fn(run), (torch.ones(3),), more={"false": (-torch.ones(3),)})


@case("cond_closes_over_parameters")
def _():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)
            self.register_buffer("c", torch.randn(3))

        def forward(self, p, x):
            return torch.cond(p, lambda x: self.a(x) + self.c, lambda x: self.b(x).relu(), [x])

    return Case(
        Model(),
        (torch.tensor(True), torch.randn(2, 3)),
        more={"false": (torch.tensor(False), torch.randn(2, 3))},
    )


@case("cond_nested")
def _():
    def run(self, p, q, x):
        def inner(x):
            return torch.cond(q, lambda x: x + 1, lambda x: x - 1, (x,))

        return torch.cond(p, inner, lambda x: x * 3, (x,))

    t, f = torch.tensor(True), torch.tensor(False)
    return Case(
        Fn(run),
        (t, t, torch.randn(3)),
        more={"tf": (t, f, torch.randn(3)), "ft": (f, t, torch.randn(3))},
    )


@case("cond_symbolic_pred")
def _():
    def run(self, x):
        return torch.cond(x.shape[0] > 4, lambda x: x.sum(0), lambda x: x.prod(0), (x,))

    return Case(
        Fn(run),
        (torch.randn(6, 2),),
        dynamic_shapes=(({0: Dim("n", min=2, max=20)},),),
        more={"small": (torch.randn(3, 2),)},
    )


@case("cond_dynamic_operands")
def _():
    def run(self, p, x):
        n = x.shape[0]
        return torch.cond(p, lambda x: x * n, lambda x: x + n, (x,))

    return Case(
        Fn(run),
        (torch.tensor(True), torch.randn(4, 2)),
        dynamic_shapes=((None, {0: Dim("n", min=2, max=64)}),),
        more={"other": (torch.tensor(False), torch.randn(7, 2))},
    )


@case("cond_no_operands")
def _():
    def run(self, p, x):
        return x + torch.cond(p, lambda: torch.ones(3), lambda: torch.zeros(3))

    return Case(Fn(run), (torch.tensor(False), torch.randn(3)))


@case("cond_decomposed")
def _():
    def run(self, p, x):
        return torch.cond(p, lambda x: self.l(x), lambda x: x.relu(), (x,))

    return Case(
        Fn(run, l=nn.Linear(3, 3)), (torch.tensor(True), torch.randn(2, 3)), change=decomposed
    )


@case("cond_item_pred")
def _():
    def run(self, p, x):
        return torch.cond(p.item() > 2, lambda x: x + 1, lambda x: x - 1, (x,))

    return Case(
        Fn(run), (torch.tensor(3), torch.randn(3)), more={"no": (torch.tensor(1), torch.randn(3))}
    )


def while_loop(cond, body, carried):
    return torch._higher_order_ops.while_loop(cond, body, carried)


@case("while_loop_counter")
def _():
    def run(self, i, x):
        return while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * 2), (i, x))

    return Case(
        Fn(run),
        (torch.tensor(0), torch.randn(3)),
        more={"never": (torch.tensor(9), torch.randn(3))},
        wrong="value",
    )


@case("while_loop_closes_over_weights")
def _():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.Linear(3, 3)
            self.register_buffer("limit", torch.tensor(4))

        def forward(self, x):
            def cond(i, x):
                return i < self.limit

            def body(i, x):
                return i + 1, self.cell(x).tanh()

            return while_loop(cond, body, (torch.tensor(0), x))[1]

    return Case(Model(), (torch.randn(2, 3),))


@case("while_loop_with_cond")
def _():
    def run(self, x):
        def body(i, x):
            return i + 1, torch.cond(x.sum() > 10, lambda x: x - 3, lambda x: x * 2, (x,))

        return while_loop(lambda i, x: i < 6, body, (torch.tensor(0), x))

    return Case(Fn(run), (torch.ones(3),))


@case("while_loop_dynamic")
def _():
    def run(self, x):
        return while_loop(
            lambda i, x: i < x.shape[0], lambda i, x: (i + 1, x + i), (torch.tensor(0), x)
        )

    return Case(
        Fn(run),
        (torch.ones(5, 2),),
        dynamic_shapes=(({0: Dim("n", min=2, max=9)},),),
        more={"other": (torch.ones(8, 2),)},
    )


@case("while_loop_decomposed")
def _():
    def run(self, i, x):
        return while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * 2), (i, x))

    return Case(Fn(run), (torch.tensor(0), torch.randn(3)), change=decomposed)


@case("hop_scan")
def _():
    from torch._higher_order_ops.scan import scan

    def run(self, init, xs):
        return scan(lambda c, x: (c + x, c * x), init, xs, dim=0)

    return Case(Fn(run), (torch.zeros(3), torch.randn(4, 3)), refuse="scan")


@case("hop_map")
def _():
    from torch._higher_order_ops.map import map as hop_map

    def run(self, xs, y):
        return hop_map(lambda x, y: x.sin() + y, xs, y)

    return Case(Fn(run), (torch.randn(4, 3), torch.randn(3)), refuse="map_impl")


@case("hop_associative_scan")
def _():
    from torch._higher_order_ops.associative_scan import associative_scan

    def run(self, xs):
        return associative_scan(lambda a, b: a + b, xs, dim=0, combine_mode="generic")

    return Case(Fn(run), (torch.randn(4, 3),), refuse="associative_scan")


@case("hop_invoke_subgraph")
def _():
    from torch.compiler import nested_compile_region

    @nested_compile_region
    def block(x):
        return x.sin() + 1

    def run(self, x):
        return block(block(x))

    return Case(Fn(run), (torch.randn(3),), strict=True, either="invoke_subgraph")
