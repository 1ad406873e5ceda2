"""Writes python_package.json: an IR as the Python package itself makes and saves it.

Needs torch and pytorch-ir. Run it in this folder: python3 make_python_package.py
"""

import torch
from torch import nn
from torch_ir import extract_ir


class Mixed(nn.Module):
    """Several outputs of one node, a lifted constant, -inf, a number for a tensor."""

    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(4)
        self.c = torch.tensor([0, 1])

    def forward(self, x, y):
        first, second, third = torch.split(x, [1, 2, 1], 1)
        values, indices = torch.max(y, 1)
        masked = x.masked_fill(x > 0, float("-inf"))
        normalized = self.bn(torch.cat([first, third, second], 1))
        return normalized, values, indices, masked[:, self.c], y, self.bn.weight / 2.0


if __name__ == "__main__":
    inputs = (torch.randn(2, 4), torch.randn(2, 3))
    ir = extract_ir(Mixed().eval(), inputs, model_name="Mixed", strict=False)
    ir.save("python_package.json")
