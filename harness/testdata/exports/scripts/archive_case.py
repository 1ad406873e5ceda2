"""Writes one exported model with the tensors that a reader of it must reproduce.

A case is a function that returns a Case. `write_case` exports it and leaves

    NAME.pt2                    the archive, as torch.export.save writes it
    NAME.inputs.safetensors     tensors by the name of their user-input placeholder
    NAME.expected.safetensors   tensors by the name of the user output
    NAME.wrong.safetensors      on request: the expected file with one thing wrong

Integers, floats and booleans that a user passes or gets are 0-d tensors; None and constants that
are part of the graph are absent; a tensor that is returned twice is stored once.
"""

import copy
import dataclasses
import json
import pathlib
import warnings
from typing import Any, Callable

import torch
import torch.utils._pytree as pytree
from safetensors.torch import save_file

UNSTORABLE = (torch.complex128, torch.complex32)


@dataclasses.dataclass
class Case:
    model: Any
    args: tuple = ()
    kwargs: dict = dataclasses.field(default_factory=dict)
    dynamic_shapes: Any = None
    strict: bool = False
    train: bool = False
    # Applied to the exported program before it is saved.
    change: Callable | None = None
    # None: must run and verify. Otherwise: must be refused with this text.
    refuse: str | None = None
    # May run, or be refused with this name: operators that Python defines in Python or cannot load.
    either: str | None = None
    # The values cannot be compared (random numbers, uninitialised memory).
    random: bool = False
    # "value", "nan", "shape" or "dtype": also write a file of wrong expectations.
    wrong: str | None = None
    # More inputs for the same archive: name -> args.
    more: dict = dataclasses.field(default_factory=dict)
    # Inputs that the archive's ranges or asserts forbid: name -> (args, text).
    forbidden: dict = dataclasses.field(default_factory=dict)
    # Neither eager nor torch.export.load can run it.
    unrunnable: bool = False
    no_sample_inputs: bool = False
    # Run without gradients: the graph changes a parameter in place.
    no_grad: bool = False
    note: str = ""
    rtol: float = 1e-4
    atol: float = 1e-5


REGISTRY: dict[str, Callable[[], Case]] = {}


def case(name):
    def register(function):
        if name in REGISTRY:
            raise ValueError(f"duplicate case {name!r}")
        REGISTRY[name] = function
        return function

    return register


def decomposed(program):
    return program.run_decompositions()


def as_tensor(value):
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, bool):
        return torch.tensor(value)
    if isinstance(value, int):
        return torch.tensor(value, dtype=torch.int64)
    if isinstance(value, float):
        return torch.tensor(value, dtype=torch.float64)
    return None


def flat_inputs(program, args, kwargs):
    """User inputs by placeholder name, in the order of the program."""
    flat = program._get_flat_args_with_check(args, kwargs)[0]
    specs = [s for s in program.graph_signature.input_specs if s.kind.name == "USER_INPUT"]
    if len(specs) != len(flat):
        raise ValueError(f"{len(specs)} user inputs, {len(flat)} values")
    # The spec of a constant has its value, so it is not an input of a run.
    return {
        s.arg.name: v for s, v in zip(specs, flat) if type(s.arg).__name__ != "ConstantArgument"
    }


def flat_outputs(program, result):
    flat = pytree.tree_flatten(result)[0]
    specs = [s for s in program.graph_signature.output_specs if s.kind.name == "USER_OUTPUT"]
    if len(specs) != len(flat):
        raise ValueError(f"{len(specs)} user outputs, {len(flat)} values")
    return {
        s.arg.name: v for s, v in zip(specs, flat) if type(s.arg).__name__ != "ConstantArgument"
    }


def storable(named):
    kept, left_out = {}, []
    for name, value in named.items():
        tensor = as_tensor(value)
        if tensor is None or tensor.dtype in UNSTORABLE or tensor.layout != torch.strided:
            left_out.append(name)
        else:
            kept[name] = (
                tensor.resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
            )
    return kept, left_out


def spoil(expected, how):
    """Returns the expected tensors with one of them wrong, or None if none can be wrong."""
    wrong = {name: tensor.clone() for name, tensor in expected.items()}
    for name, tensor in wrong.items():
        if tensor.numel() == 0 or (how != "shape" and not tensor.is_floating_point()):
            continue
        if how == "value":
            flat = tensor.reshape(-1)
            flat[-1] += 1e-2 + 0.1 * flat[-1].abs()
        elif how == "nan":
            tensor.reshape(-1)[0] = float("nan")
        elif how == "shape":
            wrong[name] = torch.cat([tensor.reshape(1, -1), tensor.reshape(1, -1)])
        elif how == "dtype":
            wrong[name] = tensor.double() if tensor.dtype != torch.float64 else tensor.float()
        else:
            raise ValueError(how)
        return wrong
    return None


def same(left, right):
    left, right = pytree.tree_flatten(left)[0], pytree.tree_flatten(right)[0]
    if len(left) != len(right):
        return f"{len(left)} outputs against {len(right)}"
    for index, (a, b) in enumerate(zip(left, right)):
        if isinstance(a, torch.Tensor) != isinstance(b, torch.Tensor):
            return f"output {index}: {type(a).__name__} against {type(b).__name__}"
        if isinstance(a, torch.Tensor):
            if a.dtype != b.dtype:
                return f"output {index}: {a.dtype} against {b.dtype}"
            if a.is_floating_point() and a.element_size() == 1:
                a, b = a.float(), b.float()
            try:
                torch.testing.assert_close(
                    a, b, equal_nan=True, rtol=1e-3, atol=1e-4, check_stride=False
                )
            except (AssertionError, RuntimeError, ValueError, NotImplementedError) as error:
                return f"output {index}: {str(error).splitlines()[0]}"
        elif a != b and not (a != a and b != b):
            return f"output {index}: {a!r} against {b!r}"
    return None


def write_case(name, make, out: pathlib.Path):
    """Writes the files of one case and returns its line of the manifest."""
    torch.manual_seed(sum(name.encode()))
    entry: dict[str, Any] = {"file": f"{name}.pt2"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        item = make()
        if isinstance(item.model, torch.nn.Module):
            item.model.train(item.train)
        eager_model = copy.deepcopy(item.model)
        program = torch.export.export(
            item.model,
            item.args,
            item.kwargs,
            dynamic_shapes=item.dynamic_shapes,
            strict=item.strict,
        )
        if item.change is not None:
            program = item.change(program)
        path = out / f"{name}.pt2"
        if item.no_sample_inputs:
            program.example_inputs = None
        torch.export.save(program, path)
        entry.update(
            expect="refuse" if item.refuse else "either" if item.either is not None else "ok",
            note=item.note,
            random=item.random,
            rtol=item.rtol,
            atol=item.atol,
        )
        if item.refuse or item.either:
            entry["names"] = item.refuse or item.either
        if item.unrunnable:
            return entry
        try:
            loaded = torch.export.load(path)
            loaded.module()
        except Exception as error:  # noqa: BLE001 - recorded, not handled
            entry["python"] = f"load: {type(error).__name__}: {str(error).splitlines()[0][:200]}"
            loaded = program
        runs = {"": item.args, **item.more}
        for label, args in runs.items():
            stem = f"{name}.{label}" if label else name
            named_inputs = flat_inputs(loaded, args, item.kwargs)
            inputs, missing = storable(named_inputs)
            eager = copy.deepcopy(eager_model)
            fresh = loaded.module() if loaded is not program else copy.deepcopy(program).module()
            with torch.set_grad_enabled(not item.no_grad):
                want = None if label else eager(*copy.deepcopy(args), **copy.deepcopy(item.kwargs))
                got = fresh(*copy.deepcopy(args), **copy.deepcopy(item.kwargs))
            if want is not None and not item.random:
                difference = same(got, want)
                if difference:
                    entry["eager_differs"] = difference
            expected, unstored = storable(flat_outputs(loaded, got))
            save_file(inputs, out / f"{stem}.inputs.safetensors")
            save_file(expected, out / f"{stem}.expected.safetensors")
            if missing:
                entry["inputs_missing"] = missing
            if unstored:
                entry["outputs_missing"] = unstored
            if item.wrong and not label:
                wrong = spoil(expected, item.wrong)
                if wrong is None:
                    raise ValueError(f"{name}: nothing to spoil")
                save_file(wrong, out / f"{name}.wrong.safetensors")
                entry["wrong"] = item.wrong
        if item.more:
            entry["more"] = list(item.more)
        for label, (args, text) in item.forbidden.items():
            leaves = pytree.tree_flatten((args, item.kwargs))[0]
            names = [
                s.arg.name
                for s in loaded.graph_signature.input_specs
                if s.kind.name == "USER_INPUT"
            ]
            inputs, _ = storable(dict(zip(names, leaves)))
            save_file(inputs, out / f"{name}.{label}.inputs.safetensors")
            entry.setdefault("forbidden", {})[label] = text
            try:
                loaded.module()(*copy.deepcopy(args), **copy.deepcopy(item.kwargs))
                entry["forbidden_but_python_runs"] = label
            except Exception as error:  # noqa: BLE001 - the refusal is what is wanted
                entry.setdefault("python_says", {})[label] = str(error).splitlines()[0][:200]
    return entry


def write_manifest(path, entries):
    path.write_text(json.dumps(dict(sorted(entries.items())), indent=1) + "\n")
