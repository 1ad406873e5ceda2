"""Breaks the sources on purpose, one fault at a time, and says which ones the tests do not notice.

    tools/mutation_check.py --checkout DIR [--only TEXT] [--tests TARGET]... [--resume FILE]

Puts all mutants of mutants.bzl into the checkout in DIR (made where there is none, and never this
one), each behind a switch, so that one build has them all. Then runs the tests of each mutant's room
with its switch on: it is killed when one fails, and survives when all pass. Exits with 1 if one
survived.
"""

import argparse
import ast
import collections
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

Mutant = collections.namedtuple("Mutant", "number file what before after")

PRELUDE = """#ifndef TORCH_IR_MUTANT
#define TORCH_IR_MUTANT(number) (torch_ir_mutant == (number))
#include <cstdlib>
inline const int torch_ir_mutant = std::getenv("TORCH_IR_MUTANT") ? std::atoi(std::getenv("TORCH_IR_MUTANT")) : 0;
#endif
"""


def read_mutants(text):
    """The mutants of a text like mutants.bzl."""
    by_file = next(ast.literal_eval(it.value) for it in ast.parse(text).body if isinstance(it, ast.Assign))
    rows = [(file, *mutant) for file, mutants in by_file.items() for mutant in mutants]
    return [Mutant(number, *row) for number, row in enumerate(rows, start=1)]


def insert(mutants, source):
    """The source with the mutants of its file, each behind its switch."""
    for number, file, what, before, after in mutants:
        if source.count(before) != 1:
            raise ValueError(f"{file} has {before!r} {source.count(before)} times, not once ({what})")
        switch = f"TORCH_IR_MUTANT({number})"
        is_statement = before.endswith(";")
        source = source.replace(before, f"{{ if ({switch}) {{ {after} }} else {{ {before} }} }}" if is_statement
                                else f"({switch} ? ({after}) : ({before}))")
    return PRELUDE + source


def tests_of(file):
    """The tests of the file's room, and then those of the rooms that it is a part of.

    A room without tests of its own is tested by all that is beside it.
    """
    folders = list(pathlib.PurePath(file).parents)
    tested = [folder for folder in folders if any((ROOT / folder).glob("*_test.cc"))]
    if folders[0] not in tested:
        return [[f"//{tested[0]}/..."]]
    return [[f"//{folder}:all"] for folder in tested]


def prepare(checkout, mutants):
    """Makes the checkout one of this one's commit, with the mutants in it."""
    def git(*command, at=checkout):
        return subprocess.run(["git", "-C", at, *command], check=True, capture_output=True, text=True).stdout

    if not checkout.exists():
        subprocess.run(["git", "clone", "--quiet", ROOT, checkout], check=True)
    git("fetch", "--quiet", ROOT, "HEAD")
    git("checkout", "--quiet", "--force", "--detach", git("rev-parse", "HEAD", at=ROOT).strip())
    for file in {mutant.file for mutant in mutants}:
        path = checkout / file
        path.write_text(insert([mutant for mutant in mutants if mutant.file == file], path.read_text()))


def run_tests(targets, mutant, arguments):
    """Whether the tests pass with a mutant; with none, 0."""
    command = [*shlex.split(arguments.bazel), "test"]
    # No cache is filled with mutants.
    command += ["--noremote_upload_local_results", "--build_tests_only", "--test_timeout=120"]
    # By name, as with the value among its options Bazel would begin anew for each.
    command += ["--test_env=TORCH_IR_MUTANT", *targets]
    environment = {**os.environ, "TORCH_IR_MUTANT": str(mutant)}
    run = subprocess.run(command, cwd=arguments.checkout, env=environment, capture_output=True, text=True)
    if run.returncode not in (0, 3):
        sys.exit(run.stdout + run.stderr)
    return run.returncode == 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkout", type=pathlib.Path, required=True, help="where to build")
    parser.add_argument("--only", default="", help="mutants with this in their file or description")
    parser.add_argument("--tests", action="append", help="other tests than those of the room")
    parser.add_argument("--resume", type=pathlib.Path, help="a file of verdicts to go on from")
    parser.add_argument("--bazel", default="tools/bazel", help="the command that is Bazel")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    mutants = read_mutants((ROOT / "tools/mutants.bzl").read_text())
    prepare(arguments.checkout, mutants)
    verdicts = {}
    if arguments.resume and arguments.resume.exists():
        verdicts = json.loads(arguments.resume.read_text())
    counts = collections.Counter()
    sound = set()
    for mutant in mutants:
        name = f"{mutant.file}: {mutant.what}"
        if arguments.only not in name:
            continue
        if name not in verdicts:
            stages = [arguments.tests] if arguments.tests else tests_of(mutant.file)
            for targets in stages:
                # What fails anyway notices nothing.
                if tuple(targets) not in sound and not run_tests(targets, 0, arguments):
                    sys.exit(f"{' '.join(targets)}: fails without a mutant")
                sound.add(tuple(targets))
            passes = all(run_tests(targets, mutant.number, arguments) for targets in stages)
            verdicts[name] = "survived" if passes else "killed"
            if arguments.resume:
                arguments.resume.write_text(json.dumps(verdicts, indent=1) + "\n")
        counts[verdicts[name]] += 1
        print(f"{verdicts[name]:8}  {name}", flush=True)
    print(f"{counts['killed']} killed, {counts['survived']} survived")
    return 1 if counts["survived"] else 0


if __name__ == "__main__":
    sys.exit(main())
