"""Plants faults in models, one at a time, and counts which of them the harness finds.

    torch-ir import bert.pt2 --output models/bert
    python3 harness/examples/plant_faults.py bazel-bin/harness/harness models/bert

Each folder has ir.json, weights.safetensors and inputs.safetensors. The faults are those of
simulated_device.py: in operators, constants, weights, biases, epsilons, masks and zero points, and
results that are 1 % or 0.2 % too large. Each runs in a copy of the model, by outputs alone, with
returned values, and in groups, in each --dtype. The table has a row for each of these runs:

    faults   planted, some without an effect in the dtype
    failed   whose outputs the harness rejects
    named    whose node, or group, is the first difference
    others   where another node is the first difference

Needs only a Python with torch.
"""

import argparse
import collections
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import executor
import simulated_device
from ir_graph import load_ir

MOVES = ("view", "reshape", "transpose", "permute", "expand", "slice", "select", "squeeze", "full",
         "dropout", "contiguous", "clone", "detach", "flatten", "alias", "arange", "_to_copy",
         "aten.to.", "zeros", "ones", "scalar_tensor", "quantize")
NUMBERS = ("aten.mul.Tensor", "aten.div.Tensor", "aten.add.Tensor", "aten.pow.Tensor_Scalar")


def faults_of_node(node, ir):
    """(kind, fault) for each fault that the node can have."""
    mapping, name, op = ir["weight_name_mapping"], node["name"], node["op_type"]
    attributes, output = node.get("attrs", {}), node["outputs"][0]
    weights = [tensor for tensor in node["inputs"] if tensor["name"] in mapping]
    number = attributes.get("other", attributes.get("exponent"))
    if output["dtype"] == "float32" and not all(size == 1 for size in output["shape"]):
        if not any(part in op for part in MOVES):
            yield "1 %", f"scale={name}:1.01"
            yield "0.2 %", f"scale={name}:1.002"
        if op in NUMBERS and isinstance(number, float):
            is_epsilon = op == "aten.add.Tensor" and 0 < number < 1e-3
            yield ("epsilon", f"epsilon={name}:1e-3") if is_epsilon else (
                "constant", f"constant={name}")
        if any(len(tensor["shape"]) == 1 for tensor in weights[1:]):
            yield "bias", f"bias={name}"
        for tensor in weights:
            shape = tensor["shape"]
            if len(shape) == 2 and shape[0] == shape[1] and "embedding" not in op:
                yield "transpose", f"transpose={name}"
            others = [other["name"] for other in ir["nodes"] for it in other["inputs"]
                      if other is not node and len(shape) > 1 and it["shape"] == shape
                      and mapping.get(it["name"], mapping[tensor["name"]])
                      != mapping[tensor["name"]]]
            if others:
                yield "exchange", f"exchange={name}:{others[0]}"
        if op in simulated_device.OTHER and len(node["inputs"]) == (2 if number is None and op in
                                                                    NUMBERS else 1):
            yield "operator", f"operator={name}"
    if any(norm in op for norm in ("layer_norm", "batch_norm", "rms_norm")):
        yield "epsilon", f"epsilon={name}:1e-3"
    if "scaled_dot_product" in op and (attributes.get("is_causal") or len(node["inputs"]) > 3):
        yield "mask", f"mask={name}"
    if op == "aten.gelu.default" and attributes.get("approximate", "none") == "none":
        yield "tanh", f"tanh={name}"
    if "quantize_per_tensor" in op and "zero_point" in attributes:
        yield "zero", f"zero={name}"


def choose_faults(ir, count):
    """As many of each kind as possible, in a fixed random order."""
    by_kind = collections.defaultdict(list)
    for node in ir["nodes"]:
        if node["outputs"]:
            for kind, fault in faults_of_node(node, ir):
                by_kind[kind].append(fault)
    for faults in by_kind.values():
        random.Random(0).shuffle(faults)
    chosen = []
    while len(chosen) < count and any(by_kind.values()):
        for faults in by_kind.values():
            if faults and len(chosen) < count:
                chosen.append(faults.pop())
    return chosen


def serve(plan):
    """The executor: each model has its own options in the file `plan`."""
    options = json.loads(pathlib.Path(plan).read_text())

    def execute(paths):
        defaults = {"fuse": False, "sums": None, "steps": False, "table": None,
                    "float_weights": False, "fault": None}
        simulated_device.execute(argparse.Namespace(
            **{**vars(paths), **defaults, **options[paths.name]}))

    sys.argv = [sys.argv[0], "--server"]
    executor.main("plant_faults", execute)


def run(harness, folder, dtype, mode, faults, directory):
    """The results of the harness, one for each fault."""
    plan, arguments = {}, []
    ir = json.loads((folder / "ir.json").read_text())
    for i, fault in enumerate(faults):
        copy = directory / f"{folder.name}_{i:03d}"
        copy.mkdir()
        ir["model_name"] = copy.name
        (copy / "ir.json").write_text(json.dumps(ir))
        for tensors in ("weights", "inputs"):
            (copy / f"{tensors}.safetensors").symlink_to(folder / f"{tensors}.safetensors")
        plan[copy.name] = {"dtype": dtype, "fault": [fault], "fuse": mode == "groups"}
        arguments += ["--ir", str(copy)]
    (directory / "plan.json").write_text(json.dumps(plan))
    if dtype != "float32":
        arguments += ["--compute-dtype", dtype]
    if mode != "outputs":
        arguments.append("--per-node")
    server = f"{sys.executable} {pathlib.Path(__file__).resolve()} --serve {directory}/plan.json"
    subprocess.run([harness, *arguments, "--trials", "1", "--quiet", "--executor-server", server,
                    "--output", str(directory / "reports")], check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    models = json.loads((directory / "reports/results.json").read_text())["models"]
    return {model["name"]: model for model in models}


def count(results, faults, prefix):
    """failed, named, others."""
    counts = collections.Counter()
    for i, fault in enumerate(faults):
        result = results[f"{prefix}_{i:03d}"]
        counts["failed"] += result["status"] == "failed"
        first = (result["node_report"] or {}).get("first_divergence")
        if not first:
            continue
        node = fault.partition("=")[2].partition(":")[0]
        is_named = first["node"]["node"] == node or node in first["node"]["group"].split("+")
        counts["named" if is_named else "others"] += 1
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("harness", type=pathlib.Path)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--dtype", action="append", choices=simulated_device.ROUND)
    parser.add_argument("--faults", type=int, default=48, help="for each model (48)")
    arguments = parser.parse_args()
    print("| model | dtype | judged by | faults | failed | named | others |")
    print("|---|---|---|--:|--:|--:|--:|")
    for folder in map(pathlib.Path.resolve, arguments.folders):
        faults = choose_faults(load_ir(folder / "ir.json"), arguments.faults)
        for dtype in arguments.dtype or ["float32", "bfloat16", "float16"]:
            for mode in ("outputs", "values", "groups"):
                with tempfile.TemporaryDirectory() as directory:
                    results = run(arguments.harness.resolve(), folder, dtype, mode, faults,
                                  pathlib.Path(directory))
                counts = count(results, faults, folder.name)
                print(f"| {folder.name} | {dtype} | {mode} | {len(faults)} | {counts['failed']} | "
                      f"{counts['named']} | {counts['others']} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2])
    else:
        main()
