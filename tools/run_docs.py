"""Runs every command of README.md and docs, in order, and builds the code that they show.

    python3 tools/run_docs.py [--check]

First it checks that relative links work and that no page is too long; with --check it does nothing
else. Exits with 1 at the first block that fails.

A `sh` block runs in the repository. A `text` block holds lines that the previous `sh` block prints, in
order. A comment before a block changes this:

  <!-- run in: workspace -->       a `sh` block runs in a new folder next to the repository
  <!-- with torch: python3 -->     a `sh` block whose python3 needs torch: $TORCH_PYTHON, or else the
                                   python3 on the PATH
  <!-- file: PATH -->              the block is that file of the new folder
  <!-- repository file: PATH -->   the block is a new file of the repository
  <!-- before LINE in: PATH -->    the block is inserted into a file of the repository, before the
                                   first line that starts with LINE
  <!-- part of: PATH -->           a file of the repository contains the block; a JSON file contains it
                                   as a value

The tests of pages check `mermaid` blocks; `yaml` blocks are for other services. Files of the
repository are restored at the end. BAZEL_FLAGS, such as --remote_cache=URL, adds flags for Bazel in
the new folder, where it builds torch-ir again.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent

# A page may use files that earlier pages leave in reports.
PAGES = ["README.md"] + [
    f"docs/{name}.md"
    for name in [
        "install",
        "cpp-models",
        "cpp-api",
        "python-models",
        "command-line",
        "harness",
        "verdict",
        "executors",
        "reports",
        "benchmarks",
        "bazel",
        "security",
        "contributing",
    ]
]
MAX_LINES = {"README.md": 160}
MAX_LINES_OF_DOCS = 250

BLOCK = re.compile(
    r"(?:<!-- (?P<what>[a-z_} ]+): (?P<path>\S+) -->\n)?"
    r"```(?P<language>\w+)\n(?P<text>.*?)```\n",
    re.DOTALL,
)
LINK = re.compile(r"\]\((?!\w+:)([^)\s#]*)(#[^)\s]*)?\)")


def anchors(page):
    """The anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    return {"#" + re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


def problems_of(name):
    """Yields broken links and excess lines."""
    page = (REPOSITORY / name).read_text()
    limit = MAX_LINES.get(name, MAX_LINES_OF_DOCS)
    if (lines := page.count("\n")) > limit:
        yield f"{name}: too long: {lines} lines, at most {limit} allowed"
    for path, anchor in LINK.findall(page):
        file = (REPOSITORY / name).parent / path if path else REPOSITORY / name
        if not file.exists():
            yield f"{name}: broken link: {path}"
        elif anchor and anchor not in anchors(file.read_text()):
            yield f"{name}: broken link: {path} has no heading {anchor}"


def contains(json_value, part):
    """Whether a JSON value is `part` or contains it at any depth."""
    if isinstance(json_value, dict):
        items = list(json_value.values())
    else:
        items = json_value if isinstance(json_value, list) else []
    return json_value == part or any(contains(item, part) for item in items)


def stands_in(path, text):
    """Whether a file of the repository contains this text or value."""
    whole = (REPOSITORY / path).read_text()
    if path.endswith(".json"):
        return contains(json.loads(whole), json.loads(text))
    return text in whole


def prints(output, text):
    """Whether the lines of `text` are lines of `output`, in this order; "..." stands for others."""
    printed = iter([line.rstrip() for line in output.splitlines()])
    return all(line.rstrip() in printed for line in text.splitlines() if line.strip() != "...")


class Runner:
    """Runs blocks; keeps the new folder, and the changes to undo in the repository."""

    def __init__(self, folder):
        # The pages name the repository "../torch-ir", whatever the checkout is called.
        (folder / "torch-ir").symlink_to(REPOSITORY)
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.originals = {}
        self.output = ""

    def run(self, command, folder, environment=None):
        print(f"$ {command}", flush=True)
        self.output = ""
        with subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            for line in process.stdout:
                print(line, end="", flush=True)
                self.output += line
        if process.returncode != 0:
            raise subprocess.CalledProcessError(process.returncode, command)

    def run_with_torch(self, command):
        environment = dict(os.environ)
        # Only for this block: the build would look for LibTorch there.
        if python := os.environ.get("TORCH_PYTHON"):
            environment["PATH"] = f"{pathlib.Path(python).parent}{os.pathsep}{os.environ['PATH']}"
        self.run(command, REPOSITORY, environment)

    def change(self, path, text):
        file = REPOSITORY / path
        self.originals.setdefault(file, file.read_text() if file.exists() else None)
        file.write_text(text)

    def restore(self):
        for file, text in self.originals.items():
            if text is None:
                file.unlink()
            else:
                file.write_text(text)

    def handle(self, page, block):
        what, path, text = block["what"], block["path"], block["text"]
        if what == "file":
            file = self.workspace / path
            file.parent.mkdir(exist_ok=True)
            if path == ".bazelrc" and (flags := os.environ.get("BAZEL_FLAGS")):
                text += f"build {flags}\n"
            file.write_text(text)
        elif what == "repository file":
            self.change(path, text)
        elif what and what.startswith("before "):
            line = "\n" + what.removeprefix("before ").removesuffix(" in")
            self.change(path, (REPOSITORY / path).read_text().replace(line, f"\n{text}{line}", 1))
        elif what == "part of":
            if not stands_in(path, text):
                sys.exit(f"{page}: {path} does not contain this block:\n{text}")
        elif block["language"] == "sh" and what == "with torch":
            self.run_with_torch(text.rstrip())
        elif block["language"] == "sh" and what == "run in":
            self.run(text.rstrip(), self.workspace)
        elif block["language"] == "sh" and what is None:
            self.run(text.rstrip(), REPOSITORY)
        elif block["language"] == "text" and what is None:
            if not prints(self.output, text):
                sys.exit(f"{page}: the previous command does not print this block:\n{text}")
        elif block["language"] not in ("mermaid", "yaml"):
            sys.exit(f"{page}: unknown kind of block; add a comment (see run_docs.py):\n{text}")


def blocks_of(name):
    page = (REPOSITORY / name).read_text()
    blocks = list(BLOCK.finditer(page))
    if len(blocks) != len(re.findall(r"^```\w", page, re.MULTILINE)):
        sys.exit(f"{name}: unclosed block, or text between a block and its comment")
    return blocks


def run_all():
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(pathlib.Path(folder))
        try:
            for name in PAGES:
                for block in blocks_of(name):
                    runner.handle(name, block)
        except subprocess.CalledProcessError as error:
            sys.exit(f"{name}: command exits with {error.returncode}:\n{error.cmd}")
        finally:
            runner.restore()
            if any(runner.workspace.iterdir()):
                # Bazel's cache of this folder is of no other use.
                subprocess.run(
                    [REPOSITORY / "tools/bazel", "clean", "--expunge"],
                    cwd=runner.workspace,
                    check=False,
                )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="only check links and lengths")
    arguments = parser.parse_args()
    missing = {f"docs/{path.name}" for path in (REPOSITORY / "docs").glob("*.md")} - set(PAGES)
    problems = [f"{name}: missing in PAGES of run_docs.py" for name in sorted(missing)]
    problems += [problem for name in PAGES for problem in problems_of(name)]
    if problems:
        sys.exit("\n".join(problems))
    if not arguments.check:
        run_all()


if __name__ == "__main__":
    main()
