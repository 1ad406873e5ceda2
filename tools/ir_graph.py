"""Runs graphs of torch-ir with Python's torch: IR files as modules.

The executors in harness/examples and peers_benchmark.py use it. Needs only torch.
src/torch_ir/ir/ir_format.md describes the files.

    ir = load_ir("ir.json")
    module = GraphModule(ir, read_safetensors("weights.safetensors"))
    outputs = module(*inputs)
"""

import json
import math
import operator
import pathlib

import torch

COND, WHILE_LOOP = "higher_order.cond", "higher_order.while_loop"
SCAN, MAP = "higher_order.scan", "higher_order.map_impl"
GET_ITEM = "<built-in function getitem>"
LIST_SIZES, LIST_NONE_MASKS = "_tensor_list_sizes", "_tensor_list_none_masks"

# Schemas that torch lacks.
SCHEMAS = {
    COND: "builtin::cond(Tensor pred, Tensor[] operands) -> Tensor[]",
    WHILE_LOOP: "builtin::loop(Tensor[] carried_inputs, Tensor[] additional_inputs) -> Tensor[]",
    SCAN: "builtin::scan(Tensor[] init, Tensor[] xs, Tensor[] additional_inputs) -> Tensor[]",
    MAP: "builtin::map(Tensor[] xs, Tensor[] pos_args) -> Tensor[]",
}
# Operators of ExecuTorch's edge dialect, for a torch without executorch.
EDGE_SCHEMAS = {
    "_to_dim_order_copy": (
        "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
        "bool? pin_memory=None, bool non_blocking=False, int[]? dim_order=None) -> Tensor",
        lambda self, *, dim_order=None, **options: torch.ops.aten._to_copy(
            self, **options, memory_format=memory_format_of(dim_order))),
    "_clone_dim_order": (
        "(Tensor self, *, bool non_blocking=False, int[]? dim_order=None) -> Tensor",
        lambda self, *, non_blocking=False, dim_order=None: torch.clone(
            self, memory_format=memory_format_of(dim_order))),
}
EDGE_LIBRARY = torch.library.Library("dim_order_ops", "FRAGMENT")
# Modules with functions on numbers, and the order of the arguments.
NUMBER_MODULES = {"_operator": operator, "math": math, "torch": torch}
NUMBER_ARGUMENTS = ("a", "x", "b", "t", "f")


# --- Files ---


def load_ir(path):
    return json.loads(pathlib.Path(path).read_text())


def output_names(ir):
    """The outputs of a run: the graph's, then the state, which is what nodes write to in place."""
    return [tensor["name"] for tensor in ir["graph_outputs"]] + ir.get("state", [])


def constant(entry):
    """The value of a constant of the IR."""
    dtype = getattr(torch, entry["dtype"])
    data, shape = entry["data"], entry.get("shape")
    if dtype.is_complex:
        value = torch.view_as_complex(torch.tensor(data, dtype=torch.float64)).to(dtype)
    else:
        value = torch.tensor(data, dtype=dtype)
    return value if shape is None else value.reshape(shape)


def with_strides(tensor, strides):
    """A copy that lies in memory as in the model: files hold contiguous tensors."""
    copy = torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype)
    target = copy
    for dim, (size, stride) in enumerate(zip(tensor.shape, strides)):
        # All elements along it are one, which torch refuses to write.
        if stride == 0 and size > 1:
            target, tensor = target.narrow(dim, 0, 1), tensor.narrow(dim, 0, 1)
    target.copy_(tensor)
    return copy


def placeholder_values(ir, weights):
    """Weights and constants by placeholder, the names that nodes use."""
    constants = ir.get("constants", {})
    facts = {tensor["name"]: tensor for tensor in ir.get("weights", [])}
    ties = {name: names for names in ir.get("tied_weights", []) for name in names}
    values = {}
    for placeholder, name in ir["weight_name_mapping"].items():
        # Tied weights are one tensor: a write to one shows through the others.
        given = [known for known in (*ties.get(name, ()), name) if known in weights]
        if given:
            values[placeholder] = weights[given[0]]
        elif name in constants:
            values[placeholder] = constant(constants[name])
        else:
            raise ValueError(f"missing weight '{name}': neither the weights nor the IR has it")
        own = facts.get(name, {})
        if own.get("strides"):
            values[placeholder] = with_strides(values[placeholder], own["strides"])
        if own.get("requires_grad"):
            # torch chooses other kernels for such weights, also under no_grad.
            values[placeholder] = values[placeholder].detach().requires_grad_()
    return values


# --- The arguments of a node ---


class Value:
    """Stands for the value of this name among arguments."""

    def __init__(self, name):
        self.name = name


def filled(argument, values):
    """The argument, with each Value replaced."""
    if isinstance(argument, Value):
        return values[argument.name]
    if isinstance(argument, list):
        return [filled(item, values) for item in argument]
    return argument


def without_optional(type_):
    return type_.getElementType() if isinstance(type_, torch.OptionalType) else type_


def is_tensor(type_):
    return isinstance(without_optional(type_), torch.TensorType)


def is_tensor_list(type_):
    type_ = without_optional(type_)
    return isinstance(type_, torch.ListType) and is_tensor(type_.getElementType())


def is_required(argument):
    """Whether an input is given for this argument, unless an attribute is."""
    type_ = argument.real_type
    is_optional = isinstance(type_, torch.OptionalType) or argument.has_default_value()
    return is_tensor(type_) and not is_optional


def typed(value, type_):
    """An attribute, converted to the type of the schema: JSON has only names and lists."""
    type_ = without_optional(type_)
    if isinstance(value, dict):
        return Value(value["value"])
    if isinstance(type_, torch.ListType) and isinstance(value, list):
        return [typed(item, type_.getElementType()) for item in value]
    if isinstance(value, list):
        return complex(*value)
    if not isinstance(value, str) or str(type_) == "str":
        return value
    if str(type_) == "Device":
        # A graph of a device that is not here runs on the CPU.
        is_here = value.startswith("cuda") and torch.cuda.is_available()
        return torch.device(value if is_here else "cpu")
    return getattr(torch, value)


class NodeArguments:
    """The inputs and attributes of a node, taken in the order of the schema."""

    def __init__(self, node, schema):
        self._attributes = dict(node.get("attrs", {}))
        sizes = self._attributes.pop(LIST_SIZES, [])
        self._sizes = iter(sizes)
        self._masks = iter(self._attributes.pop(LIST_NONE_MASKS, []))
        self._named = [tensor for tensor in node["inputs"] if "arg" in tensor]
        self._positional = [tensor for tensor in node["inputs"] if "arg" not in tensor]
        # If only some optional tensors are given, they have names; otherwise all or none are given.
        needed = sum(sizes) + sum(is_required(argument) and argument.name not in self._attributes
                                  for argument in schema.arguments)
        self._takes_optional = len(self._positional) > needed

    def take(self, argument):
        """A list with the value, or an empty list if the argument is not given."""
        type_ = argument.real_type
        if argument.name in self._attributes:
            return [typed(self._attributes.pop(argument.name), type_)]
        if is_tensor_list(type_):
            return self._take_list(argument.name, without_optional(type_).getElementType())
        if not is_tensor(type_):
            return []
        is_next = is_required(argument) or self._takes_optional
        return self._take_named(argument.name, 1) or self._take_next(1 if is_next else 0)

    def is_empty(self):
        return not (self._attributes or self._named or self._positional)

    def _take_named(self, name, limit):
        taken = [tensor for tensor in self._named if tensor["arg"] == name][:limit]
        for tensor in taken:
            self._named.remove(tensor)
        return [Value(tensor["name"]) for tensor in taken]

    def _take_next(self, count):
        taken, self._positional = self._positional[:count], self._positional[count:]
        return [Value(tensor["name"]) for tensor in taken]

    def _take_list(self, name, element_type):
        size = next(self._sizes, None)
        if size is None:
            return []
        taken = self._take_named(name, size)
        taken += self._take_next(size - len(taken))
        if isinstance(element_type, torch.OptionalType):
            items = iter(taken)
            mask = next(self._masks, [False] * size)
            taken = [None if is_none else next(items) for is_none in mask]
        return [taken]


def bind(node, schema):
    """Positional and keyword arguments of the node's call, with `Value`s in them."""
    arguments = NodeArguments(node, schema)
    positional, keywords = [], {}
    is_at_front = True
    for argument in schema.arguments:
        given = arguments.take(argument)
        if not given and not argument.has_default_value():
            given = [None]
        is_at_front = is_at_front and bool(given) and not argument.kwarg_only
        if is_at_front:
            positional += given
        elif given:
            keywords[argument.name] = given[0]
    if not arguments.is_empty():
        raise ValueError(f"node '{node['name']}' has arguments that its operator does not take")
    return positional, keywords


# --- Calls ---


class UnknownOperator(ValueError):
    """This torch does not have the operator."""


def memory_format_of(dim_order):
    """As executorch.exir.dim_order_utils says."""
    if dim_order is None:
        return torch.preserve_format
    if list(dim_order) == sorted(dim_order):
        return torch.contiguous_format
    if list(dim_order) != [0, 2, 3, 1]:
        raise ValueError(f"unsupported dim_order {list(dim_order)}")
    return torch.channels_last


def find_operator(op_type):
    """The operator in torch, such as torch.ops.aten.add.Tensor."""
    namespace, _, rest = op_type.partition(".")
    name, _, overload = rest.rpartition(".")
    if namespace == "dim_order_ops" and name in EDGE_SCHEMAS and not hasattr(
            torch.ops.dim_order_ops, name):
        schema, function = EDGE_SCHEMAS[name]
        EDGE_LIBRARY.define(name + schema)
        EDGE_LIBRARY.impl(name, function, "CompositeExplicitAutograd")
    try:
        return getattr(getattr(getattr(torch.ops, namespace), name), overload)
    except AttributeError:
        raise UnknownOperator(f"this torch has no operator {op_type}") from None


def condition(then, otherwise):
    return lambda pred, operands: (then if pred else otherwise)(operands)


def loop(goes_on, body):

    def run(carried, additional=()):
        carried = list(carried)
        while goes_on(carried + list(additional))[0]:
            carried = body(carried + list(additional))
        return carried

    return run


def scan(body):

    def run(init, xs, additional=()):
        carried, results = list(init), []
        for slices in zip(*xs):
            made = body(carried + list(slices) + list(additional))
            carried = made[:len(init)]
            results.append(made[len(init):])
        return carried + [torch.stack(parts) for parts in zip(*results)]

    return run


def slice_map(body):
    return lambda xs, additional=(): scan(body)([], xs, additional)


CONTROL_FLOW = {COND: condition, WHILE_LOOP: loop, SCAN: scan, MAP: slice_map}


def results_of(result):
    """The results of a call, flattened."""
    if isinstance(result, (list, tuple)):
        return [item for part in result for item in results_of(part)]
    return [result]


class Call:
    """A node bound to its function. `kernels` are functions that replace operators."""

    def __init__(self, node, kernels):
        self.node = node
        op_type = node["op_type"]
        namespace, _, name = op_type.partition(".")
        self._keywords = {}
        for argument, value in node.get("attrs", {}).items():
            if isinstance(value, dict) and "opaque" in value:
                raise UnknownOperator(f"argument '{argument}' of node '{node['name']}' ({op_type}) "
                                      f"is {value['opaque']}, which no run can make")
        if op_type == GET_ITEM:
            self._function = lambda value: value
            self._positional = [Value(node["inputs"][node["attrs"]["index"]]["name"])]
        elif namespace in NUMBER_MODULES:
            self._function = getattr(NUMBER_MODULES[namespace], name)
            attributes = sorted(node["attrs"].items(), key=lambda a: NUMBER_ARGUMENTS.index(a[0]))
            self._positional = [typed(value, torch.NumberType.get()) for _, value in attributes]
        elif op_type in SCHEMAS:
            make = CONTROL_FLOW[op_type]
            self._function = make(*(Graph(graph, kernels) for graph in node["graphs"]))
            self._bind(torch._C.parse_schema(SCHEMAS[op_type]))
        else:
            operator_ = find_operator(op_type)
            self._function = kernels.get(op_type, operator_)
            self._bind(operator_._schema)

    def _bind(self, schema):
        self._positional, self._keywords = bind(self.node, schema)

    def __call__(self, values):
        """Calls the function with `values`, and adds the results to them."""
        result = self._function(
            *(filled(argument, values) for argument in self._positional),
            **{name: filled(argument, values) for name, argument in self._keywords.items()})
        results, outputs = results_of(result), self.node["outputs"]
        if len(results) != len(outputs):
            results = [item for item in results if item is not None]
        if len(results) != len(outputs):
            raise ValueError(f"node '{self.node['name']}' ({self.node['op_type']}) returned "
                             f"{len(results)} values, expected {len(outputs)}")
        values.update(zip((output["name"] for output in outputs), results))


class Graph:
    """A graph or subgraph: called with its inputs, it returns its outputs."""

    def __init__(self, graph, kernels):
        self._inputs = [tensor["name"] for tensor in graph["graph_inputs"]]
        self._outputs = output_names(graph)
        self._constant_outputs = graph.get("constant_outputs", [])
        self.calls = [Call(node, kernels) for node in graph["nodes"]]

    def __call__(self, inputs, values=None, on_call=None):
        values = {**(values or {}), **dict(zip(self._inputs, inputs, strict=True))}
        for call in self.calls:
            call(values)
            if on_call:
                on_call(call.node, values)
        outputs = [values[name] for name in self._outputs]
        for fixed in self._constant_outputs:
            outputs.insert(fixed["index"], fixed["value"])
        return outputs


class GraphModule(torch.nn.Module):
    """The module whose forward is the graph.

    It takes a tensor for each graph input and returns the values of output_names; numbers among the
    inputs may be tensors without dimensions. `kernels`, by operator ("aten.gelu.default"), replace torch's
    own. `on_call(node, values)` is called after each node, with all values so far by name.
    """

    def __init__(self, ir, weights, kernels=None, on_call=None):
        super().__init__()
        self._graph = Graph({**ir, "constant_outputs": []}, kernels or {})
        self._scalars = [tensor.get("scalar", False) for tensor in ir["graph_inputs"]]
        self._strides = [tensor.get("strides") for tensor in ir["graph_inputs"]]
        self._placeholders = placeholder_values(ir, weights)
        self._on_call = on_call
        for name, tensor in self._placeholders.items():
            self.register_buffer(name, tensor)
        self.eval()

    def forward(self, *inputs):
        inputs = [value.item() if is_scalar and isinstance(value, torch.Tensor) else value
                  for value, is_scalar in zip(inputs, self._scalars, strict=True)]
        inputs = [with_strides(value, strides) if strides else value
                  for value, strides in zip(inputs, self._strides)]
        weights = {name: getattr(self, name) for name in self._placeholders}
        return tuple(self._graph(inputs, weights, self._on_call))
