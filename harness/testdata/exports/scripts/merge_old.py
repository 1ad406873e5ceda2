"""Runs archives of old versions with the current torch and adds them to cases.json: merge_old.py OUTPUT PREFIX..."""

import json
import pathlib
import sys
import warnings

import torch
import torch.utils._pytree as pytree
from safetensors.torch import load_file

from archive_case import as_tensor, same, write_manifest


def check(path):
    stem = path.name[: -len(".pt2")]
    program = torch.export.load(path)
    inputs = load_file(path.parent / f"{stem}.inputs.safetensors")
    expected = load_file(path.parent / f"{stem}.expected.safetensors")
    specs = program.graph_signature
    args, kwargs = program.example_inputs
    leaves, tree = pytree.tree_flatten((args, kwargs))
    users = [s for s in specs.input_specs if s.kind.name == "USER_INPUT"]
    leaves = [
        inputs.get(s.arg.name, leaf) if isinstance(leaf, torch.Tensor) else leaf
        for s, leaf in zip(users, leaves, strict=True)
    ]
    args, kwargs = pytree.tree_unflatten(leaves, tree)
    results = pytree.tree_leaves(program.module()(*args, **kwargs))
    outs = [s for s in specs.output_specs if s.kind.name == "USER_OUTPUT"]
    got = {
        s.arg.name: as_tensor(r)
        for s, r in zip(outs, results, strict=True)
        if type(s.arg).__name__ != "ConstantArgument"
    }
    return same(
        [got[name] for name in sorted(expected)], [expected[name] for name in sorted(expected)]
    )


def main():
    out = pathlib.Path(sys.argv[1])
    manifest = out / "cases.json"
    entries = json.loads(manifest.read_text()) if manifest.exists() else {}
    for prefix in sys.argv[2:]:
        lines = json.loads((out / f"{prefix}.json").read_text())
        for name, line in lines.items():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    difference = check(out / line["file"])
                if difference:
                    line["python"] = f"differs: {difference}"
            except Exception as error:  # noqa: BLE001 - recorded
                line["python"] = f"{type(error).__name__}: {str(error).splitlines()[0][:200]}"
            if "schema version" in line.get("python", ""):
                line.update(expect="refuse", names="7")
            print(name, line.get("python", "ok"))
            entries[name] = line
    write_manifest(manifest, entries)


if __name__ == "__main__":
    main()
