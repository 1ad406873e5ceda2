"""Exports a PyTorch model for torch-ir: an archive, with inputs and expected outputs beside it.

    python tools/export_model.py module.py:Model --input 1,3,224,224 -o model.pt2

writes

    model.pt2                    the graph and the weights, as torch.export.save writes them
    model.inputs.safetensors     the input tensors
    model.expected.safetensors   the output tensors for these inputs

The tensors have the names of the graph's inputs and outputs, so `torch-ir verify` and `harness` can use
the files directly. Numbers become tensors without dimensions, None is left out, and a tensor that is
returned twice is stored once. The same command gives the same bytes. Needs only torch 2.6 or later.
"""

import argparse
import contextlib
import ctypes
import dataclasses
import importlib
import importlib.util
import inspect
import io
import json
import logging
import operator
import os
import pathlib
import re
import shlex
import struct
import sys
import tempfile
import traceback
import warnings

try:
    import torch
    import torch.utils._pytree as pytree
except ImportError:
    sys.exit("export_model.py: package torch is missing; run: pip install torch")

EPILOG = """\
MODEL is FILE.py:NAME or PACKAGE.MODULE:NAME, where NAME is a torch.nn.Module, a class whose constructor
needs no arguments, or a function that returns a module, also one of torch.export or PT2E. It is exported
in evaluation mode.

Inputs are the arguments of forward, in order. Each is either the sizes of a tensor, such as 1,3,224,224,
to fill with normally distributed numbers, or a Python expression that may use torch:

  --input 'torch.randint(30522, (1, 128))' --input 'torch.load("mask.pt")' --input 'int(3)'

NAME=... gives an argument by name: --input 'mask=torch.ones(2, 3)'. For more complex inputs, give
--inputs-from FUNCTION, a function beside the model that returns a tuple of arguments or a dict of named
ones. Inputs other than tensors become constants of the graph.

Declare a dynamic size by the name or position of its argument: --dynamic x:0=batch:1..64
--dynamic mask:0=batch. Sizes of the same name are equal. A size may depend on another, as in
--dynamic y:0=2*batch or y:0=batch+1, and 'auto' leaves it to torch.export: --dynamic x:0=auto. In a nested
input, name the tensor by keys and positions: --dynamic cache.0.1:2=past.
"""

MINIMUM_TORCH = (2, 6)

MAX_ERROR_LINES = 40

# Dtypes and their names in safetensors files; the names of complex128 and complex32 are torch-ir's own.
# Some versions of torch lack some of them.
SAFETENSORS_DTYPES = {
    getattr(torch, name): code
    for name, code in {
        "complex128": "C128",
        "uint64": "U64",
        "int64": "I64",
        "float64": "F64",
        "complex64": "C64",
        "float32": "F32",
        "uint32": "U32",
        "int32": "I32",
        "complex32": "C32",
        "bfloat16": "BF16",
        "float16": "F16",
        "uint16": "U16",
        "int16": "I16",
        "float8_e5m2": "F8_E5M2",
        "float8_e4m3fn": "F8_E4M3",
        "float8_e5m2fnuz": "F8_E5M2FNUZ",
        "float8_e4m3fnuz": "F8_E4M3FNUZ",
        "float8_e8m0fnu": "F8_E8M0",
        "int8": "I8",
        "uint8": "U8",
        "bool": "BOOL",
    }.items()
    if hasattr(torch, name)
}


class UsageError(Exception):
    """A problem with the user's arguments, in one line."""


# What torch says below its errors about other ways to search.
CHATTER = re.compile(
    r"\s*(For more information, run with|For extended logs|If you suspect the guard|For more debugging"
    r"|For C\+\+ stack trace|The error above occurred when calling|If you're using mark_dynamic).*"
)


def helpful_lines(text):
    """The lines of an error of torch that tell the cause and what to do."""
    lines = (CHATTER.sub("", line).rstrip() for line in text.splitlines())
    return [line for line in lines if line]


def place_in_model(error):
    """Where the user's code called what failed; empty if torch says so or no such code is known."""
    frames = traceback.extract_tb(error.__traceback__)
    library = os.path.dirname(torch.__file__)
    own = [f for f in frames if os.path.isfile(f.filename) and not f.filename.startswith((library, __file__))]
    known = not own or "The following call raised" in str(error)
    return [] if known else [f"at {own[-1].filename}:{own[-1].lineno}, in {own[-1].name}: {own[-1].line}"]


def attempt(what, function, *args, lines=1, **kwargs):
    """Calls code of the user or of torch, and turns its exceptions into at most `lines` lines."""
    try:
        return function(*args, **kwargs)
    except (Exception, SystemExit) as error:
        first, *rest = helpful_lines(str(error)) or [""]
        reason = ": ".join([type(error).__name__, *filter(None, [first.strip()])])
        rest = [*rest, *place_in_model(error)][: lines - 1]
        raise UsageError("\n".join([f"{what}: {reason}", *(f"  {line}" for line in rest)])) from error


def dtype_name(dtype):
    return str(dtype).removeprefix("torch.")


# --- The model ---


def import_module(name):
    path = pathlib.Path(name)
    if path.suffix != ".py":
        sys.path.insert(0, os.getcwd())
        return attempt(f"cannot import '{name}'", importlib.import_module, name)
    if not path.is_file():
        raise UsageError(f"cannot find file '{name}'")
    # As for a script in Python: files beside it can be imported.
    sys.path.insert(0, str(path.resolve().parent))
    module_name = path.stem if path.stem not in sys.modules else f"exported_{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    attempt(f"cannot import '{name}'", spec.loader.exec_module, module)
    return module


def find(module, name, place):
    found = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise UsageError(f"'{place}' has no attribute '{name}'")
        found = getattr(found, part)
    return found


def make_model(found, name):
    if isinstance(found, torch.nn.Module):
        return found
    if not callable(found):
        raise UsageError(
            f"'{name}' has type {type(found).__name__}; expected a torch.nn.Module, or a class or "
            "function that makes one"
        )
    model = attempt(f"cannot call {name}()", found)
    if not isinstance(model, torch.nn.Module):
        raise UsageError(f"{name}() returned {type(model).__name__}, expected a torch.nn.Module")
    return model


def load(path):
    if not os.path.isfile(path):
        raise UsageError(f"cannot find file '{path}'")
    return attempt(f"cannot load '{path}'", torch.load, path, "cpu", weights_only=True)


def is_state_dict(value):
    return isinstance(value, dict) and all(isinstance(v, torch.Tensor) for v in value.values())


def read_state_dict(path, key):
    loaded = load(path)
    if key is not None:
        if not isinstance(loaded, dict) or key not in loaded:
            raise UsageError(f"'{path}' has no entry '{key}'")
        loaded = loaded[key]
    if not is_state_dict(loaded):
        entries = loaded.items() if isinstance(loaded, dict) else ()
        nested = [f"--weights-key {name}" for name, value in entries if is_state_dict(value)]
        advice = f"; it has a nested one: add {' or '.join(nested)}" if nested else ""
        raise UsageError(f"'{path}' is not a state dict" + advice)
    return loaded


def load_weights(model, path, key):
    given = read_state_dict(path, key)
    own = model.state_dict()
    for names, problem in (
        (own.keys() - given.keys(), "missing {}"),
        (given.keys() - own.keys(), "unexpected {}"),
    ):
        if names:
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            raise UsageError(
                f"'{path}' does not match the model: " + problem.format(f"'{min(names)}'{more}")
            )
    for name, tensor in given.items():
        if tensor.shape != own[name].shape:
            raise UsageError(
                f"'{path}' does not match the model: '{name}' has shape {list(tensor.shape)}, "
                f"expected {list(own[name].shape)}"
            )
    attempt(f"'{path}' does not match the model", model.load_state_dict, given)


# --- Inputs ---


def make_value(text):
    """A random tensor if `text` has its sizes, otherwise the value of the expression `text`."""
    if re.fullmatch(r"\d+(,\d+)*", text):
        return torch.randn([int(size) for size in text.split(",")])
    value = eval(text, {"torch": torch})
    return value.detach() if isinstance(value, torch.Tensor) else value


@dataclasses.dataclass
class Inputs:
    """The arguments of a call of forward."""

    args: tuple = ()
    kwargs: dict = dataclasses.field(default_factory=dict)

    @staticmethod
    def parse(specs, seed):
        # Seeds again, so that the values do not depend on numbers that the model drew.
        torch.manual_seed(seed)
        args, kwargs = [], {}
        for spec in specs:
            name = re.match(r"(\w+)=(?!=)", spec)
            value = attempt(f"--input {spec}", make_value, spec[name.end() :] if name else spec)
            if name is None:
                args.append(value)
            elif kwargs.setdefault(name[1], value) is not value:
                raise UsageError(f"--input {spec}: duplicate input '{name[1]}'")
        return Inputs(tuple(args), kwargs)

    @staticmethod
    def call(function, name):
        if not callable(function):
            raise UsageError(f"--inputs-from: '{name}' is not a function")
        returned = attempt(f"cannot call {name}()", function)
        if isinstance(returned, dict):
            return Inputs(kwargs=returned)
        if isinstance(returned, (tuple, list)):
            return Inputs(tuple(returned))
        raise UsageError(
            f"--inputs-from: {name}() returned {type(returned).__name__}; expected a tuple of "
            "arguments, or a dict of named ones"
        )

    def bind(self, model):
        """The arguments by the names of forward's parameters."""
        try:
            return inspect.signature(model.forward).bind(*self.args, **self.kwargs).arguments
        except TypeError as error:
            raise UsageError(f"forward cannot be called with these inputs: {error}") from error

    def copy(self):
        """A copy in other memory, since a model may write to its inputs."""
        clone = lambda tensor: tensor.detach().clone()  # noqa: E731
        return Inputs(*pytree.tree_map_only(torch.Tensor, clone, (self.args, self.kwargs)))


# --- Dynamic sizes ---

DYNAMIC = re.compile(
    r"(?P<input>[^:=]+):(?P<dimension>\d+)=(?P<size>((?P<factor>\d+)\*)?(?P<name>[A-Za-z_]\w*)"
    r"(?P<offset>[+-]\d+)?)(:(?P<low>\d+)?\.\.(?P<high>\d+)?)?"
)
AUTO = "auto"


def make_dims(declarations):
    """Ranges and torch.export.Dims by name; any use of a name alone may give its range."""
    ranges = {}
    for declaration in declarations:
        limits = tuple(None if text is None else int(text) for text in declaration.group("low", "high"))
        name = declaration["name"]
        if limits == (None, None):
            ranges.setdefault(name, limits)
        elif declaration["size"] != name or name == AUTO:
            raise UsageError(f"--dynamic {declaration.string}: '{declaration['size']}' takes no range")
        elif ranges.setdefault(name, limits) == (None, None):
            ranges[name] = limits
        elif ranges[name] != limits:
            raise UsageError(f"--dynamic: '{name}' has two different ranges")
    dims = {}
    for name, (low, high) in ranges.items():
        dims[name] = attempt("--dynamic", torch.export.Dim, name, min=low, max=high)
    dims[AUTO] = torch.export.Dim.AUTO
    return ranges, dims


def find_argument(name, inputs, model):
    """The argument of this name or position."""
    if name in inputs.kwargs:
        return inputs.kwargs[name]
    if name.isdigit() and int(name) < len(inputs.args):
        return inputs.args[int(name)]
    names = [
        parameter.name
        for parameter in inspect.signature(model.forward).parameters.values()
        if parameter.kind == parameter.POSITIONAL_OR_KEYWORD
    ]
    names = names[: len(inputs.args)]
    if name in names:
        return inputs.args[names.index(name)]
    known = ", ".join(f"'{known}'" for known in [*names, *inputs.kwargs])
    raise UsageError(f"--dynamic: unknown input '{name}'; expected one of: {known or 'none'}")


def parts_of(value):
    """The parts of a nested input by position, and by key where they have keys; none of a tensor."""
    is_part = lambda part: part is not value  # noqa: E731
    parts, spec = pytree.tree_flatten(value, is_leaf=is_part)
    if spec.is_leaf():
        return {}
    named = {str(position): part for position, part in enumerate(parts)}
    # Not every class names its parts.
    with contextlib.suppress(ValueError):
        for (key,), part in pytree.tree_flatten_with_path(value, is_leaf=is_part)[0]:
            named[str(dataclasses.astuple(key)[0])] = part
    return named


def find_tensor(declaration, inputs, model):
    """The tensor at INPUT.PART.PART."""
    text, place = declaration.string, declaration["input"]
    name, *rest = place.split(".")
    value = find_argument(name, inputs, model)
    for part in rest:
        parts = parts_of(value)
        if part not in parts:
            known = ", ".join(f"'{known}'" for known in parts)
            raise UsageError(
                f"--dynamic {text}: '{name}' has no part '{part}'; expected one of: {known or 'none'}"
            )
        name, value = f"{name}.{part}", parts[part]
    if isinstance(value, torch.Tensor):
        return value
    first = next((f"; name a part of it, such as '{place}.{part}'" for part in parts_of(value)), "")
    raise UsageError(f"--dynamic {text}: '{place}' is not a tensor{first}")


def check_size(declaration, tensor, limits):
    text, dimension, name = declaration.string, int(declaration["dimension"]), declaration["name"]
    if dimension >= tensor.dim():
        raise UsageError(
            f"--dynamic {text}: dimension {dimension} is out of range; "
            f"'{declaration['input']}' has {tensor.dim()} dimensions, counted from 0"
        )
    size = tensor.shape[dimension]
    low, high = limits
    if declaration["size"] == name and (size < (low or 0) or (high is not None and size > high)):
        raise UsageError(f"--dynamic {text}: size {size} of the input is outside the range")
    if size < 2:
        raise UsageError(
            f"--dynamic {text}: torch.export fixes a size of {size}; give an input where '{name}' is "
            "2 or more"
        )


def parse_dynamic(texts, inputs, model):
    """The dynamic_shapes of torch.export; None if no size is dynamic."""
    if not texts:
        return None
    declarations = [DYNAMIC.fullmatch(text) for text in texts]
    for text, declaration in zip(texts, declarations):
        if declaration is None:
            raise UsageError(
                f"--dynamic {text}: expected INPUT:DIMENSION=SIZE or INPUT:DIMENSION=NAME:LOW..HIGH, "
                "where SIZE is NAME, 2*NAME, NAME+1 or auto"
            )
    ranges, dims = make_dims(declarations)
    shapes = torch.export.ShapesCollection()
    for declaration in declarations:
        tensor = find_tensor(declaration, inputs, model)
        check_size(declaration, tensor, ranges[declaration["name"]])
        size = dims[declaration["name"]]
        if declaration["factor"]:
            size = attempt(f"--dynamic {declaration.string}", operator.mul, int(declaration["factor"]), size)
        if declaration["offset"]:
            size = attempt(f"--dynamic {declaration.string}", operator.add, size, int(declaration["offset"]))
        shapes[tensor][int(declaration["dimension"])] = size
    return attempt("--dynamic", shapes.dynamic_shapes, model, inputs.args, inputs.kwargs)


# --- Tensor files ---


def as_tensor(value):
    """`value` as a tensor; None if it is neither a tensor nor a number."""
    if isinstance(value, torch.Tensor):
        return value.detach()
    for kind, dtype in ((bool, torch.bool), (int, torch.int64), (float, torch.float64)):
        if isinstance(value, kind):
            return torch.tensor(value, dtype=dtype)
    return None


def by_name(specs, kind, values, what):
    """The `values` that are inputs or outputs of the graph, by their names there."""
    specs = [spec for spec in specs if spec.kind.name == kind]
    if len(specs) != len(values):
        raise UsageError(
            f"the exported graph has {len(specs)} {what}s, but the model has {len(values)}"
        )
    named = {}
    for spec, value in zip(specs, values):
        # Constants of the graph have a value instead of a name.
        if isinstance(spec.arg, torch.export.graph_signature.ConstantArgument):
            continue
        tensor = as_tensor(value)
        if tensor is None or tensor.layout != torch.strided:
            raise UsageError(f"the {what} '{spec.arg.name}' is not a strided tensor")
        if tensor.dtype not in SAFETENSORS_DTYPES:
            raise UsageError(
                f"the {what} '{spec.arg.name}' has dtype {dtype_name(tensor.dtype)}, which "
                "safetensors files do not support"
            )
        named[spec.arg.name] = tensor
    return named


def save_safetensors(tensors, path):
    header, data = {}, []
    end = 0
    # Large elements first, so that all are aligned.
    for name in sorted(tensors, key=lambda name: (-tensors[name].element_size(), name)):
        tensor = tensors[name].cpu().resolve_conj().resolve_neg().contiguous()
        size = tensor.numel() * tensor.element_size()
        header[name] = {
            "dtype": SAFETENSORS_DTYPES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [end, end + size],
        }
        end += size
        data.append(tensor)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in data:
            file.write(ctypes.string_at(tensor.data_ptr(), tensor.numel() * tensor.element_size()))


# --- The export ---


def forget_places(program):
    """Removes paths of the model's source, which differ between machines."""
    for module in program.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            for node in module.graph.nodes:
                node.meta.pop("stack_trace", None)


@contextlib.contextmanager
def without_chatter():
    """Suppresses the output of torch.export beside the error that it raises."""
    torch._logging.set_logs(all=logging.CRITICAL)
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        yield
    torch._logging.set_logs()


def export(model, inputs, dynamic_shapes, chatter):
    with contextlib.nullcontext() if chatter else without_chatter():
        program = attempt(
            "torch.export cannot export the model",
            torch.export.export,
            model,
            inputs.args,
            inputs.kwargs,
            lines=MAX_ERROR_LINES,
            dynamic_shapes=dynamic_shapes,
            strict=False,
        )
    forget_places(program)
    return program


def run(model, inputs):
    """The outputs of the model, flat as in the graph."""
    copy = inputs.copy()
    return pytree.tree_leaves(
        attempt("the model fails", lambda: model(*copy.args, **copy.kwargs), lines=MAX_ERROR_LINES)
    )


@dataclasses.dataclass
class Files:
    archive: pathlib.Path

    def beside(self, kind):
        return self.archive.with_name(f"{self.archive.stem}.{kind}.safetensors")


def write(program, model, inputs, files):
    """Writes all files or none, and returns the tensors in them."""
    signature = program.graph_signature
    leaves = pytree.tree_leaves((inputs.args, inputs.kwargs))
    given = by_name(signature.input_specs, "USER_INPUT", leaves, "input")
    with tempfile.TemporaryDirectory(prefix=".export-", dir=files.archive.parent) as folder:
        new = Files(pathlib.Path(folder) / files.archive.name)
        # torch.export.save names the archive after its file. Saves before the run, which may change
        # buffers that model and program share.
        attempt(f"cannot write '{files.archive}'", torch.export.save, program, new.archive)
        returned = run(model, inputs)
        expected = by_name(signature.output_specs, "USER_OUTPUT", returned, "output")
        targets = {new.archive: files.archive}
        for kind, tensors in (("inputs", given), ("expected", expected)):
            target = targets[new.beside(kind)] = files.beside(kind)
            attempt(f"cannot write '{target}'", save_safetensors, tensors, new.beside(kind))
        for path, target in targets.items():
            attempt(f"cannot write '{target}'", os.replace, path, target)
    return given, expected


def report(program, given, expected, files):
    nodes = sum(node.op == "call_function" for node in program.graph.nodes)
    print(f"{files.archive}: {nodes} nodes, {len(program.state_dict)} weights")
    for kind, tensors in (("inputs", given), ("expected", expected)):
        shapes = ", ".join(f"{name} {list(tensor.shape)}" for name, tensor in tensors.items())
        print(f"{files.beside(kind)}: {shapes or 'no tensors'}")
    archive, inputs, outputs = (
        shlex.quote(str(path))
        for path in (files.archive, files.beside("inputs"), files.beside("expected"))
    )
    print(f"Next: torch-ir verify {archive} --inputs {inputs} --expected {outputs}")
    print(f"  or: harness {archive}")


# --- The command line ---


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(f"{message}; see --help")


def make_parser():
    parser = Parser(
        prog="export_model.py",
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("model", metavar="MODEL", help="the model: FILE.py:NAME")
    parser.add_argument(
        "--input", metavar="SIZES|EXPRESSION", action="append", default=[], help="an argument of forward"
    )
    parser.add_argument(
        "--inputs-from", metavar="NAME", help="a function of the same file that returns all arguments"
    )
    parser.add_argument(
        "--dynamic",
        metavar="INPUT:DIM=SIZE[:LOW..HIGH]",
        action="append",
        default=[],
        help="a dynamic size",
    )
    parser.add_argument(
        "--state-dict", metavar="FILE", help="weights from torch.save (default: random)"
    )
    parser.add_argument(
        "--weights-key", metavar="KEY", help="the entry of FILE with the state dict"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of weights and inputs (default: 0)")
    parser.add_argument(
        "--traceback", action="store_true", help="show the traceback of an error in the model"
    )
    parser.add_argument("-o", "--output", metavar="FILE.pt2", required=True, help="the archive")
    return parser


def check_torch():
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if version < MINIMUM_TORCH:
        raise UsageError(f"torch {torch.__version__} is too old; 2.6 or later is required")


def check_arguments(arguments):
    output = pathlib.Path(arguments.output)
    if output.suffix != ".pt2":
        raise UsageError(f"--output: '{output}' does not end in .pt2")
    if not output.parent.is_dir():
        raise UsageError(f"--output: missing folder '{output.parent}'")
    if arguments.input and arguments.inputs_from:
        raise UsageError("give --input or --inputs-from, not both")
    if arguments.weights_key is not None and arguments.state_dict is None:
        raise UsageError("--weights-key requires --state-dict")
    return Files(output)


def export_model(arguments):
    files = check_arguments(arguments)
    place, _, name = arguments.model.rpartition(":")
    if not place or not name:
        raise UsageError(
            f"invalid model '{arguments.model}'; expected FILE.py:NAME or PACKAGE.MODULE:NAME"
        )
    # As in the harness, so that results do not depend on the number of processors.
    torch.set_num_threads(1)
    attempt("--seed", torch.manual_seed, arguments.seed)
    module = import_module(place)
    model = make_model(find(module, name, place), name)
    # Graphs of torch.export and PT2E have a fixed mode, and raise.
    with contextlib.suppress(NotImplementedError):
        model.eval()
    if arguments.state_dict is not None:
        load_weights(model, arguments.state_dict, arguments.weights_key)
    if arguments.inputs_from is not None:
        function = find(module, arguments.inputs_from, place)
        inputs = Inputs.call(function, arguments.inputs_from)
    else:
        inputs = Inputs.parse(arguments.input, arguments.seed)
    inputs.bind(model)

    dynamic_shapes = parse_dynamic(arguments.dynamic, inputs, model)
    program = export(model, inputs, dynamic_shapes, chatter=arguments.traceback)
    given, expected = write(program, model, inputs, files)
    report(program, given, expected, files)


def main(arguments):
    show_traceback = "--traceback" in arguments
    try:
        check_torch()
        export_model(make_parser().parse_args(arguments))
    except UsageError as error:
        if show_traceback:
            traceback.print_exception(error)
        print(f"export_model.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
