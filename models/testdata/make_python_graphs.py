"""Writes the graphs that Python's torch.export makes of the registry's models, one IR file per model.

    python make_python_graphs.py [DIRECTORY]

The files are the proof that capture in C++ gives the graphs that Python gives: a test compares
every graph with them. The models are written a second time here, with Python's torch.nn, because
that is the point. Values of parameters play no part; needs nothing but torch.
"""

import json
import os
import sys

import torch
from torch import nn
from torch.export.graph_signature import InputKind


def encoder():
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(64, 128, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(128, 128),
    )


class SiameseEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = encoder()

    def forward(self, x1, x2):
        return self.encoder(x1), self.encoder(x2)


class MultiTaskHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(3, 32, 3, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(4),
            nn.Flatten(),
        )
        self.classifier = nn.Sequential(nn.Linear(1024, 128), nn.ReLU(), nn.Linear(128, 10))
        self.aux_head = nn.Sequential(nn.Linear(1024, 64), nn.ReLU(), nn.Linear(64, 4))

    def forward(self, x):
        features = self.backbone(x)
        return self.classifier(features), self.aux_head(features)


class ResBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU()

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(y)) + x)


class DeepResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(32)
        self.relu = nn.ReLU()
        self.res_block1 = ResBlock(32)
        self.res_block2 = ResBlock(32)
        self.res_block3 = ResBlock(32)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(32, 10)

    def forward(self, x):
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.res_block3(self.res_block2(self.res_block1(x)))
        return self.fc(self.pool(x).flatten(1))


class DenseLayer(nn.Module):
    def __init__(self, channels, growth):
        super().__init__()
        self.bn = nn.BatchNorm2d(channels)
        self.conv = nn.Conv2d(channels, growth, 3, padding=1)

    def forward(self, x):
        return torch.cat([x, self.conv(torch.relu(self.bn(x)))], dim=1)


class DenseBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(32)
        self.dense1 = DenseLayer(32, 16)
        self.dense2 = DenseLayer(48, 16)
        self.dense3 = DenseLayer(64, 16)
        self.dense4 = DenseLayer(80, 16)
        self.transition = nn.Sequential(
            nn.BatchNorm2d(96), nn.ReLU(), nn.Conv2d(96, 48, 1), nn.AvgPool2d(2)
        )
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(48, 10)

    def forward(self, x):
        x = torch.relu(self.bn1(self.conv1(x)))
        x = self.dense4(self.dense3(self.dense2(self.dense1(x))))
        return self.fc(self.pool(self.transition(x)).flatten(1))


class RecurrentUnroll(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(32, 32)

    def forward(self, x):
        for _ in range(5):
            x = torch.tanh(self.cell(x))
        return x


class WeightTying(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(100, 64)
        self.transform = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64))
        self.output_bias = nn.Parameter(torch.zeros(100))

    def forward(self, x):
        hidden = self.transform(self.embedding(x))
        return nn.functional.linear(hidden, self.embedding.weight, self.output_bias)


class Attention(nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.width = width
        self.heads = heads
        self.head_width = width // heads
        self.q_proj = nn.Linear(width, width)
        self.k_proj = nn.Linear(width, width)
        self.v_proj = nn.Linear(width, width)
        self.out_proj = nn.Linear(width, width)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, self.head_width).transpose(1, 2)

    def attend(self, query, context):
        q = self.split(self.q_proj(query))
        k = self.split(self.k_proj(context))
        v = self.split(self.v_proj(context))
        scores = torch.matmul(q, k.transpose(-2, -1)) / self.head_width**0.5
        out = torch.matmul(scores.softmax(-1), v).transpose(1, 2).contiguous()
        return self.out_proj(out.view(query.size(0), query.size(1), self.width))


class SelfAttention(Attention):
    def forward(self, x):
        return self.attend(x, x)


class CrossAttention(Attention):
    def forward(self, query, context):
        return self.attend(query, context)


class TransformerBlock(Attention):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(64)
        self.norm2 = nn.LayerNorm(64)
        self.ffn = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))

    def forward(self, x):
        x = self.norm1(x + self.attend(x, x))
        return self.norm2(x + self.ffn(x))


class MaskedLinear(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.mask = torch.tensor([1.0, 0.0, 1.0, 0.0])

    def forward(self, x):
        return self.linear(x) * self.mask


class GatherWithIndex(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.indices = torch.tensor([0, 2, 4, 6], dtype=torch.long)

    def forward(self, x):
        return self.linear(x)[:, self.indices]


class BufferVsConstant(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("scale", torch.tensor([2.0, 2.0, 2.0, 2.0]))
        self.offset = torch.tensor([0.1, 0.2, 0.3, 0.4])

    def forward(self, x):
        return self.linear(x) * self.scale + self.offset


MODELS = {
    SiameseEncoder: (torch.rand(1, 3, 64, 64), torch.rand(1, 3, 64, 64)),
    MultiTaskHead: (torch.rand(1, 3, 32, 32),),
    DeepResNet: (torch.rand(1, 3, 32, 32),),
    DenseBlock: (torch.rand(1, 3, 32, 32),),
    RecurrentUnroll: (torch.rand(1, 32),),
    WeightTying: (torch.zeros(1, 16, dtype=torch.long),),
    SelfAttention: (torch.rand(1, 16, 64),),
    CrossAttention: (torch.rand(1, 16, 64), torch.rand(1, 32, 64)),
    TransformerBlock: (torch.rand(1, 16, 64),),
    MaskedLinear: (torch.rand(1, 4),),
    GatherWithIndex: (torch.rand(1, 8),),
    BufferVsConstant: (torch.rand(1, 4),),
}


def tensor_meta(name, value):
    return {
        "name": name,
        "shape": list(value.shape),
        "dtype": str(value.dtype).removeprefix("torch."),
    }


def convert_node(node, producers):
    """One call of the exported graph as a node of the IR: flat tensors, the rest attributes."""
    inputs, attrs, sizes, masks = [], {}, [], []

    def add_input(value):
        meta = tensor_meta(value.name, value.meta["val"])
        if value.name in producers:
            meta |= {"producer_node": value.name, "producer_output_idx": 0}
        inputs.append(meta)

    arguments = [
        (argument.name, node.args[i] if i < len(node.args) else node.kwargs.get(argument.name))
        for i, argument in enumerate(node.target._schema.arguments)
        if i < len(node.args) or argument.name in node.kwargs
    ]
    for name, value in arguments:
        if isinstance(value, torch.fx.Node):
            add_input(value)
        elif isinstance(value, (list, tuple)) and any(
            isinstance(item, torch.fx.Node) for item in value
        ):
            given = [item for item in value if item is not None]
            for item in given:
                add_input(item)
            sizes.append(len(given))
            masks.append([item is None for item in value])
            attrs["_tensor_list_sizes"] = sizes
            if len(given) < len(value):
                attrs["_tensor_list_none_masks"] = masks
        elif value is not None:
            attrs[name] = list(value) if isinstance(value, (list, tuple)) else value
    value = node.meta["val"]
    assert isinstance(value, torch.Tensor), "a model with a multi-output operator"
    op_type = str(node.target)
    return {
        "name": node.name,
        "op_type": op_type,
        "inputs": inputs,
        "outputs": [tensor_meta(node.name, value)],
        "attrs": attrs,
    }


def convert(name, program):
    values = {node.name: node for node in program.graph.nodes}
    specs = program.graph_signature.input_specs
    weights = [spec for spec in specs if spec.kind != InputKind.USER_INPUT]
    user_inputs = [spec for spec in specs if spec.kind == InputKind.USER_INPUT]
    calls = [node for node in program.graph.nodes if node.op == "call_function"]
    producers = {spec.arg.name for spec in user_inputs} | {node.name for node in calls}
    return {
        "model_name": name,
        "pytorch_version": torch.__version__.split("+")[0],
        "graph_inputs": [
            tensor_meta(s.arg.name, values[s.arg.name].meta["val"]) for s in user_inputs
        ],
        "graph_outputs": [
            tensor_meta(s.arg.name, values[s.arg.name].meta["val"])
            for s in program.graph_signature.output_specs
        ],
        "weights": [
            tensor_meta(s.target, values[s.arg.name].meta["val"]) for s in weights
        ],
        "weight_name_mapping": {s.arg.name: s.target for s in weights},
        "nodes": [convert_node(node, producers) for node in calls],
        "constants": {
            key: {"data": value.tolist(), "dtype": str(value.dtype).removeprefix("torch.")}
            for key, value in program.constants.items()
        },
    }


def main():
    directory = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for model, inputs in MODELS.items():
        program = torch.export.export(model().eval(), inputs, strict=False)
        path = os.path.join(directory, model.__name__ + ".json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(convert(model.__name__, program), file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
