"""An executor for the harness: runs a graph with OpenVINO, and reports the nodes that it fuses.

    harness --executor 'python3 harness/examples/openvino_executor.py --server'

It is an example of an engine that compiles. The graph becomes a module (tools/ir_graph.py), then an
ONNX model, which OpenVINO compiles once for all trials on equal shapes. Values become further outputs
only if the harness asks for them: with other outputs the engine may fuse otherwise, so it is compiled
again. The runtime model says which layers became one; these are a group
(harness/backend/groups_format.md), and values inside groups are not returned.

--precision bf16, with --compute-dtype bfloat16 of the harness, computes in bfloat16.

Needs a Python with torch, openvino, onnx and onnxscript. What OpenVINO cannot convert or compile is
unsupported.
"""

import collections
import hashlib
import json
import pathlib
import sys
import tempfile
import warnings

import numpy as np
import torch
# Operators of quantised archives.
import torch.ao.quantization.fx._decomposed

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "tools"),
                str(pathlib.Path(__file__).resolve().parent)]

import executor  # noqa: E402
from ir_graph import UnknownOperator, load_ir  # noqa: E402
from onnxruntime_executor import export, fused_groups  # noqa: E402
from safetensors_file import read_safetensors, write_safetensors  # noqa: E402

MOST_MODELS = 4

# The compiled models, the last used last: a trial on the same shapes needs none of its own.
compiled = collections.OrderedDict()


def makers_in(model, ports, names):
    """The fused layer that makes each value of the graph that remains."""
    fused = {}
    for layer in model.get_runtime_model().get_ordered_ops():
        info = layer.get_rt_info()
        originals = info["originalLayersNames"].astype(str) if "originalLayersNames" in info else ""
        for original in filter(None, str(originals).split(",")):
            fused[original] = layer.get_friendly_name()
    layers = {name: ports[names[name]].get_node().get_friendly_name()
              for name in names if names[name] in ports}
    return {name: fused[layer] for name, layer in layers.items() if layer in fused}


def returned_values(ir, groups):
    """The values of nodes that are read outside of their group."""
    group_of = {node: maker for maker, nodes in groups.items() for node in nodes}
    readers = collections.defaultdict(set)
    for node in ir["nodes"]:
        for tensor in node["inputs"]:
            readers[tensor["name"]].add(group_of.get(node["name"], node["name"]))
    for node in ir["nodes"]:
        for output in node["outputs"]:
            if readers[output["name"]] != {group_of.get(node["name"])}:
                yield output["name"]


def compile_graph(paths, ir, weights, inputs):
    """The compiled model, its groups, and the place of each returned value among its outputs."""
    import onnx
    import openvino

    properties = {"INFERENCE_PRECISION_HINT": paths.precision, "INFERENCE_NUM_THREADS": 1}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "model.onnx"
        exported, names = export(ir, weights, inputs, file)
        onnx.save(exported, file)
        model = openvino.Core().read_model(file)
    compiled_model = openvino.Core().compile_model(model, "CPU", properties)
    ports = {name: port for layer in model.get_ordered_ops() if layer.get_type_name() != "Result"
             for port in layer.outputs() for name in port.get_names()}
    groups = fused_groups(ir, makers_in(compiled_model, ports, names))
    values = []
    if paths.intermediates:
        values = [name for name in returned_values(ir, groups) if names.get(name) in ports]
        model.add_outputs([ports[names[name]] for name in values])
        compiled_model = openvino.Core().compile_model(model, "CPU", properties)
    # A value may be an output anyway.
    places = {name: i for i, port in enumerate(compiled_model.outputs) for name in port.get_names()}
    return compiled_model, groups, {name: places[names[name]] for name in values
                                    if names[name] in places}


def as_tensor(result, meta):
    """OpenVINO returns other dtypes for some, and for tensors without dimensions another shape."""
    array = torch.from_numpy(np.array(result.data, copy=True))
    array = array.to(getattr(torch, meta["dtype"]))
    return array.reshape(meta["shape"]) if array.numel() == np.prod(meta["shape"]) else array


def key_of(paths, inputs):
    files = hashlib.sha256()
    for path in (paths.ir, paths.weights):
        files.update(pathlib.Path(path).read_bytes())
    return files.hexdigest(), tuple(it.shape for it in inputs), bool(paths.intermediates)


def execute(paths):
    ir, weights = load_ir(paths.ir), read_safetensors(paths.weights)
    saved = read_safetensors(paths.inputs)
    inputs = tuple(saved[tensor["name"]] for tensor in ir["graph_inputs"])
    key = key_of(paths, inputs)
    if key not in compiled:
        try:
            compiled[key] = compile_graph(paths, ir, weights, inputs)
        except (RuntimeError, UnknownOperator, torch.onnx.OnnxExporterError) as error:
            reason = str(error).strip().split("\n")[-1]
            raise executor.Unsupported(f"{type(error).__name__}: {reason}") from error
        while len(compiled) > MOST_MODELS:
            compiled.popitem(last=False)
    compiled.move_to_end(key)
    model, groups, values = compiled[key]
    request = model.create_infer_request()
    # torch.export names them inputs_0, inputs_1, ...; the model lacks those that nothing reads.
    request.infer({port: inputs[int(port.any_name.rsplit("_", 1)[1])].numpy()
                   for port in model.inputs})
    metas = {output["name"]: output for node in ir["nodes"] for output in node["outputs"]}
    write_safetensors(paths.outputs, {
        meta["name"]: as_tensor(request.get_output_tensor(i), meta)
        for i, meta in enumerate(ir["graph_outputs"])})
    if paths.intermediates:
        write_safetensors(paths.intermediates, {
            name: as_tensor(request.get_output_tensor(i), metas[name])
            for name, i in values.items()})
    if paths.groups:
        pathlib.Path(paths.groups).write_text(json.dumps({"groups": [
            {"name": maker, "nodes": nodes} for maker, nodes in sorted(groups.items())]}))


def main():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    executor.main(__doc__.split("\n", 1)[0], execute,
                  lambda parser: parser.add_argument("--precision", default="f32"))


if __name__ == "__main__":
    main()
