"""Runs every command and builds every piece of code of README.md, in order.

A `sh` block runs in the repository. A comment in front of a block says otherwise:

  <!-- run in: workspace -->       a `sh` block runs in a new folder next to the repository
  <!-- with torch: python3 -->     a `sh` block whose python3 needs torch: $TORCH_PYTHON, where that
                                   is set, or else whatever python3 is
  <!-- file: PATH -->              the block is that file of the new folder
  <!-- repository file: PATH -->   the block is a new file of the repository
  <!-- before LINE in: PATH -->    the block goes into a file of the repository, in front of the
                                   first line that starts with LINE
  <!-- part of: PATH -->           the block stands somewhere in that file of the repository, in one
                                   of JSON as a value

Files of the repository are as before when this ends. Exits with 1 at the first block that fails.
BAZEL_FLAGS, such as --remote_cache=URL, are more flags for Bazel in the new folder, where it builds
torch-ir again.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent

BLOCK = re.compile(
    r"(?:<!-- (?P<what>[a-z_} ]+): (?P<path>\S+) -->\n)?"
    r"```(?P<language>\w+)\n(?P<text>.*?)```\n",
    re.DOTALL,
)


def contains(json_value, part):
    """Whether a JSON value is `part`, or has it anywhere below it."""
    if isinstance(json_value, dict):
        items = list(json_value.values())
    else:
        items = json_value if isinstance(json_value, list) else []
    return json_value == part or any(contains(item, part) for item in items)


def stands_in(path, text):
    """Whether a file of the repository has this text, or value."""
    whole = (REPOSITORY / path).read_text()
    if path.endswith(".json"):
        return contains(json.loads(whole), json.loads(text))
    return text in whole


class Runner:
    """Keeps the folder next to the repository, and what to undo in the repository."""

    def __init__(self, folder):
        # The README calls the repository "../torch-ir", whatever the name of the checkout is.
        (folder / "torch-ir").symlink_to(REPOSITORY)
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.originals = {}

    def run(self, command, folder, environment=None):
        print(f"$ {command}", flush=True)
        subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command], cwd=folder, env=environment, check=True
        )

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

    def handle(self, block):
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
                sys.exit(f"README.md: {path} does not have this:\n{text}")
        elif block["language"] == "sh" and what == "with torch":
            self.run_with_torch(text.rstrip())
        elif block["language"] == "sh" and what == "run in":
            self.run(text.rstrip(), self.workspace)
        elif block["language"] == "sh" and what is None:
            self.run(text.rstrip(), REPOSITORY)
        else:
            sys.exit(f"README.md: nothing says what to do with this block:\n{text}")


def main():
    readme = (REPOSITORY / "README.md").read_text()
    blocks = list(BLOCK.finditer(readme))
    if len(blocks) != len(re.findall(r"^```\w", readme, re.MULTILINE)):
        sys.exit("README.md: a block is not closed, or text stands between it and its comment")
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(pathlib.Path(folder))
        try:
            for block in blocks:
                runner.handle(block)
        except subprocess.CalledProcessError as error:
            sys.exit(f"README.md: this exits with {error.returncode}:\n{error.cmd[-1]}")
        finally:
            runner.restore()
            if any(runner.workspace.iterdir()):
                # Nothing else would ever use what Bazel keeps of this folder.
                subprocess.run(
                    [REPOSITORY / "tools/bazel", "clean", "--expunge"],
                    cwd=runner.workspace,
                    check=False,
                )


if __name__ == "__main__":
    main()
