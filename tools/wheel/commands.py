"""Runs the commands torch-ir and harness of the wheel: programs beside this file, linked with the
LibTorch of the installed torch. The package has no other Python code."""

import importlib.metadata
import importlib.util
import os
import sys

# The torch that the programs were built with; LibTorch's interface changes with every minor version.
TORCH = "@TORCH@"

HERE = os.path.dirname(os.path.abspath(__file__))


def torch_ir():
    _become("torch-ir")


def harness():
    _become("harness")


def _become(program):
    libraries = _libraries_of_torch(program)
    environment = dict(os.environ)
    # The programs find torch beside this package by themselves. In an environment on top of another one,
    # torch may be elsewhere.
    if os.path.dirname(libraries) != os.path.join(os.path.dirname(HERE), "torch"):
        paths = [libraries, environment.get("LD_LIBRARY_PATH")]
        environment["LD_LIBRARY_PATH"] = os.pathsep.join(path for path in paths if path)
    path = os.path.join(HERE, "bin", program)
    # Keeps the name of the command, for the commands in its reports.
    os.execve(path, [program] + sys.argv[1:], environment)


def _libraries_of_torch(program):
    wanted = f"{program}: requires torch {TORCH}, but"
    install = f"run: pip install 'torch=={TORCH}.*'"
    # Only found: an import takes seconds.
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.origin:
        sys.exit(_refuse(f"{wanted} {sys.prefix} has none; {install}"))
    version = importlib.metadata.version("torch")
    if version.split(".")[:2] != TORCH.split("."):
        sys.exit(_refuse(f"{wanted} {os.path.dirname(spec.origin)} is {version}; {install}"))
    return os.path.join(os.path.dirname(spec.origin), "lib")


def _refuse(message):
    print(message, file=sys.stderr)
    return 2
