"""An executor for the harness: runs a graph with ONNX Runtime.

    harness --executor 'python3 harness/examples/onnxruntime_executor.py {ir} {weights} {inputs} \\
        {outputs}'

and with --executor-server 'python3 harness/examples/onnxruntime_executor.py --server' for many graphs.

The graph becomes a module, torch.onnx.export makes an ONNX model of it, and ONNX Runtime runs that
on the CPU. Needs a Python with torch, onnxruntime and onnxscript. With {intermediates} at the end
(and --executor-intermediates) the values of all nodes are outputs of the ONNX model too, so that
ONNX Runtime fuses less than it does without.

What torch.onnx does not convert, and what ONNX Runtime has no kernel for, is not supported. What else
cannot be run here fails with a message: graphs that need data to know their shapes, and dtypes that
numpy does not have.
"""

import pathlib
import sys
import tempfile
import warnings

import torch

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "tools"),
                str(pathlib.Path(__file__).resolve().parent)]

import executor  # noqa: E402
from ir_graph import GraphModule, load_ir  # noqa: E402
from safetensors_file import read_safetensors, write_safetensors  # noqa: E402


class WithIntermediates(torch.nn.Module):
    """Returns the graph outputs, and behind them the values of the nodes."""

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


def run_onnx(module, inputs):
    """What ONNX Runtime computes for `module`, as a list of tensors."""
    import onnxruntime
    from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as NoKernel

    with torch.no_grad():
        program = torch.export.export(module, inputs)
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "model.onnx")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        try:
            torch.onnx.export(program, inputs, path, dynamo=True, verbose=False)
            session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
        except (torch.onnx.OnnxExporterError, NoKernel) as error:
            raise executor.Unsupported(str(error).strip().split("\n", 1)[0]) from error
        names = [placeholder.name for placeholder in session.get_inputs()]
        feeds = {name: tensor.numpy() for name, tensor in zip(names, inputs, strict=True)}
        return [torch.from_numpy(array) for array in session.run(None, feeds)]


def execute(paths):
    ir, weights = load_ir(paths.ir), read_safetensors(paths.weights)
    saved = read_safetensors(paths.inputs)
    inputs = tuple(saved[tensor["name"]] for tensor in ir["graph_inputs"])
    names = [tensor["name"] for tensor in ir["graph_outputs"]]
    if paths.intermediates:
        module = WithIntermediates(ir, weights)
        results = run_onnx(module, inputs)
        write_safetensors(paths.intermediates, dict(zip(module.names, results[len(names):])))
    else:
        results = run_onnx(GraphModule(ir, weights), inputs)
    write_safetensors(paths.outputs, dict(zip(names, results)))


def main():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    executor.main(__doc__.split("\n", 1)[0], execute)


if __name__ == "__main__":
    main()
