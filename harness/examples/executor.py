"""The interface to the harness that the executors here share.

`main(description, execute)` runs one graph, whose files are on the command line, or with --server one
graph after the other, as harness/backend/executor_protocol.md describes. `execute(paths)` reads
paths.ir, paths.weights and paths.inputs and writes paths.outputs, and paths.intermediates and
paths.groups unless these are None. It may return a dict with what it reports of nodes, by their
names: the place where a node ran, or a dict with "place" and "metrics".
"""

import argparse
import json
import os
import sys
import traceback


class Unsupported(Exception):
    """The executor does not support the graph."""


def answer(execute, request):
    try:
        nodes = execute(argparse.Namespace(**{"intermediates": None, "groups": None, **request}))
    except Unsupported as error:
        return {"status": "unsupported", "message": str(error)}
    except Exception as error:  # An executor may fail in any way; the server continues.
        traceback.print_exc()
        return {"status": "error", "message": f"{type(error).__name__}: {error}"}
    return {"status": "ok", "nodes": nodes or {}}


def serve(execute):
    # Output of libraries goes to standard error: standard output is for answers.
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        for line in sys.stdin:
            print(json.dumps(answer(execute, json.loads(line))), file=answers, flush=True)


def main(description, execute, add_arguments=lambda parser: None):
    """`add_arguments` adds options to the parser; `paths` also has their values."""
    parser = argparse.ArgumentParser(description=description,
                                     epilog="With --server: runs many graphs for the harness.")
    add_arguments(parser)
    if "--server" in sys.argv[1:]:
        options = vars(parser.parse_args([word for word in sys.argv[1:] if word != "--server"]))
        return serve(lambda paths: execute(argparse.Namespace(**{**options, **vars(paths)})))
    for name in ("ir", "weights", "inputs", "outputs"):
        parser.add_argument(name)
    parser.add_argument("intermediates", nargs="?")
    parser.add_argument("--groups")
    try:
        execute(parser.parse_args())
    except Unsupported as error:
        print(error, file=sys.stderr)
        sys.exit(3)
