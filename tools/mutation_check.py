"""Breaks the sources of a room, one token at a time, and prints the faults that its tests miss.

    tools/mutation_check.py ROOM... [--count N] [--seed S]

Works in a clone in a temporary folder, so it checks only committed files. Each of the N mutants of a
room (src/torch_ir/verifier) changes one operator or constant at a random place; a mutant that does not
compile is replaced by another. A mutant is killed if `bazel test` of the room fails (or of the folder
above, for a room without tests), and survives otherwise. Survivors are printed as lines of a diff: some
change nothing that matters, the others need a test.
"""

import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent

# Patterns and their replacements. Operators stand between blanks (tools/format); brackets of templates
# do not.
MUTATIONS = [(rf"(?<= ){re.escape(before)}(?= )", after) for before, after in (
    ("<", "<="), ("<=", "<"), (">", ">="), (">=", ">"), ("==", "!="), ("!=", "=="), ("&&", "||"),
    ("||", "&&"), ("+", "-"), ("-", "+"), ("*", "+"), ("+=", "-="))] + [
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"\bstd::max\b", "std::min"), (r"\bstd::min\b", "std::max"),
    (r"(?<=[ (])!(?=[\w(])", ""), (r"\bcontinue;", "break;"), (r"(?<= )0(?=[;,)])", "1"), (r"(?<= )1(?=[;,)])", "0"),
    (r"^(\s+)(?!return|using|throw)[\w.>-]+\(.*\);$", r"\1;")]  # Removes a call that stands alone.

NOT_CODE = re.compile(r'^\s*(//|#|static_assert)|^template|\bconstexpr\b')


def find_mutants(source):
    """All mutants of a source: (line number, its text, its replacement)."""
    mutants = []
    for number, line in enumerate(source.splitlines()):
        if NOT_CODE.search(line):
            continue
        strings = [it.span() for it in re.finditer(r'"(\\.|[^"\\])*"|//.*', line)]
        for pattern, after in MUTATIONS:
            for found in re.finditer(pattern, line):
                if not any(start < found.end() and found.start() < end for start, end in strings):
                    changed = line[: found.start()] + found.expand(after) + line[found.end():]
                    mutants.append((number, line, changed))
    return mutants


def sources_of(folder):
    return sorted(path for path in folder.glob("*.cc") if not path.name.endswith(("_test.cc", "_fuzz.cc", "main.cc")))


def test_target(clone, room):
    """The tests of a room, or of the nearest folder above that has tests."""
    while not any((clone / room).glob("*_test.cc")):
        room = room.parent
    return f"//{room}/..."


def run(clone, command, target):
    return subprocess.run([clone / "tools/bazel", command, "--test_output=summary", target], cwd=clone,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def check(clone, room, count, generator):
    """Prints the survivors of a room and returns their number."""
    target = test_target(clone, room)
    if not run(clone, "test", target):
        sys.exit(f"the tests of {target} fail without any mutation")
    mutants = [(path, *it) for path in sources_of(clone / room) for it in find_mutants(path.read_text())]
    generator.shuffle(mutants)
    killed, survivors = 0, 0
    for path, number, line, changed in mutants:
        if killed + survivors == count:
            break
        original = path.read_text()
        lines = original.splitlines()
        lines[number] = changed
        path.write_text("\n".join(lines) + "\n")
        if run(clone, "build", f"//{room}/..."):
            if run(clone, "test", target):
                survivors += 1
                print(f"{path.relative_to(clone)}:{number + 1}\n-{line}\n+{changed}", flush=True)
            else:
                killed += 1
        path.write_text(original)
    print(f"{room}: {killed} of {killed + survivors} mutants killed", flush=True)
    return survivors


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rooms", nargs="+", type=pathlib.Path, metavar="ROOM")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        clone = pathlib.Path(name) / "clone"
        subprocess.run(["git", "clone", "-q", CHECKOUT, clone], check=True)
        if (CHECKOUT / "user.bazelrc").exists():
            (clone / "user.bazelrc").write_text((CHECKOUT / "user.bazelrc").read_text())
        generator = random.Random(arguments.seed)
        try:
            survivors = sum(check(clone, room, arguments.count, generator) for room in arguments.rooms)
        finally:
            subprocess.run([clone / "tools/bazel", "clean", "--expunge"], cwd=clone, check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
