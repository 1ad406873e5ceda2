"""Exports a few models with the torch that runs this: make_old.py OUTPUT PREFIX

For old versions of torch, whose archives have other layouts. The manifest line of each case is left in
OUTPUT/PREFIX.json; `merge_old.py` checks the archives with the current torch and merges the lines.
"""

import copy
import json
import pathlib
import sys
import warnings

import torch
import torch.nn.functional as F
import torch.utils._pytree as pytree
from safetensors.torch import save_file
from torch import nn
from torch.export import Dim


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.head = (
            nn.Conv2d(3, 4, 3, padding=1),
            nn.BatchNorm2d(4),
            nn.Linear(16, 5),
        )

    def forward(self, x):
        return self.head(F.adaptive_avg_pool2d(F.relu(self.bn(self.conv(x))), 2).flatten(1))


class Weights(nn.Module):
    def __init__(self):
        super().__init__()
        base = torch.randn(40)
        self.a = nn.Parameter(base[:12].view(3, 4))
        self.b = nn.Parameter(base[8:20].view(4, 3).t())
        self.tied = nn.Linear(4, 3, bias=False)
        self.again = nn.Linear(4, 3, bias=False)
        self.again.weight = self.tied.weight
        self.register_buffer("halves", torch.randn(4).half())
        self.register_buffer("brain", torch.randn(4).bfloat16())
        self.register_buffer("count", torch.tensor(3))
        self.register_buffer("flags", torch.tensor([True, False, True, True]), persistent=False)
        self.register_buffer("expanded", torch.randn(1, 4).expand(2, 4))
        self.register_buffer("empty", torch.empty(0, 4))
        self.register_buffer("complex", torch.randn(4, dtype=torch.complex64))

    def forward(self, x):
        y = x @ self.a.t() + x @ self.b.t() + self.tied(x) - self.again(x) * self.count
        z = x * self.halves + self.brain * self.flags + self.expanded + self.complex.real
        return y, torch.cat([z, self.empty]), x + torch.tensor([1.0, 2.0, 3.0, 4.0])


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.n = nn.MultiheadAttention(8, 2, batch_first=True), nn.LayerNorm(8)

    def forward(self, x):
        mask = torch.full((x.shape[1], x.shape[1]), float("-inf")).triu(1)
        y, w = self.a(x, x, x, attn_mask=mask)
        return self.n(x + y), w


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x):
        self.count.add_(x)
        return self.count * 2


class Constants(nn.Module):
    def forward(self, x, n: int, flag: bool, mode: str, extra=None):
        y = x * n if flag else x
        return {"y": y.sum() if mode == "sum" else y, "none": None, "list": [x, y]}


class NoGrad(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(3, 3)

    def forward(self, x):
        with torch.no_grad():
            y = self.l(x)
        return y + self.l(x)


class Cond(nn.Module):
    def forward(self, p, x):
        return torch.cond(p, lambda x: x.sin(), lambda x: x.cos() + 1, (x,))


class Shapes(nn.Module):
    def forward(self, x):
        b, s, d = x.shape
        y = x.view(b * s, d) + torch.arange(d)
        return y, x.new_zeros(b, s // 2), x[:, : s // 2].reshape(b, -1), s * 2


class Item(nn.Module):
    def forward(self, n, x):
        k = n.item()
        torch._check_is_size(k)
        torch._check(k <= 10)
        return torch.zeros(k) + 1, x * k


class Cast(nn.Module):
    def forward(self, x):
        return (
            x.to(torch.float64),
            x.to("cpu"),
            x / 2,
            torch.split(x, 1)[0],
            torch.max(x, 0)[1],
            torch.chunk(x, 2),
        )


def cases():
    batch = Dim("batch", min=2, max=64)
    half = Dim("half", min=2, max=16)
    yield "cnn", Cnn(), (torch.randn(2, 3, 8, 8),), None, False
    yield "cnn_dynamic", Cnn(), (torch.randn(2, 3, 8, 8),), ({0: batch},), False
    yield "cnn_decomposed", Cnn(), (torch.randn(2, 3, 8, 8),), None, True
    yield "weights", Weights(), (torch.randn(2, 4),), None, False
    yield "attention", Attention(), (torch.randn(2, 5, 8),), None, False
    yield (
        "lstm",
        nn.LSTM(3, 4, batch_first=True, bidirectional=True),
        (torch.randn(2, 5, 3),),
        None,
        False,
    )
    yield "counter", Counter(), (torch.randn(3),), None, False
    yield "counter_decomposed", Counter(), (torch.randn(3),), None, True
    yield "constants", Constants(), (torch.randn(3), 2, True, "sum", None), None, False
    yield "no_grad", NoGrad(), (torch.randn(2, 3),), None, False
    yield "cond", Cond(), (torch.tensor(True), torch.randn(3)), None, False
    yield "shapes", Shapes(), (torch.randn(2, 6, 4),), ({0: batch, 1: 2 * half},), False
    yield "item", Item(), (torch.tensor(3), torch.randn(4)), None, False
    yield "cast", Cast(), (torch.randn(4, 3),), None, False


def as_tensor(value):
    if isinstance(value, torch.Tensor):
        return value.detach().contiguous().clone()
    if isinstance(value, bool):
        return torch.tensor(value)
    if isinstance(value, int):
        return torch.tensor(value, dtype=torch.int64)
    return None


def named(specs, values):
    pairs = [
        (spec.arg.name, as_tensor(value))
        for spec, value in zip(specs, values, strict=True)
        if type(spec.arg).__name__ != "ConstantArgument"
    ]
    return {name: tensor for name, tensor in pairs if tensor is not None}


def main():
    out, prefix = pathlib.Path(sys.argv[1]), sys.argv[2]
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    entries = {}
    for short, model, args, dynamic, decompose in cases():
        torch.manual_seed(len(short))
        name = f"{prefix}_{short}"
        model.eval()
        eager = copy.deepcopy(model)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                strict = isinstance(model, nn.RNNBase)
                program = torch.export.export(model, args, dynamic_shapes=dynamic, strict=strict)
                if decompose:
                    program = program.run_decompositions()
                torch.export.save(program, out / f"{name}.pt2")
        except Exception as error:  # noqa: BLE001 - what a version cannot do is left out
            print(f"{name}: {type(error).__name__}: {str(error)[:200]}")
            continue
        result = eager(*copy.deepcopy(args))
        specs = program.graph_signature
        users_in = [s for s in specs.input_specs if s.kind.name == "USER_INPUT"]
        users_out = [s for s in specs.output_specs if s.kind.name == "USER_OUTPUT"]
        save_file(named(users_in, pytree.tree_leaves(args)), out / f"{name}.inputs.safetensors")
        save_file(
            named(users_out, pytree.tree_leaves(result)), out / f"{name}.expected.safetensors"
        )
        entries[name] = {
            "file": f"{name}.pt2",
            "expect": "ok",
            "note": f"written by torch {torch.__version__}",
            "random": False,
            "rtol": 1e-4,
            "atol": 1e-5,
        }
    (out / f"{prefix}.json").write_text(json.dumps(entries, indent=1) + "\n")
    print(f"{len(entries)} archives by torch {torch.__version__}")


if __name__ == "__main__":
    main()
