"""An executor for the harness: a device that computes in float16, bfloat16, tf32 or int8.

    harness --compute-dtype float16 --executor \\
        'python3 harness/examples/simulated_device.py --server --dtype float16'

It keeps weights, inputs and the values of nodes in that dtype, stored as float32, and adds in
float32. Options make it another right device:

    --fuse          rounds only the last value of each chain of nodes, and returns these groups
    --sums          adds products one by one, in this dtype
    --steps         computes softmax, norms and activations from single operations, each rounded
    --table N       looks up activations in a table of N entries per unit
    --float-weights keeps weights as they are
    --integer-bias  in int8, adds biases as whole numbers of steps of the product, as ONNX Runtime,
                    XNNPACK, TFLite and CMSIS-NN do
    --host OPERATOR reports that this operator ran on the host

It reports where each node ran.

In int8, convolutions and linear layers of quantised graphs (PT2E) add products of integers, as in
int32, and a float multiplier and bias make them values again, unless the bias is an integer too; it
returns what lies at the borders of groups, such as quantised values. The harness needs no
--compute-dtype for it.

or a wrong one. --fault KIND=NODE, or KIND=NODE:VALUE, plants a fault in a node:

    scale     its results are VALUE times too large (1.01)
    constant  a number among its arguments (or VALUE) is 1 % too large
    epsilon   its eps is VALUE (1e-3)
    bias      its bias, or the vector that it adds, is missing
    transpose its square weight is transposed
    exchange  it reads the weight of node VALUE, if both are in the graph
    mask      its mask is missing, or not causal
    tanh      its GELU is the tanh approximation
    zero      its zero point is one step too large
    operator  it calls another operator

Needs only a Python with torch.
"""

import json
import math
import pathlib
import sys

import torch
# Operators of quantised archives.
import torch.ao.quantization.fx._decomposed
import torch.nn.functional as F

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "tools"),
                str(pathlib.Path(__file__).resolve().parent)]

import executor  # noqa: E402
from ir_graph import GraphModule, UnknownOperator, find_operator, load_ir, output_names  # noqa: E402
from safetensors_file import read_safetensors, write_safetensors  # noqa: E402


# --- Arithmetic ---


def to_tf32(tensor):
    """Rounds to 10 bits of mantissa, to nearest even."""
    bits = tensor.contiguous().view(torch.int32)
    rounded = (bits + 0xFFF + ((bits >> 13) & 1)) & ~0x1FFF
    return torch.where(tensor.isfinite(), rounded.view(torch.float32), tensor)


ROUND = {"float32": lambda tensor: tensor, "tf32": to_tf32,
         "float16": lambda tensor: tensor.half().float(),
         "bfloat16": lambda tensor: tensor.bfloat16().float(), "int8": lambda tensor: tensor}


def product_in_steps(a, b, rounded):
    """a @ b, added one by one."""
    total = torch.zeros(())
    for k in range(a.shape[-1]):
        total = rounded(total + a[..., k, None] * b[..., k, None, :])
    return total


def sums_of(rounded):
    """Operators that multiply matrices, with rounded sums."""

    def linear(x, weight, bias=None):
        y = product_in_steps(x, weight.t(), rounded)
        return y if bias is None else y + bias

    return {"aten.linear.default": linear,
            "aten.addmm.default": lambda bias, a, b: bias + product_in_steps(a, b, rounded),
            **{name: lambda a, b: product_in_steps(a, b, rounded)
               for name in ("aten.matmul.default", "aten.mm.default", "aten.bmm.default")}}


def steps_of(r):
    """Softmax, norms and activations from operations that are each rounded by `r`."""

    def softmax(x, dim, dtype=None):
        exp = r(torch.exp(r(x - x.amax(dim, keepdim=True))))
        return exp / r(exp.sum(dim, keepdim=True))

    def layer_norm(x, shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
        dims = list(range(-len(shape), 0))
        centred = r(x - r(x.mean(dims, keepdim=True)))
        y = r(centred * r(torch.rsqrt(r(r(centred.square()).mean(dims, keepdim=True) + eps))))
        y = y if weight is None else r(y * weight)
        return y if bias is None else y + bias

    def gelu(x, approximate="none"):
        inner = r(torch.erf(r(x * math.sqrt(0.5)))) if approximate == "none" else r(torch.tanh(
            r(math.sqrt(2 / math.pi) * r(x + r(0.044715 * r(x * r(x * x)))))))
        return r(0.5 * x) * r(1 + inner)

    return {"aten.softmax.int": softmax, "aten._softmax.default": softmax,
            "aten.layer_norm.default": layer_norm, "aten.gelu.default": gelu,
            "aten.silu.default": lambda x: x * r(torch.sigmoid(x))}


def tables_of(entries):
    """Activations from tables on [-16, 16], with straight lines between the entries."""

    def table(function):

        def look_up(x, *args, **kwargs):
            left = torch.floor(x * entries)
            low, high = (function(edge / entries, *args, **kwargs) for edge in (left, left + 1))
            y = low + (high - low) * (x * entries - left)
            return torch.where(x.abs() < 16, y, function(x, *args, **kwargs))

        return look_up

    return {f"aten.{name}.default": table(function) for name, function in
            (("gelu", F.gelu), ("silu", F.silu), ("tanh", torch.tanh), ("sigmoid", torch.sigmoid))}


# --- Integers ---


def in_integers(adds_integers=False):
    """Operators that multiply what they read in int8 as integers; float64 holds the sums."""

    def dequantize(q, scale, zero, *limits, out_dtype=None):
        integers = q.double() - zero
        value = (integers * scale).float()
        value.integers, value.scale = integers, scale
        return value

    def dequantize_rows(q, scales, zeros, axis, *limits, out_dtype=None):
        rows = [-1 if dim == axis else 1 for dim in range(q.dim())]
        return dequantize(q, scales.view(rows), zeros.view(rows))

    def product(operator, dims):

        def multiply(x, weight, bias=None, *args, **options):
            if not (hasattr(x, "integers") and hasattr(weight, "integers")):
                return operator(x, weight, bias, *args, **options)
            rows = (-1, *[1] * dims)
            step = torch.as_tensor(x.scale * weight.scale, dtype=torch.float64).view(rows)
            sums = operator(x.integers, weight.integers, None, *args, **options)
            if bias is None:
                return sums.float() * step.float()
            if adds_integers:
                return ((sums + torch.round(bias.view(rows) / step)) * step).float()
            return sums.float() * step.float() + bias.view(rows)

        return multiply

    dq = "quantized_decomposed.dequantize_per_"
    return {f"{dq}tensor.default": dequantize, f"{dq}tensor.tensor": dequantize,
            f"{dq}channel.default": dequantize_rows, "aten.linear.default": product(F.linear, 0),
            "aten.conv2d.default": product(F.conv2d, 2)}


# --- Groups ---


def fused_groups(ir, between_quantized=False):
    """Chains of nodes, each read by the next one only; or all between quantised values."""
    readers, chains = {}, {}
    for node in ir["nodes"]:
        for name in {tensor["name"] for tensor in node["inputs"]}:
            readers.setdefault(name, []).append(node["name"])
    returned = set(output_names(ir))
    makers = {output["name"]: node for node in ir["nodes"] for output in node["outputs"]}
    for node in ir["nodes"]:
        chain = [node["name"]]
        for tensor in node["inputs"]:
            maker = makers.get(tensor["name"])
            is_alone = maker and len(maker["outputs"]) == 1 and tensor["name"] not in returned and (
                readers[tensor["name"]] == [node["name"]] and maker["name"] in chains)
            if is_alone and not between_quantized and len(chains[maker["name"]]) < 4:
                chain = chains.pop(maker["name"]) + chain
                break
            if is_alone and between_quantized and ".quantize" not in maker["op_type"]:
                chain = chains.pop(maker["name"]) + chain
        chains[node["name"]] = chain
    return [chain for chain in chains.values() if len(chain) > 1]


# --- Faults ---

OTHER = {"aten.gelu.default": "aten.silu.default", "aten.relu.default": "aten.gelu.default",
         "aten.silu.default": "aten.gelu.default", "aten.tanh.default": "aten.sin.default",
         "aten.add.Tensor": "aten.sub.Tensor", "aten.mul.Tensor": "aten.add.Tensor",
         "aten.hardswish.default": "aten.silu.default", "aten.sub.Tensor": "aten.add.Tensor"}


class Fault:
    """A fault in the node of this name. Edits the graph or its weights, or the node's results."""

    def __init__(self, text, ir, weights):
        self.kind, _, place = text.partition("=")
        name, _, self.value = place.partition(":")
        self.node = next(node for node in ir["nodes"] if node["name"] == name)
        self.ir, self.weights = ir, weights
        self.attributes = self.node.setdefault("attrs", {})
        getattr(self, "plant_" + self.kind)()

    def own_weight(self, is_wanted, make):
        """Gives the node a copy of the weight that it reads, changed by `make`."""
        mapping = self.ir["weight_name_mapping"]
        for tensor in self.node["inputs"]:
            weight = self.weights.get(mapping.get(tensor["name"]))
            if weight is not None and is_wanted(weight):
                name = tensor["name"] + "_faulty"
                mapping[name] = name
                self.weights[name] = make(weight)
                tensor["name"] = name
                return
        raise executor.Unsupported(f"'{self.node['name']}' reads no such weight")

    def number(self):
        names = [name for name, value in self.attributes.items()
                 if isinstance(value, float) and value not in (0, math.inf, -math.inf)]
        if not names:
            raise executor.Unsupported(f"'{self.node['name']}' has no such number")
        return names[0]

    def plant_scale(self):
        pass

    def plant_constant(self):
        name = self.number()
        self.attributes[name] = float(self.value or self.attributes[name] * 1.01)

    def plant_epsilon(self):
        name = "eps" if "layer_norm" in self.node["op_type"] or (
            "batch_norm" in self.node["op_type"]) else self.number()
        self.attributes[name] = float(self.value or 1e-3)

    def plant_bias(self):
        self.own_weight(lambda weight: weight.dim() == 1, torch.zeros_like)

    def plant_transpose(self):
        self.own_weight(lambda weight: weight.dim() == 2 and weight.shape[0] == weight.shape[1],
                        lambda weight: weight.t().contiguous())

    def plant_exchange(self):
        mapping = self.ir["weight_name_mapping"]
        weights = [self.weights[mapping[tensor["name"]]] for node in self.ir["nodes"]
                   if node["name"] == self.value for tensor in node["inputs"]
                   if tensor["name"] in mapping]
        for other in [weight for weight in weights if weight.dim() > 1][:1]:
            self.own_weight(lambda weight: weight.shape == other.shape, lambda _: other)

    def plant_mask(self):
        if self.attributes.get("is_causal"):
            self.attributes["is_causal"] = False
            return
        name = self.node["inputs"][3]["name"]
        self.node["inputs"] = [it for it in self.node["inputs"] if it["name"] != name]

    def plant_tanh(self):
        self.attributes["approximate"] = "tanh"

    def plant_zero(self):
        self.attributes["zero_point"] += 1

    def plant_operator(self):
        self.node["op_type"] = OTHER[self.node["op_type"]]
        find_operator(self.node["op_type"])

    def __call__(self, node, values):
        if node["name"] == self.node["name"] and self.kind == "scale":
            for output in node["outputs"]:
                if is_float(values[output["name"]]):
                    values[output["name"]] = values[output["name"]] * float(self.value or 1.01)


# --- The device ---


def is_float(value):
    return isinstance(value, torch.Tensor) and value.dtype == torch.float32


def execute(paths):
    torch.set_num_threads(1)
    rounded = ROUND[paths.dtype]

    def rounded_floats(tensors):
        return {name: rounded(value) if is_float(value) else value
                for name, value in tensors.items()}

    ir, weights = load_ir(paths.ir), read_safetensors(paths.weights)
    inputs = rounded_floats(read_safetensors(paths.inputs))
    is_int8 = paths.dtype == "int8"
    groups = fused_groups(ir, between_quantized=is_int8) if paths.fuse or is_int8 else []
    names = [node["name"] for node in ir["nodes"]]
    faults = [Fault(text, ir, weights) for text in paths.fault or []
              if text.partition("=")[2].partition(":")[0] in names]
    if not paths.float_weights:
        weights = rounded_floats(weights)
    integers = {}
    if is_int8:
        integers = in_integers(adds_integers=True) if paths.integer_bias else in_integers()
    kernels = {**(sums_of(ROUND[paths.sums]) if paths.sums else {}),
               **(steps_of(rounded) if paths.steps else {}),
               **(tables_of(paths.table) if paths.table else {}),
               **integers}
    inside = {name for chain in groups for name in chain[:-1]}
    returned, reported = {}, {}

    def finish(node, values):
        reported[node["name"]] = "host" if node["op_type"] in paths.host else "npu"
        for fault in faults:
            fault(node, values)
        for output in node["outputs"]:
            value = values[output["name"]]
            if node["name"] not in inside and is_float(value):
                value = values[output["name"]] = rounded(value)
            if node["name"] not in inside and isinstance(value, torch.Tensor):
                returned[output["name"]] = value.clone()

    try:
        module = GraphModule(ir, weights, kernels, finish)
    except UnknownOperator as error:
        raise executor.Unsupported(str(error)) from error
    with torch.no_grad():
        outputs = module(*(inputs[tensor["name"]] for tensor in ir["graph_inputs"]))
    write_safetensors(paths.outputs, {
        name: torch.as_tensor(value) for name, value in zip(output_names(ir), outputs)})
    if paths.intermediates:
        write_safetensors(paths.intermediates, returned)
    if paths.groups:
        pathlib.Path(paths.groups).write_text(json.dumps({"groups": [
            {"name": "+".join(chain), "nodes": chain} for chain in groups]}))
    return reported


def add_arguments(parser):
    parser.add_argument("--dtype", choices=ROUND, default="float32")
    parser.add_argument("--fuse", action="store_true")
    parser.add_argument("--sums", choices=ROUND)
    parser.add_argument("--steps", action="store_true")
    parser.add_argument("--table", type=int)
    parser.add_argument("--float-weights", action="store_true")
    parser.add_argument("--integer-bias", action="store_true")
    parser.add_argument("--host", action="append", default=[], metavar="OPERATOR")
    parser.add_argument("--fault", action="append", metavar="KIND=NODE[:VALUE]")


if __name__ == "__main__":
    executor.main(__doc__.split("\n", 1)[0], execute, add_arguments)
