"""Writes the .pt files beside it as Python's torch.save and torch.jit.save do.

torch_file_test.cc and pt_test.cc build the same values and compare. Needs torch and numpy. Run it in
this folder: python3 make_pt.py
"""

import argparse
import warnings
import zipfile
from collections import OrderedDict
from typing import Dict

import numpy
import torch
from torch import nn

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16",
    "bfloat16", "float32", "float64", "float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz",
    "float8_e4m3fnuz", "float8_e8m0fnu", "complex32", "complex64", "complex128",
]  # fmt: skip


def every_dtype():
    values = torch.tensor([[1.0, 1.0, 2.0], [4.0, 8.0, 16.0]], dtype=torch.float64)
    return {name: values.to(getattr(torch, name)) for name in DTYPES}


def shared():
    base = torch.arange(24.0).view(4, 6)
    return {
        "base": base,
        "tied": base,
        "transposed": base.t(),
        "sliced": base[1:3, 2:5],
        "expanded": base[3].expand(2, 6),
        "element": base[2, 3],
        "nothing": base[0:0],
        "scalar": torch.tensor(5),
        "empty": torch.empty(2, 0, 3),
    }


def state_dict():
    model = nn.Sequential(nn.Linear(2, 1), nn.BatchNorm1d(1))
    for number, tensor in enumerate(model.state_dict().values()):
        tensor.fill_(number)
    return model.state_dict()


def checkpoint():
    """All that Python's own types can be."""
    return {
        "model": state_dict(),
        "epoch": 3,
        "none": None,
        "flags": [True, False],
        "integers": (0, 255, 65535, -1, 2**31, -(2**63), 2**63 - 1),
        "big": [2**63, -(2**64), 2**70],
        "floats": [0.5, -1e300, float("inf")],
        "complex": 1 + 2j,
        "text": "caf\u00e9 \U0001f525",
        "long text": "a" * 300,
        "bytes": [b"", b"\x00\xff", bytearray(b"ab"), bytearray()],
        "sets": [{7}, frozenset([8])],
        "empty": [(), [], {}],
        "tuples": [(1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)],
        "dtype": torch.float16,
        "layout": torch.strided,
        "device": torch.device("cuda", 1),
        "size": torch.Size([2, 3]),
        "storage": torch.ones(2).untyped_storage(),
        7: "seven",
    }


def unsupported():
    return {
        "sparse": torch.eye(2).to_sparse(),
        "compressed": torch.eye(2).to_sparse_csr(),
        "quantized": torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8),
        "nested": torch.nested.nested_tensor([torch.ones(1), torch.ones(2)]),
        "meta": torch.empty(2, device="meta"),
        "packed": torch.zeros(2, dtype=torch.uint8).view(torch.float4_e2m1fn_x2),
        "array": numpy.arange(3),
        "scalar": numpy.float64(0.5),
    }


def with_attributes():
    parameter = nn.Parameter(torch.ones(2))
    parameter.tag = "own attribute"
    return {
        "parameter": nn.Parameter(torch.ones(2)),
        "attributed": parameter,
        "buffer": nn.Buffer(torch.zeros(2)),
        "conjugate": torch.tensor([1 + 2j]).conj(),
        "negative": torch.tensor([1 + 2j]).conj().imag,
    }


class Script(nn.Module):
    """A module with an attribute that looks like a state dict."""

    table: Dict[str, torch.Tensor]

    def __init__(self):
        super().__init__()
        self.table = {"entry": torch.ones(2)}
        self.inner = nn.Sequential(nn.Linear(2, 1), nn.BatchNorm1d(1))
        self.inner.load_state_dict(state_dict())

    def forward(self, x):
        return self.inner(x) + self.table["entry"]


def write_deflated(source, path):
    """What another zip program makes of a file, without the folder."""
    with zipfile.ZipFile(source) as archive:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as deflated:
            for name in archive.namelist():
                deflated.writestr(name.split("/", 1)[1], archive.read(name))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.save(state_dict(), "python_state_dict.pt")
    torch.save(every_dtype(), "dtypes.pt")
    torch.save(shared(), "shared.pt")
    for protocol in range(1, 6):
        torch.save(checkpoint(), f"checkpoint_{protocol}.pt", pickle_protocol=protocol)
    write_deflated("checkpoint_2.pt", "checkpoint_deflated.pt")
    torch.save(unsupported(), "unsupported.pt")
    torch.save(with_attributes(), "attributes.pt")
    torch.save({"first": state_dict(), "more": {"second.ema": state_dict()}}, "two_state_dicts.pt")
    torch.save(OrderedDict(w=torch.ones(2), _extra_state={"a": 1}), "extra_state.pt")
    torch.save({"model": OrderedDict(), "epoch": 3}, "empty_checkpoint.pt")
    torch.save(nn.Linear(2, 1), "module.pt")
    torch.save({"model": state_dict(), "args": argparse.Namespace(a=1)}, "namespace.pt")
    torch.serialization.set_crc32_options(False)
    torch.save(state_dict(), "without_checksums.pt")
    torch.serialization.set_crc32_options(True)
    torch.jit.script(Script()).save("script.pt")
