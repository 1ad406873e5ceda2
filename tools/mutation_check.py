"""Breaks the sources on purpose, one fault at a time, and says which ones the tests do not notice.

    tools/mutation_check.py --checkout DIR [--only TEXT] [--resume FILE] [--tests TARGET]...

For each mutant of mutants.bzl: puts it into the checkout in DIR (made where there is none, and never
this one), runs the tests of the mutant's room with Bazel, and takes it out again. A mutant is killed
when a test fails, and survives when all pass. Takes half a minute a mutant. Exits with 1 if one
survived, does not apply or does not compile.
"""

import argparse
import ast
import collections
import json
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

Mutant = collections.namedtuple("Mutant", "file what before after")

# What Bazel's exit status says of a run of tests.
VERDICTS = {0: "survived", 1: "does not compile", 3: "killed"}


def read_mutants(text):
    """The mutants of a text like mutants.bzl."""
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.Assign):
            by_file = ast.literal_eval(statement.value)
            return [Mutant(file, *rest) for file, mutants in by_file.items() for rest in mutants]
    raise ValueError("no MUTANTS")


def apply(mutant, source):
    """The source with the mutant in it."""
    if source.count(mutant.before) != 1:
        raise ValueError(f"{mutant.file} has {mutant.before!r} {source.count(mutant.before)} times")
    return source.replace(mutant.before, mutant.after)


def tests_of(file, root):
    """The tests of the file's room, and then those of the rooms that it is a part of.

    A room without tests of its own is tested by all that is beside it.
    """
    folders = list(pathlib.PurePath(file).parents)
    tested = [folder for folder in folders if any((root / folder).glob("*_test.cc"))]
    if folders[0] not in tested:
        return [[f"//{tested[0]}/..."]]
    return [[f"//{folder}:all"] for folder in tested]


def update_checkout(checkout):
    """Brings the checkout to the commit of this one."""
    def git(*command, at=checkout):
        return subprocess.run(["git", "-C", at, *command], check=True, capture_output=True, text=True)

    commit = git("rev-parse", "HEAD", at=ROOT).stdout.strip()
    if not checkout.exists():
        subprocess.run(["git", "clone", "--quiet", ROOT, checkout], check=True)
    git("fetch", "--quiet", ROOT, "HEAD")
    git("checkout", "--quiet", "--force", "--detach", commit)


def run_tests(targets, arguments):
    """What the tests say of what is in the checkout."""
    command = [*shlex.split(arguments.bazel), "test"]
    # No cache is filled with mutants, and the first test that fails is enough.
    command += ["--noremote_upload_local_results", "--notest_keep_going", "--build_tests_only"]
    command += ["--test_timeout=120", *targets]
    run = subprocess.run(command, cwd=arguments.checkout, capture_output=True, text=True)
    # Bazel 4 has 1 for tests that fail while others are not run any more, too.
    if "FAILED in " in run.stdout or "TIMEOUT in " in run.stdout:
        return "killed"
    if run.returncode not in VERDICTS:
        sys.exit(run.stdout + run.stderr)
    return VERDICTS[run.returncode]


def judge(mutant, arguments):
    """Tests the mutant in the checkout."""
    path = arguments.checkout / mutant.file
    source = path.read_text()
    path.write_text(apply(mutant, source))
    stages = [arguments.tests] if arguments.tests else tests_of(mutant.file, arguments.checkout)
    verdict = "survived"
    try:
        for targets in stages:
            verdict = run_tests(targets, arguments)
            if verdict != "survived":
                break
    finally:
        path.write_text(source)
    return verdict


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkout", type=pathlib.Path, required=True, help="where to build")
    parser.add_argument("--only", default="", help="mutants with this in their file or description")
    parser.add_argument("--resume", type=pathlib.Path, help="a file of verdicts to go on from")
    parser.add_argument("--tests", action="append", help="other tests than those of the room")
    parser.add_argument("--bazel", default="tools/bazel", help="the command that is Bazel")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    mutants = read_mutants((ROOT / "tools/mutants.bzl").read_text())
    mutants = [mutant for mutant in mutants if arguments.only in f"{mutant.file}: {mutant.what}"]
    resume = arguments.resume
    verdicts = json.loads(resume.read_text()) if resume and resume.exists() else {}
    update_checkout(arguments.checkout)
    for mutant in mutants:
        name = f"{mutant.file}: {mutant.what}"
        if name not in verdicts:
            verdicts[name] = judge(mutant, arguments)
            if resume:
                resume.write_text(json.dumps(verdicts, indent=1) + "\n")
        print(f"{verdicts[name]:16}  {name}", flush=True)
    counts = collections.Counter(verdicts[f"{mutant.file}: {mutant.what}"] for mutant in mutants)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return 0 if counts["killed"] == len(mutants) else 1


if __name__ == "__main__":
    sys.exit(main())
