"""Writes python_form.json: Python's own json.dump of an IR with awkward values.

json_test.cc builds the same IR and compares byte for byte. The Python package must read it too, all
but the module path. Needs torch and pytorch-ir. Run it in this folder: python3 make_python_form.py
"""

import json
import math

import torch_ir


def tensor(name, shape, dtype="float32", producer=None, index=0):
    meta = {"name": name, "shape": shape, "dtype": dtype}
    if producer is not None:
        meta["producer_node"] = producer
        meta["producer_output_idx"] = index
    return meta


FLOATS = [
    0.0, -0.0, 1.0, -1.5, 0.1, 1e-4, 1e-5, 0.00012345, 123456.789, 1e15, 9999999999999998.0,
    1e16, 1.2345e16, 1e22, 1e23, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308,
    0.30000000000000004, 100.0, 2.5e-10, math.nan, math.inf, -math.inf,
]

IR = {
    "model_name": "caf\u00e9 \"quoted\" \\ / \b\f\n\r\t \x01 \x7f \u2028 \U0001f600",
    "pytorch_version": "2.13.0",
    "graph_inputs": [tensor("x", [1, 4]), tensor("scalar", [], "int64")],
    "graph_outputs": [tensor("op_1", [0, 4], "float64", "op", 1)],
    "weights": [tensor("a.b", [2, 0])],
    "weight_name_mapping": {"p_a_b": "a.b", "c_\u00fc": "\u00fc"},
    "nodes": [
        {
            "name": "op",
            "op_type": "no_such_library.op.default",
            "inputs": [tensor("x", [1, 4], "float32", "x", 0), tensor("p_a_b", [2, 0])],
            "outputs": [tensor("op_0", [1, 4]), tensor("op_1", [0, 4], "float64")],
            "attrs": {
                "floats": FLOATS,
                "integers": [0, -1, 2**53 + 1, 2**63 - 1, -(2**63)],
                "nothing": None,
                "flags": [True, False],
                "empty": [],
                "nested": [[1, [2, []]], [None, "NaN", "Infinity", "-Infinity"]],
                "text": "mean",
                "": "an empty name",
            },
            "module": "encoder.layers.0",
        },
        {
            "name": "no_attributes",
            "op_type": "no_such_library.op.default",
            "inputs": [],
            "outputs": [],
            "attrs": {},
        },
    ],
    "constants": {
        "float64": {"data": [[0.1, math.nan], [-math.inf, -0.0]], "dtype": "float64"},
        "int64": {"data": [-(2**63), 2**63 - 1], "dtype": "int64"},
        "bool": {"data": [True, False], "dtype": "bool"},
        "scalar": {"data": 3, "dtype": "int32"},
        "rows": {"data": [[], []], "dtype": "float32"},
        "none": {"data": [], "dtype": "float16"},
    },
}

if __name__ == "__main__":
    with open("python_form.json", "w") as file:
        json.dump(IR, file, indent=2)
    read = torch_ir.IR.load("python_form.json").to_dict()
    del IR["nodes"][0]["module"]
    assert json.dumps(read) == json.dumps(IR), "the Python package reads another graph"
