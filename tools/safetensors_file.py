"""Reads and writes safetensors files; needs only torch.

It is for the scripts of this project, which also run without the safetensors package. It trusts the
files: they come from torch-ir, which checks every rule of the format.
"""

import ctypes
import json
import mmap
import pathlib
import struct

import torch

# Names of dtypes in files and in torch; an old torch may lack some. C32 and C128 are torch-ir's own.
_DTYPES = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "U16": "uint16", "I16": "int16", "U32": "uint32",
    "I32": "int32", "U64": "uint64", "I64": "int64", "F16": "float16", "BF16": "bfloat16",
    "F32": "float32", "F64": "float64", "C32": "complex32", "C64": "complex64",
    "C128": "complex128", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2",
    "F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz", "F8_E8M0": "float8_e8m0fnu",
}
DTYPES = {name: getattr(torch, dtype) for name, dtype in _DTYPES.items() if hasattr(torch, dtype)}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def read_safetensors(path):
    """The tensors of a file, by name."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        (length,) = struct.unpack_from("<Q", data)
        tensors = {}
        for name, entry in json.loads(data[8:8 + length]).items():
            if name == "__metadata__":
                continue
            if entry["dtype"] not in DTYPES:
                raise ValueError(f"{path}: tensor '{name}' has unknown dtype {entry['dtype']}")
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            tensor = torch.empty(entry["shape"], dtype=DTYPES[entry["dtype"]])
            if begin < end:
                ctypes.memmove(tensor.data_ptr(), data[begin:end], end - begin)
            tensors[name] = tensor
        return tensors


def write_safetensors(path, tensors):
    """Writes tensors, by name; those with the largest elements first, so that all are aligned."""
    header, data, end = {}, [], 0
    for name, tensor in sorted(tensors.items(), key=lambda item: -item[1].element_size()):
        if tensor.dtype not in NAMES:
            raise ValueError(f"tensor '{name}' has dtype {tensor.dtype}, which safetensors lacks")
        tensor = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
        begin, end = end, end + tensor.numel() * tensor.element_size()
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [begin, end]}
        data.append(ctypes.string_at(tensor.data_ptr(), end - begin) if begin < end else b"")
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data))
