"""Plants faults in models, one at a time, and counts which of them the harness finds.

    torch-ir import bert.pt2 --output models/bert
    python3 harness/examples/plant_faults.py bazel-bin/harness/harness models/bert

Each folder has ir.json, weights.safetensors and inputs.safetensors. The faults are those of
simulated_device.py: in operators, constants, weights, biases, epsilons, masks and zero points, and
results that are 1 % or 0.2 % too large. Each runs in a copy of the model, in each --dtype (int8
only for quantised models, PT2E) and each --mode:

    outputs  the device returns no values of nodes
    split    nor here; but each call runs alone too (--split; in int8, each group)
    values   it returns the value of each node
    groups   it returns the values at the borders of groups, as in int8 always

The table has a row for each of these runs:

    faults   planted, some without an effect in the dtype; for `split`, only those whose call runs
             alone: not exchanges, nor calls that equal another one of a model that passes
    failed   whose outputs, or returned values, the harness rejects
    named    whose node, or group, is the first difference; for `split`, whose call fails alone
    others   where that is another node, group or call
    large    whose node has an own error of at least two roundings
    of them  are named

With --right it runs right devices of all kinds on --seeds inputs and counts false alarms instead.

Needs only a Python with torch.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile
import threading

import torch

import executor
import simulated_device
from ir_graph import load_ir
from safetensors_file import read_safetensors, write_safetensors

MOVES = ("view", "reshape", "transpose", "permute", "expand", "slice", "select", "squeeze", "full",
         "dropout", "contiguous", "clone", "detach", "flatten", "alias", "arange", "_to_copy",
         "aten.to.", "zeros", "ones", "scalar_tensor", "quantize")
MODES = ("outputs", "split", "values", "groups")
COUNTS = ("faults", "failed", "named", "others", "large", "of them")
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
        if any(len(tensor["shape"]) == 1 for tensor in weights[1:]) and "quantize" not in op:
            yield "bias", f"bias={name}"
        for tensor in weights:
            shape = tensor["shape"]
            if len(shape) == 2 and shape[0] == shape[1] and "embedding" not in op:
                yield "transpose", f"transpose={name}"
            others = [other["name"] for other in ir["nodes"] for it in other["inputs"]
                      if other is not node and len(shape) > 1 and it["shape"] == shape
                      and "_." not in op  # Writing to another weight is another fault.
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


class Harness:
    """Runs the harness on simulated devices in this process: torch then starts only once."""

    def __init__(self, program, directory):
        self._program, self._directory, self._plan = program, directory, {}
        simulated_device.add_arguments(parser := argparse.ArgumentParser())
        self._defaults = vars(parser.parse_args([]))
        paths = [f"{directory}/requests", f"{directory}/answers"]
        for path in paths:
            os.mkfifo(path)
        self._server = "cat {1} & exec cat > {0}".format(*map(shlex.quote, paths))
        threading.Thread(target=self._serve, args=paths, daemon=True).start()

    def _serve(self, requests, answers):
        # Opened in both directions, so that neither ends when the shell does.
        with open(os.open(requests, os.O_RDWR)) as lines:
            with open(os.open(answers, os.O_RDWR), "w", buffering=1) as out:
                for line in lines:
                    print(json.dumps(executor.answer(self._execute, json.loads(line))), file=out)

    def _execute(self, paths):
        # Calls that run alone have other names than the model, which is then the only one.
        options = self._plan.get(paths.name) or next(iter(self._plan.values()))
        simulated_device.execute(argparse.Namespace(**{**self._defaults, **vars(paths), **options}))

    def run(self, folder, plan, *flags, inputs=None):
        """Its results for devices with the options in `plan`, each on a copy of the model."""
        self._plan, ir = plan, load_ir(folder / "ir.json")
        dtype = next(iter(plan.values()))["dtype"]
        flags += ("--compute-dtype", dtype) if dtype not in ("float32", "int8") else ()
        with tempfile.TemporaryDirectory(dir=self._directory) as directory:
            flags += ("--trials", "1", "--quiet", "--output", f"{directory}/reports")
            for name in plan:
                copy = pathlib.Path(directory, name)
                copy.mkdir()
                (copy / "ir.json").write_text(json.dumps({**ir, "model_name": name}))
                (copy / "weights.safetensors").symlink_to(folder / "weights.safetensors")
                write_safetensors(copy / "inputs.safetensors", inputs[name] if inputs else
                                  read_safetensors(folder / "inputs.safetensors"))
                flags += ("--ir", copy)
            ended = subprocess.run([self._program, *flags, "--executor", self._server],
                                   check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if ended.returncode > 1:
                sys.exit(ended.stdout.decode())
            return json.loads(pathlib.Path(directory, "reports/results.json").read_text())


def run_faults(harness, folder, dtype, mode, faults):
    """The results of the model, and of its calls alone, for each fault."""
    plan = {f"{folder.name}_{i:03d}": {"dtype": dtype, "fault": [fault], "fuse": mode == "groups"}
            for i, fault in enumerate(faults)}
    if mode != "split":
        flags = ["--per-node"] if mode != "outputs" else []
        return [(model, []) for model in harness.run(folder, plan, *flags)["models"]]
    # One by one, since equal calls of several models would run only once.
    runs = [harness.run(folder, {name: {**options, "intermediates": None}}, "--split")
            for name, options in plan.items()]
    return [(run["models"][0], run["cases"]) for run in runs]


def count(results, faults, ir, dtype, mode):
    """The numbers in COUNTS."""
    is_int8 = dtype == "int8"
    chains = simulated_device.fused_groups(ir, is_int8) if is_int8 or mode == "groups" else []
    # Which has the value of the group, and names its case.
    last_of = {node: chain[-1] for chain in chains for node in chain}
    counts = collections.Counter()
    for (model, cases), fault in zip(results, faults, strict=True):
        node = fault.partition("=")[2].partition(":")[0]
        place = last_of.get(node, node)
        # Calls that equal another one run alone only if the model fails.
        if cases and (fault.startswith("exchange") or not any(
                case["call"]["occurrences"][0]["node"] == place for case in cases)):
            continue
        report = model["node_report"] or {}
        first = report.get("first_divergence")
        names = {it["node"] for case in cases if case["status"] == "failed"
                 for it in case["call"]["occurrences"]}
        if first and not cases:
            names = {first["node"], *first["group"].split("+")}
        is_named = bool(names & {node, place})
        is_large = any(ir["nodes"][error["index"]]["name"] == place and
                       error.get("rms_ratio", 0) >= 2 for error in report.get("errors", []))
        counts.update({"faults": 1, "failed": model["status"] == "failed", "named": is_named,
                       "others": bool(names) and not is_named,
                       "large": is_large, "of them": is_large and is_named})
    return counts


# The first two are right in float32.
RIGHT_IN_INT8 = ({}, {"integer_bias": True})
RIGHT = ({}, {"fuse": True}, {"steps": True}, {"steps": True, "fuse": True}, {"table": 64},
         {"float_weights": True})


def other_inputs(folder, seed):
    """The model's inputs, with their elements in another order."""
    torch.manual_seed(seed)
    return {name: value.flatten()[torch.randperm(value.numel())].view(value.shape)
            for name, value in read_safetensors(folder / "inputs.safetensors").items()}


def count_alarms(harness, folder, dtype, num_seeds):
    """The numbers of runs and of false alarms."""
    inputs = {f"{folder.name}_{seed}": other_inputs(folder, seed) for seed in range(num_seeds)}
    statuses = []
    devices = RIGHT_IN_INT8 if dtype == "int8" else RIGHT[:2] if dtype == "float32" else RIGHT
    for options in devices:
        plan = dict.fromkeys(inputs, {**options, "dtype": dtype})
        statuses += [model["status"] for model in harness.run(
            folder, plan, "--per-node", inputs=inputs)["models"]]
    return len(statuses), sum(status not in ("passed", "not held") for status in statuses)


def rows(harness, folder, dtype, arguments):
    if arguments.right:
        yield count_alarms(harness, folder, dtype, arguments.seeds)
        return
    ir = load_ir(folder / "ir.json")
    faults = choose_faults(ir, arguments.faults)
    for mode in arguments.mode or MODES:
        counts = count(run_faults(harness, folder, dtype, mode, faults), faults, ir, dtype, mode)
        yield mode, *(int(counts[name]) for name in COUNTS)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("harness", type=pathlib.Path)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--dtype", action="append", choices=simulated_device.ROUND)
    parser.add_argument("--mode", action="append", choices=MODES)
    parser.add_argument("--faults", type=int, default=40, help="for each model (40)")
    parser.add_argument("--right", action="store_true", help="right devices, no faults")
    parser.add_argument("--seeds", type=int, default=10, help="with --right (10)")
    arguments = parser.parse_args()
    columns = ["runs", "alarms"] if arguments.right else ["judged by", *COUNTS]
    print(f"| {' | '.join(['model', 'dtype', *columns])} |\n|{'---|' * (len(columns) + 2)}")
    with tempfile.TemporaryDirectory() as directory:
        harness = Harness(arguments.harness.resolve(), pathlib.Path(directory))
        for folder in map(pathlib.Path.resolve, arguments.folders):
            for dtype in arguments.dtype or ["float32", "bfloat16", "float16"]:
                for row in rows(harness, folder, dtype, arguments):
                    print(f"| {' | '.join(map(str, [folder.name, dtype, *row]))} |", flush=True)


if __name__ == "__main__":
    main()
