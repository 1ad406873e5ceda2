#!/usr/bin/env python3
"""Fails if a C++ file names operators of PyTorch for their properties, which belong in
src/torch_ir/operators/operator_facts.txt."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Folders and files that name operators for another reason than their properties.
ALLOWED = {
    "models/": "calls of operators",
    "src/torch_ir/exporter/capture/": "the calls of C++ as Python makes them",
    "src/torch_ir/exporter/meta/meta_device.cc": "the last step of torch::tensor",
    "src/torch_ir/exporter/pt2/": "nodes that stand for Python's, and known faults of archives",
    "src/torch_ir/operators/op_handler_registry.cc": "implementations",
    "src/torch_ir/properties/": "random graphs of tests",
    "src/torch_ir/python_operators/": "implementations",
    "src/torch_ir/fast/": "implementations",
    "src/torch_ir/ir/program.cc": "as_strided, which reads beyond its argument",
    "src/torch_ir/runtime/kernels/": "implementations",
}
TEST = re.compile(r"_test\.cc$|/testing/|/benchmark/|^tools/fuzz/")
# "aten.relu.default", "aten::relu"; one or several in a string. A comment is left out.
NAMES = re.compile(r'//.*|"((?:(?:aten|prims|quantized\w*|torchao)(?:\.|::)[\w.]+\*? ?)+)"')


def main():
    listed = subprocess.run(
        ["git", "ls-files", "*.cc", "*.h"], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True
    )
    found = []
    for path in listed.stdout.split():
        if TEST.search(path) or path.startswith(tuple(ALLOWED)):
            continue
        for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").split("\n"), 1):
            found += [f"{path}:{number}: {m[1]}" for m in NAMES.finditer(line) if m[1]]
    if found:
        sys.exit("\n".join(found) + "\nProperties of operators belong in operator_facts.txt.")


if __name__ == "__main__":
    main()
