#!/usr/bin/env python3
"""Checks that no type or constant of a namespace is defined in two headers: each unit that sees one of
them would take it for the other."""

import argparse
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAMESPACE = re.compile(r"^(?:(namespace [\w:]+) \{|\}  // (namespace [\w:]+))$")
DEFINITION = re.compile(r"^(?:(?:struct|class|enum class|enum) (\w+)(?: : [^{]*| final[^{]*)?(?: \{.*)?"
                        r"|using (\w+) =.*|inline constexpr .*?(\w+)(?:\[\])?(?: =|\{).*)$")


def definitions(text):
    """The qualified names that a header defines outside of classes."""
    scope = []
    for line in text.split("\n"):
        if found := NAMESPACE.match(line):
            if found[1]:
                scope.append(found[1].split()[1])
            else:
                scope.pop()
        elif found := DEFINITION.match(line):
            yield "::".join([*scope, next(filter(None, found.groups()))])


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    names = subprocess.run(["git", "ls-files", "*.h"], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True)
    headers = collections.defaultdict(set)
    for path in names.stdout.split():
        for name in definitions((ROOT / path).read_text(encoding="utf-8")):
            headers[name].add(path)
    twice = {name: paths for name, paths in headers.items() if len(paths) > 1}
    for name, paths in sorted(twice.items()):
        print(f"{name} is defined in {', '.join(sorted(paths))}", file=sys.stderr)
    sys.exit(1 if twice else 0)


if __name__ == "__main__":
    main()
