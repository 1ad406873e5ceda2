"""An executor for the harness: runs a graph with Python's torch.

    harness --executor 'python3 harness/examples/torch_executor.py {ir} {weights} {inputs} \\
        {outputs}'

To compare every node too:

    harness --executor 'python3 \\
        harness/examples/torch_executor.py {ir} {weights} {inputs} {outputs} {intermediates}'

With --executor 'python3 harness/examples/torch_executor.py --server' torch is imported once for
many graphs.

Needs only a Python with torch. To try your own kernels, call `main` from a script:

    torch_executor.main(kernels={"aten.gelu.default": my_gelu})
"""

import pathlib
import sys

import torch

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "tools"),
                str(pathlib.Path(__file__).resolve().parent)]

import executor  # noqa: E402
from ir_graph import GraphModule, UnknownOperator, load_ir, output_names  # noqa: E402
from safetensors_file import read_safetensors, write_safetensors  # noqa: E402


def as_tensor(value):
    """Numbers become tensors without dimensions, as in files; Python's floats are float64."""
    if isinstance(value, torch.Tensor):
        return value
    return torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else None)


class Recorder:
    """Keeps copies of the values that each node returns: a later node may write to them in place."""

    def __init__(self):
        self.tensors = {}

    def __call__(self, node, values):
        for output in node["outputs"]:
            value = values[output["name"]]
            if value is not None:
                self.tensors[output["name"]] = as_tensor(value).clone()


def run(ir, weights, inputs, kernels=None, on_call=None):
    """The outputs of the graph, by name."""
    module = GraphModule(ir, weights, kernels, on_call)
    with torch.no_grad():
        outputs = module(*(inputs[tensor["name"]] for tensor in ir["graph_inputs"]))
    return {name: as_tensor(value) for name, value in zip(output_names(ir), outputs)}


def main(kernels=None):
    # As in the harness: other numbers of threads add in another order.
    torch.set_num_threads(1)

    def execute(paths):
        recorder = Recorder() if paths.intermediates else None
        try:
            outputs = run(load_ir(paths.ir), read_safetensors(paths.weights),
                          read_safetensors(paths.inputs), kernels, recorder)
        except UnknownOperator as error:
            raise executor.Unsupported(str(error)) from error
        write_safetensors(paths.outputs, outputs)
        if recorder:
            write_safetensors(paths.intermediates, recorder.tensors)

    executor.main(__doc__.split("\n", 1)[0], execute)


if __name__ == "__main__":
    main()
