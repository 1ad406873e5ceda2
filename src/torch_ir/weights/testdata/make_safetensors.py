"""Writes the .safetensors files beside it with Python's own safetensors package.

safetensors_test.cc builds the same tensors and compares. Needs torch and safetensors. Run it in
this folder: python3 make_safetensors.py
"""

import torch
from safetensors.torch import save_file

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16",
    "bfloat16", "float32", "float64", "float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz",
    "float8_e4m3fnuz", "complex64",
]  # fmt: skip

if __name__ == "__main__":
    values = torch.tensor([[0.0, 1.0, 2.0], [3.0, 5.0, 7.0]], dtype=torch.float64)
    save_file({name: values.to(getattr(torch, name)) for name in DTYPES}, "dtypes.safetensors")
    shapes = {
        "scalar": torch.tensor(3),
        "empty": torch.zeros(2, 0),
        'quote " line\n \x7f caf\u00e9 \x01': torch.ones(1),
        "b": torch.zeros(1),
        "a": torch.ones(1, 1, 1),
    }
    save_file(shapes, "shapes.safetensors")
    save_file({}, "nothing.safetensors")
    save_file({"a": torch.ones(2)}, "metadata.safetensors", metadata={"format": "pt"})
