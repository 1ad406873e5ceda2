"""The C++ rules of this project: its warnings, its include paths, its way of running tests."""

# Only our own code is compiled with these; the headers of others are system headers.
_COPTS = [
    "-Wall",
    "-Wextra",
    "-Wnon-virtual-dtor",
    "-Woverloaded-virtual",
    "-Wshadow",
    "-Werror",
]

def torch_ir_library(name, copts = [], strip_include_prefix = None, **kwargs):
    """A cc_library whose headers are included as torch_ir/FOLDER/FILE.h, without the leading src/.

    Args:
      name: The name of the target.
      copts: More options for the compiler.
      strip_include_prefix: The folder of the headers, where it is not that of the BUILD file.
      **kwargs: As in cc_library.
    """
    package = native.package_name()
    room = package[len("src/"):] if package.startswith("src/") else package
    native.cc_library(
        name = name,
        copts = _COPTS + copts,
        include_prefix = "torch_ir/" + room if room else "torch_ir",
        # Programs and tests link it statically: a shared one would be a second build of it.
        linkstatic = True,
        strip_include_prefix = strip_include_prefix or "/" + package,
        **kwargs
    )

def torch_ir_binary(name, copts = [], **kwargs):
    """A cc_binary.

    Args:
      name: The name of the target.
      copts: More options for the compiler.
      **kwargs: As in cc_binary.
    """
    native.cc_binary(
        name = name,
        copts = _COPTS + copts,
        **kwargs
    )

def torch_ir_test(
        name,
        copts = [],
        deps = [],
        env = {},
        main = "@googletest//:gtest_main",
        size = "small",
        **kwargs):
    """A cc_test with GoogleTest, on one thread: results are bit-identical for equal thread counts only.

    Args:
      name: The name of the target.
      copts: More options for the compiler.
      deps: What it tests.
      env: More environment variables.
      main: The library with its main function; None where the test has its own.
      size: As in cc_test.
      **kwargs: As in cc_test.
    """
    native.cc_test(
        name = name,
        size = size,
        copts = _COPTS + copts,
        env = dict({"OMP_NUM_THREADS": "1"}, **env),
        linkstatic = True,
        deps = deps + ([main] if main else []),
        **kwargs
    )
