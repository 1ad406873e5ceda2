"""Tests in Python."""

def python_test(name, args = [], data = [], size = "small"):
    """NAME.py, run by a Python that may need torch: $TORCH_PYTHON, or else python3.

    Manual, for the build needs no Python.

    Args:
      name: The name of the target.
      args: Its arguments.
      data: What else it reads and runs.
      size: As in sh_test.
    """
    native.sh_test(
        name = name,
        size = size,
        srcs = ["//tools:python_test.sh"],
        args = ["$(rootpath {}.py)".format(name)] + args,
        data = [name + ".py"] + data,
        tags = ["manual"],
    )
