"""Writes version_2.json: the additions of version 2 of the IR format, as Python's json module writes them.

Run it in this folder. Only the standard library is needed.
"""

import json


def tensor(name, shape, dtype="float32", producer=None, **rest):
    value = {"name": name, "shape": shape, "dtype": dtype}
    if producer:
        value |= {"producer_node": producer, "producer_output_idx": 0}
    return value | rest


def node(name, op_type, inputs, output, attrs, **rest):
    return {
        "name": name,
        "op_type": op_type,
        "inputs": inputs,
        "outputs": [output],
        "attrs": attrs,
    } | rest


def x(producer="x"):
    return tensor(producer, ["s0", 3], producer=producer)


negative = {
    "graph_inputs": [tensor("arg0_1", ["s0", 3])],
    "graph_outputs": [x("neg")],
    "nodes": [node("neg", "aten.neg.default", [x("arg0_1")], tensor("neg", ["s0", 3]), {})],
}
same = {
    "graph_inputs": [tensor("arg0_1", ["s0", 3])],
    "graph_outputs": [x("arg0_1")],
    "constant_outputs": [{"index": 1, "value": None}],
    "nodes": [],
}

IR = {
    "format_version": 2,
    "model_name": "Dynamic",
    "pytorch_version": "2.13.0",
    "graph_inputs": [tensor("x", ["s0", 3])],
    "graph_outputs": [
        tensor("add", [], "int64", "add", mutates="b_count"),
        tensor("view", ["3*s0"], producer="view"),
        tensor("mul", [], "int64", "mul", scalar=True, expression="2*s0"),
    ],
    "constant_outputs": [{"index": 2, "value": None}, {"index": 4, "value": 7}],
    "weights": [tensor("count", [], "int64")],
    "weight_name_mapping": {"b_count": "count"},
    "constant_inputs": {"scale": 0.5, "mode": "sum", "mask": None},
    "range_constraints": {"s0": [2, 16], "2*s0": [4, None]},
    "nodes": [
        node(
            "sym_size_int",
            "aten.sym_size.int",
            [x()],
            tensor("sym_size_int", [], "int64", scalar=True, expression="s0"),
            {"dim": 0},
        ),
        node(
            "mul",
            "_operator.mul",
            [],
            tensor("mul", [], "int64", scalar=True, expression="2*s0"),
            {"a": 2, "b": {"value": "sym_size_int"}},
        ),
        node(
            "add",
            "aten.add.Tensor",
            [tensor("b_count", [], "int64")],
            tensor("add", [], "int64"),
            {"other": 1},
        ),
        node(
            "gt",
            "_operator.gt",
            [],
            tensor("gt", [], "bool", scalar=True),
            {"a": {"value": "mul"}, "b": 8},
        ),
        node(
            "cond",
            "higher_order.cond",
            [x()],
            tensor("cond", ["s0", 3]),
            {"_tensor_list_sizes": [1], "pred": {"value": "gt"}},
            graphs=[negative, same],
        ),
        node(
            "view", "aten.view.default", [x("cond")], tensor("view", ["3*s0"]), {"size": [-1]}
        ),
    ],
}

if __name__ == "__main__":
    with open("version_2.json", "w", encoding="utf-8") as file:
        json.dump(IR, file, indent=2)
