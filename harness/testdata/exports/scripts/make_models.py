"""Exports the models of every cases_*.py beside this file: make_models.py OUTPUT [NAME_PATTERN]"""

import importlib
import json
import pathlib
import re
import sys
import time
import traceback

import torch

import archive_case


def main():
    out = pathlib.Path(sys.argv[1])
    pattern = re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    here = pathlib.Path(__file__).parent
    for file in sorted(here.glob("cases_*.py")):
        archive_case.REGISTRY.update()
        importlib.import_module(file.stem)
    manifest = out / "cases.json"
    entries = json.loads(manifest.read_text()) if manifest.exists() else {}
    failed = []
    for name, make in archive_case.REGISTRY.items():
        if not pattern.search(name):
            continue
        start = time.time()
        try:
            entries[name] = archive_case.write_case(name, make, out)
        except Exception:  # noqa: BLE001 - one case that cannot be made must not stop the others
            failed.append(name)
            print(f"FAILED {name}\n{traceback.format_exc(limit=-3)}", flush=True)
            continue
        odd = {
            k: v
            for k, v in entries[name].items()
            if k
            in (
                "python",
                "eager_differs",
                "outputs_missing",
                "inputs_missing",
                "forbidden_but_python_runs",
                "python_says",
            )
        }
        print(f"{time.time() - start:6.1f} s  {name}  {odd or ''}", flush=True)
        archive_case.write_manifest(manifest, entries)
    print(f"{len(entries)} cases, {len(failed)} failed: {' '.join(failed)}")


if __name__ == "__main__":
    main()
