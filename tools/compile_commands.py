#!/usr/bin/env python3
"""Writes compile_commands.json into the workspace, for clangd and similar tools.

    tools/bazel run //tools:compile_commands

It has one entry per source, even if Bazel compiles the sources of a room together. Run it again when
sources are added or removed, or LibTorch moves.
"""

import json
import os
import pathlib
import subprocess
import sys

SOURCES = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*.cc"]


def make_entries(workspace, libtorch, options):
    include = f"{libtorch}/include"
    command = ["c++", "-std=c++20", *options, "-Isrc", "-I.", "-DFMT_HEADER_ONLY=1"]
    # Clang lacks some of GCC's warnings.
    command.append("-Wno-unknown-warning-option")
    for folder in (include, f"{include}/torch/csrc/api/include"):
        command += ["-isystem", folder]
    listed = subprocess.run(SOURCES, cwd=workspace, check=True, capture_output=True, text=True)
    for source in sorted(set(listed.stdout.split("\0")) - {""}):
        if (workspace / source).is_file():
            yield {
                "directory": str(workspace),
                "file": source,
                "arguments": [*command, "-c", source],
            }


def main(root_file, *options):
    workspace = pathlib.Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    libtorch = pathlib.Path(root_file).read_text(encoding="utf-8").strip()
    entries = list(make_entries(workspace, libtorch, options))
    path = workspace / "compile_commands.json"
    path.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    print(f"{path}: {len(entries)} sources")


if __name__ == "__main__":
    main(*sys.argv[1:])
