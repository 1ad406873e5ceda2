"""Writes a float model and two of its quantised forms, for --against: make_against.py OUTPUT

against_float.pt2, against_pt2e.pt2 with one scale that is five times too small, and
against_torchao.pt2. Prints, for some of their tensors, the SQNR in dB, the share of saturated
values, and the range: what against_float_test.cc expects.
"""

import copy
import io
import pathlib
import sys
import zipfile

import torch
import torchao.quantization as ao
from torch import nn
from torchao.utils import unwrap_tensor_subclass

from cases_quantized import pt2e
from make_small import without_traces


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.relu = nn.ReLU(inplace=True)
        self.layers = nn.Sequential(nn.Linear(16, 8), nn.ReLU())
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        x = self.relu(self.norm(self.conv(x)))
        x = torch.max_pool2d(x, 4).flatten(1)
        return self.head(self.layers(x))


def spoil(model, source):
    """Makes the scale of the node that quantises `source` five times too small."""
    for node in model.graph.nodes:
        if node.op != "call_function" or "quantize_per_tensor" not in str(node.target):
            continue
        value = node.args[0]
        if "dequantize" in str(node.target) and value.args:
            value = value.args[0]
        if value.name == source:
            node.update_arg(1, node.args[1] / 5)
    model.recompile()


def values(program, args):
    """The value of every node of the program, by name."""

    class Recorder(torch.fx.Interpreter):
        def run_node(self, node):
            recorded[node.name] = super().run_node(node)
            kept = recorded[node.name]
            if isinstance(kept, torch.Tensor):
                recorded[node.name] = kept.clone()
            return kept

    recorded = {}
    weights = {**program.state_dict, **program.constants}
    targets = {
        **program.graph_signature.inputs_to_parameters,
        **program.graph_signature.inputs_to_buffers,
        **program.graph_signature.inputs_to_lifted_tensor_constants,
    }
    given = iter(args)
    with torch.no_grad():
        Recorder(program.graph_module).run(
            *[
                weights[targets[node.name]] if node.name in targets else next(given)
                for node in program.graph.nodes
                if node.op == "placeholder"
            ]
        )
    return recorded


def show(expected, actual, floats, quantized):
    signal, noise = floats[expected].double(), floats[expected].double() - quantized[actual].double()
    sqnr = 10 * torch.log10(signal.square().sum() / noise.square().sum())
    ranges = (float(of.min()) for of in (quantized[actual], floats[expected]))
    print(f'{{"{expected}", "{actual}", {sqnr:.9g}', *(f"{it:.9g}" for it in ranges), sep=", ")


def saturated(value, dequantized, recorded):
    """Counts values at a bound, unless the bound stands for 0, as after a ReLU."""
    is_bound = (recorded[value] == -128) | (recorded[value] == 127)
    count = int((is_bound & (recorded[dequantized] != 0)).sum())
    print("saturated", dequantized, count, "of", int(is_bound.sum()), is_bound.numel())


def save(program, path):
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    plain = zipfile.ZipFile(io.BytesIO(without_traces(buffer.getvalue())))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as small:
        for item in plain.infolist():
            small.writestr(zipfile.ZipInfo(item.filename), plain.read(item), zipfile.ZIP_DEFLATED)


def main():
    out = pathlib.Path(sys.argv[1])
    torch.manual_seed(0)
    model, args = Net(), (torch.randn(2, 1, 8, 8),)
    for _ in range(3):
        model(torch.randn(16, 1, 8, 8) * 2 + 1)
    model.eval()
    program = torch.export.export(model, args)
    save(program, out / "against_float.pt2")
    floats = values(program, args)

    quantized = pt2e(copy.deepcopy(model), args).model[0]
    spoil(quantized, "relu")
    program = torch.export.export(quantized, args)
    save(program, out / "against_pt2e.pt2")
    recorded = values(program, args)
    for expected, actual in (
        ("x", "dequantize_per_tensor_3"),
        ("batch_norm", "conv2d"),
        ("relu_", "dequantize_per_tensor_4"),
        ("relu", "dequantize_per_tensor_7"),
        ("linear_1", "dequantize_per_tensor_8"),
    ):
        show(expected, actual, floats, recorded)
    for node in program.graph.nodes:
        if ".dequantize_per_tensor" in str(node.target) and "param" not in node.args[0].name:
            saturated(node.args[0].name, node.name, recorded)

    # Only this layer, to keep the graph small.
    ao.quantize_(
        model, ao.Int8DynamicActivationInt8WeightConfig(), lambda _, name: name == "layers.0"
    )
    program = torch.export.export(unwrap_tensor_subclass(model), args)
    save(program, out / "against_torchao.pt2")
    recorded = values(program, args)
    for expected, actual in (("linear", "to_5"), ("linear_1", "linear")):
        show(expected, actual, floats, recorded)


if __name__ == "__main__":
    main()
