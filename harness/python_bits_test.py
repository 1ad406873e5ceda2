"""Tests that level exact gives the bits of Python's torch, where LibTorch calls its own oneDNN.

  python_bits_test.py TORCH_IR

It needs a python3 with the version of torch that TORCH_IR was built with.
"""

import os
import subprocess
import sys
import tempfile
import warnings

import torch
from torch import nn

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from safetensors_file import read_safetensors, write_safetensors  # noqa: E402

warnings.simplefilter("ignore")


class IntegerProduct(nn.Module):
    """A linear layer with dynamic int8 quantization, as torchao writes it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 128, (256, 256), dtype=torch.int8))

    def forward(self, x):
        scale = x.abs().amax(1, keepdim=True) / 127
        codes = (x / scale).round().to(torch.int8)
        return torch._int_mm(codes, self.weight) * scale


class ConformerConvolution(nn.Module):
    def __init__(self, channels=96):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(channels, 2 * channels, 1),
            nn.GLU(dim=1),
            nn.Conv1d(channels, channels, 31, padding=15, groups=channels),
            nn.BatchNorm1d(channels),
            nn.SiLU(),
            nn.Conv1d(channels, channels, 1),
        )

    def forward(self, x):
        return x + self.layers(x)


CASES = {
    "int_mm": (IntegerProduct, (64, 256)),
    "conformer": (ConformerConvolution, (2, 96, 120)),
    "grouped": (lambda: nn.Conv2d(32, 64, 3, padding=1, groups=2), (2, 32, 28, 28)),
    "dilated": (lambda: nn.Conv2d(32, 48, 3, padding=4, dilation=4), (1, 32, 40, 40)),
    "dilated_depthwise": (lambda: nn.Conv2d(24, 24, 5, dilation=3, groups=24), (2, 24, 32, 32)),
    "conv3d": (lambda: nn.Conv3d(16, 32, 3, padding=1, groups=2), (1, 16, 12, 24, 24)),
    "transposed": (lambda: nn.ConvTranspose2d(24, 24, 3, 2, groups=3), (1, 24, 20, 20)),
    "bfloat16": (lambda: nn.Linear(192, 320).bfloat16(), (48, 192)),
}


def run(torch_ir, folder, model, x):
    """What torch-ir computes for an archive of the model."""
    paths = [os.path.join(folder, name) for name in ("model.pt2", "x.safetensors", "y.safetensors")]
    program = torch.export.export(model, (x,))
    torch.export.save(program, paths[0])
    write_safetensors(paths[1], {program.graph_signature.user_inputs[0]: x})
    subprocess.run([torch_ir, "execute", paths[0], "--inputs", paths[1], "--outputs", paths[2]],
                   check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    (result,) = read_safetensors(paths[2]).values()
    return result


def main():
    torch_ir = os.path.abspath(sys.argv[1])
    said = subprocess.run([torch_ir, "--version"], check=True, capture_output=True, text=True).stdout
    version = torch.__version__.partition("+")[0]
    if f"LibTorch {version}" not in said:
        sys.exit(f"Python's torch is {version}, but {said}")
    torch.set_num_threads(1)
    different = []
    for name, (make, shape) in CASES.items():
        torch.manual_seed(0)
        model = make().eval()
        dtype = next(model.parameters(), torch.empty(0)).dtype
        x = torch.randn(shape).to(dtype)
        with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
            expected, found = model(x), run(torch_ir, folder, model, x)
        if not torch.equal(expected, found):
            error = (expected.double() - found.double()).abs().max().item()
            different.append(f"{name} (max abs. error {error:.2e})")
    if different:
        sys.exit("not bit-identical to Python: " + ", ".join(different))


if __name__ == "__main__":
    main()
