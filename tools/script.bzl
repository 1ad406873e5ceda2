"""Tests that are scripts."""

def script_test(name, args = [], data = [], size = "small", srcs = None, **kwargs):
    """A test in Bash, NAME.sh.

    Args:
      name: The name of the target.
      args: Its arguments. A label (":install", "//harness") stands for the paths of its files, which
        the test reads.
      data: Further files that it reads and runs.
      size: As in sh_test.
      srcs: As in sh_test.
      **kwargs: As in sh_test.
    """
    labels = [arg for arg in args if arg[0] in ":/@"]
    native.sh_test(
        name = name,
        size = size,
        srcs = srcs or [name + ".sh"],
        args = ["$(rootpaths {})".format(arg) if arg in labels else arg for arg in args],
        data = data + labels,
        **kwargs
    )

def python_test(name, args = [], data = [], **kwargs):
    """A test in Python, NAME.py, run by a Python that may need torch: $TORCH_PYTHON, or else python3.

    Manual, as the build needs no Python.

    Args:
      name: The name of the target.
      args: As in script_test.
      data: As in script_test.
      **kwargs: As in script_test.
    """
    script_test(
        name = name,
        srcs = [str(Label("//tools:python_test.sh"))],
        args = [":{}.py".format(name)] + args,
        data = data,
        tags = ["manual"],
        **kwargs
    )
