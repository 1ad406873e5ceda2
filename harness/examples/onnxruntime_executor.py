"""An executor for the harness: runs a graph with ONNX Runtime, and reports the nodes that it fuses.

    harness --executor 'python3 harness/examples/onnxruntime_executor.py {ir} {weights} {inputs} \\
        {outputs} {intermediates} --groups {groups}'

or --executor 'python3 harness/examples/onnxruntime_executor.py --server' for many graphs.

The graph becomes a module, and torch.onnx.export makes an ONNX model from it. ONNX Runtime writes its
optimised model (SessionOptions.optimized_model_filepath), and the executor runs that. Values keep their
names there, so the remaining values show which nodes became one: these form a group
(harness/backend/groups_format.md). {intermediates} gets the remaining values.

--fault OPERATOR makes the results of each fused node of that ONNX operator 1 % too large, to show how
the harness finds such a fault: SkipLayerNormalization, FusedMatMul, ...

Needs a Python with torch, onnxruntime and onnxscript. Graphs that torch.onnx cannot convert, or that
need kernels that ONNX Runtime lacks, are unsupported. Graphs with data-dependent shapes, or with dtypes
that numpy lacks, fail with a message.
"""

import json
import pathlib
import sys
import tempfile
import warnings

import torch
# Operators of quantised archives.
import torch.ao.quantization.fx._decomposed

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "tools"),
                str(pathlib.Path(__file__).resolve().parent)]

import executor  # noqa: E402
from ir_graph import GraphModule, load_ir, output_names  # noqa: E402
from safetensors_file import read_safetensors, write_safetensors  # noqa: E402

FAULT = 1.01


class WithValues(torch.nn.Module):
    """Returns the graph outputs, followed by the values of the nodes."""

    def __init__(self, ir, weights):
        super().__init__()
        self.names = [output["name"] for node in ir["nodes"] for output in node["outputs"]]
        self._values = {}
        self.module = GraphModule(ir, weights, on_call=self._record)

    def _record(self, node, values):
        for output in node["outputs"]:
            # A copy: a later node may write to it in place.
            self._values[output["name"]] = values[output["name"]].clone()

    def forward(self, *inputs):
        outputs = self.module(*inputs)
        return (*outputs, *(self._values.pop(name) for name in self.names))


def export(ir, weights, inputs, path):
    """The ONNX model of the graph, and the names of the graph's values in it."""
    import onnx

    module = WithValues(ir, weights)
    with torch.no_grad():
        program = torch.export.export(module, inputs)
    torch.onnx.export(program, inputs, path, dynamo=True, verbose=False, external_data=False)
    model = onnx.load(path)
    num_outputs = len(output_names(ir))
    sources = {node.output[0]: node.input[0] for node in model.graph.node
               if node.op_type == "Identity"}
    names = {}
    for name, output in zip(module.names, model.graph.output[num_outputs:]):
        names[name] = output.name
        while names[name] in sources:
            names[name] = sources[names[name]]
    # Removed after the export, since outputs cannot be fused.
    del model.graph.output[num_outputs:]
    return model, names


def optimize(model, folder):
    """The model as ONNX Runtime optimises it before it runs."""
    import onnx
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # Above this level, the model works only on this CPU.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(folder / "optimized.onnx")
    onnx.save(model, folder / "model.onnx")
    onnxruntime.InferenceSession(folder / "model.onnx", options, ["CPUExecutionProvider"])
    return onnx.load(options.optimized_model_filepath)


def makers_in(optimized, names):
    """Which node of `optimized` makes each value of the graph that remains, by its position."""
    makers = {output: i for i, node in enumerate(optimized.graph.node) for output in node.output}
    return {name: makers[names[name]] for name in names if names[name] in makers}


def fused_groups(ir, makers):
    """The nodes of the graph that became one node of the engine, by what `makers` calls that.

    `makers` says which node of the engine makes a value of the graph, for the values that remain. That
    node computes the graph's node. Where no value remains, the node became part of its reader, if it
    has exactly one. It stays alone if it also reaches the group through a node outside of it.
    """
    readers, groups, group_of, reached_by = {}, {}, {}, {}
    for node in reversed(ir["nodes"]):
        values = [output["name"] for output in node["outputs"]]
        found = {makers[name] for name in values if name in makers}
        if not found:
            found = {group_of.get(reader) for name in values for reader in readers.get(name, [])}
        after = {reader for name in values for reader in readers.get(name, [])}
        outside = [reached_by[reader] for reader in after if group_of.get(reader) not in found]
        if len(found) == 1 and None not in found and not found & set().union(*outside):
            group_of[node["name"]] = found.pop()
            groups.setdefault(group_of[node["name"]], []).insert(0, node["name"])
        reached_by[node["name"]] = {group_of.get(node["name"])}.union(
            *(reached_by[reader] for reader in after))
        for tensor in node["inputs"]:
            readers.setdefault(tensor["name"], set()).add(node["name"])
    return {maker: nodes for maker, nodes in groups.items() if len(nodes) > 1}


def plant_fault(optimized, positions):
    import onnx

    for position in sorted(positions, reverse=True):
        node = optimized.graph.node[position]
        right, node.output[0] = node.output[0], node.output[0] + "_right"
        factor = onnx.helper.make_node("Constant", [], [right + "_factor"], value_float=FAULT)
        wrong = onnx.helper.make_node("Mul", [node.output[0], right + "_factor"], [right])
        optimized.graph.node.insert(position + 1, factor)
        optimized.graph.node.insert(position + 2, wrong)


def run(optimized, inputs, folder):
    """The outputs by name."""
    import onnx
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    onnx.save(optimized, folder / "run.onnx")
    session = onnxruntime.InferenceSession(folder / "run.onnx", options, ["CPUExecutionProvider"])
    feeds = {placeholder.name: tensor.numpy()
             for placeholder, tensor in zip(session.get_inputs(), inputs, strict=True)}
    outputs = [output.name for output in session.get_outputs()]
    return {name: torch.from_numpy(array) for name, array in zip(outputs, session.run(None, feeds))}


def execute(paths):
    import onnx
    from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as NoKernel

    ir, weights = load_ir(paths.ir), read_safetensors(paths.weights)
    saved = read_safetensors(paths.inputs)
    inputs = tuple(saved[tensor["name"]] for tensor in ir["graph_inputs"])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            model, names = export(ir, weights, inputs, folder / "exported.onnx")
            optimized = optimize(model, folder)
            groups = fused_groups(ir, makers_in(optimized, names))
            operators = {maker: optimized.graph.node[maker].op_type for maker in groups}
            plant_fault(optimized, [it for it in operators if operators[it] == paths.fault])
            outputs = [output.name for output in optimized.graph.output]
            made = {output for node in optimized.graph.node for output in node.output}
            left = {name for name in names.values() if name in made}
            if paths.intermediates:
                optimized.graph.output.extend(onnx.ValueInfoProto(name=name)
                                              for name in sorted(left.difference(outputs)))
            results = run(optimized, inputs, folder)
        except (torch.onnx.OnnxExporterError, NoKernel) as error:
            raise executor.Unsupported(str(error).strip().split("\n", 1)[0]) from error
    write_safetensors(paths.outputs, {name: results[output]
                                      for name, output in zip(output_names(ir), outputs)})
    if paths.intermediates:
        write_safetensors(paths.intermediates, {
            name: results[names[name]] for name in names if names[name] in results})
    if paths.groups:
        pathlib.Path(paths.groups).write_text(json.dumps({"groups": [
            {"name": f"{operators[maker]}_{nodes[-1]}", "nodes": nodes}
            for maker, nodes in sorted(groups.items())]}))


def main():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    executor.main(__doc__.split("\n", 1)[0], execute, lambda parser: parser.add_argument("--fault"))


if __name__ == "__main__":
    main()
