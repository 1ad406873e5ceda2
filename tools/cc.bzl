"""The C++ rules of this project: a room is a folder, one library, one test program, one unit.

LibTorch's headers cost seconds in every unit that includes them, so the sources of a room are
compiled together. `--define units=files` compiles them one by one, which finds missing includes.
"""

# Only our own code is compiled with these; the headers of others are system headers.
COPTS = [
    "-Wall",
    "-Wextra",
    "-Wnon-virtual-dtor",
    "-Woverloaded-virtual",
    "-Wshadow",
    # A source that a unit includes is not a header.
    "-Wno-subobject-linkage",
    # Clang does not know the option above.
    "-Wno-unknown-warning-option",
    # Otherwise headers of ATen include all operators of LibTorch: two seconds a unit.
    "-DAT_PER_OPERATOR_HEADERS",
]

# Tests run once for each time they are compiled.
_TEST_COPTS = ["-O0"]

# For rooms whose tests mostly wait, use files, or compute in LibTorch.
_COLD_COPTS = ["-O1"]

# The root of this repository: empty in its own workspace, external/torch_ir in another.
_ROOT = Label("//tools:cc.bzl").workspace_root

# "torch_ir/ir/ir.h" is in src; "harness/run/runner.h" is in the root, where Bazel looks anyway.
_SRC = _ROOT + "/src" if _ROOT else "src"

def _unit_impl(ctx):
    unit = ctx.actions.declare_file(ctx.label.name + ".cc")
    lines = ['#include "{}/{}"'.format(ctx.label.package, name) for name in ctx.attr.sources]
    ctx.actions.write(unit, "\n".join(lines) + "\n")
    return [DefaultInfo(files = depset([unit]))]

_unit = rule(
    implementation = _unit_impl,
    doc = "One source that includes others of its package.",
    attrs = {"sources": attr.string_list(mandatory = True)},
)

HeadersInfo = provider("The public headers of a library, without those of others.", fields = ["headers"])

def _interface_impl(ctx):
    context = cc_common.create_compilation_context(
        headers = depset(ctx.files.hdrs),
        includes = depset([_SRC]),
        quote_includes = depset([_ROOT or "."]),
    )
    infos = [CcInfo(compilation_context = context)]
    infos += [CcInfo(compilation_context = dep[CcInfo].compilation_context) for dep in ctx.attr.deps]
    infos += [CcInfo(linking_context = dep[CcInfo].linking_context) for dep in ctx.attr.links]
    runfiles = ctx.runfiles()
    for dep in ctx.attr.links:
        runfiles = runfiles.merge(dep[DefaultInfo].default_runfiles)
    return [
        cc_common.merge_cc_infos(cc_infos = infos),
        DefaultInfo(
            files = depset(transitive = [dep[DefaultInfo].files for dep in ctx.attr.links]),
            runfiles = runfiles,
        ),
        HeadersInfo(headers = depset(ctx.files.hdrs)),
    ]

torch_ir_interface = rule(
    implementation = _interface_impl,
    doc = "The public interface of a library: its headers, and the libraries behind them.",
    attrs = {
        "deps": attr.label_list(doc = "Libraries whose headers it exports.", providers = [CcInfo]),
        "hdrs": attr.label_list(allow_files = True, doc = "The public headers."),
        "links": attr.label_list(doc = "The libraries behind the headers.", providers = [CcInfo]),
    },
)

def _copts(testonly):
    return COPTS + ["-I" + _SRC] + (_TEST_COPTS if testonly else [])

def _sources(name, sources, tags, testonly):
    """The srcs of a cc_library that compiles the sources together."""
    _unit(name = name, sources = sources, tags = tags, testonly = testonly)
    return select({
        str(Label("//tools:file_by_file")): sources,
        "//conditions:default": [name],
    })

def torch_ir_library(
        name,
        srcs,
        hdrs = [],
        copts = [],
        tags = [],
        testonly = False,
        visibility = ["//:__subpackages__"],
        **kwargs):
    """A cc_library whose sources are compiled together.

    Args:
      name: The name of the target.
      srcs: Its sources, files of this package.
      hdrs: Its headers, all visible to its dependents.
      copts: More options for the compiler.
      tags: As in cc_library.
      testonly: As in cc_library.
      visibility: As in cc_library.
      **kwargs: As in cc_library.
    """
    native.cc_library(
        name = name,
        srcs = _sources(name + "_unit", srcs, tags, testonly) if srcs else [],
        copts = _copts(testonly) + copts,
        # Programs and tests link it statically: a shared one would be a second build of it.
        linkstatic = True,
        tags = tags,
        testonly = testonly,
        # Not srcs: a unit that includes one as text sees all of it.
        textual_hdrs = hdrs + srcs,
        visibility = visibility,
        **kwargs
    )

def _fuzz_test(name, seeds, deps):
    """The fuzz test of tools/fuzz/NAME.cc less _test, which has LLVMFuzzerTestOneInput.

    A normal build tries the seeds and 1,000 inputs derived from them, the same in each run. With
    --config=fuzz, which needs clang-16 and its libFuzzer, it is libFuzzer with all its options:

        tools/bazel run --config=fuzz //src/torch_ir/weights:pt_fuzz_test -- -max_total_time=600
    """
    is_libfuzzer = str(Label("//tools/fuzz:libfuzzer"))
    native.cc_test(
        name = name,
        size = "small",
        srcs = [str(Label("//tools/fuzz:" + name[:-len("_test")] + ".cc"))],
        args = ["-seed_inputs=" + ",".join(["$(rootpath {})".format(seed) for seed in seeds])] +
               # Mutations keep the form of an input, so growing inputs slowly would not help.
               select({is_libfuzzer: ["-len_control=0"], "//conditions:default": ["-runs=1000"]}),
        copts = _copts(testonly = True),
        data = seeds,
        env = {"OMP_NUM_THREADS": "1"},
        linkopts = select({is_libfuzzer: ["-fsanitize=fuzzer"], "//conditions:default": []}),
        linkstatic = True,
        deps = deps + [str(Label("//tools/fuzz:fuzzing"))] + select({
            is_libfuzzer: [],
            "//conditions:default": [str(Label("//tools/fuzz:driver"))],
        }),
    )

def torch_ir_room(
        name,
        deps = [],
        private_hdrs = [],
        hidden_deps = [],
        test_deps = [],
        testing_deps = [],
        testing_data = [],
        exclude = [],
        data = [],
        alwayslink = False,
        is_cold = False,
        test_size = "small",
        test_data = [],
        test_env = {},
        test_shards = None,
        fuzz_seeds = {},
        test_main = "@googletest//:gtest_main",
        visibility = ["//:__subpackages__"]):
    """A folder: the library NAME of its sources, and the test NAME_test of all its *_test.cc.

    testing/ holds the code that its tests share with those of other rooms, as the library
    NAME_testing.

    Args:
      name: The name of the folder.
      deps: Libraries, and the rooms directly below it, which bring their own. No other room can be
        included.
      private_hdrs: The headers that other rooms may not include.
      hidden_deps: Libraries that only its sources see: it does not export their headers.
      test_deps: Further dependencies of its tests, fuzz tests included.
      testing_deps: Further dependencies of testing/.
      testing_data: Files that testing/ reads.
      exclude: Sources of programs, which are targets of their own.
      data: Files that it reads at run time.
      alwayslink: Whether it registers itself, so that nothing calls it.
      is_cold: Whether it has no loop over elements or nodes that is worth the optimizer's time.
      test_size: As in cc_test.
      test_data: Files that its tests read.
      test_env: Environment variables of its tests.
      test_shards: The number of processes among which Bazel divides its tests.
      fuzz_seeds: For each NAME, the pattern of the seed files of the fuzz test NAME_fuzz_test, which
        tools/fuzz/NAME_fuzz.cc implements.
      test_main: The library with the main function of its tests.
      visibility: As in cc_library.
    """
    hdrs = native.glob(["*.h"], exclude = private_hdrs, allow_empty = True)
    native.exports_files(hdrs, visibility = ["//:__subpackages__"])

    tests = native.glob(["*_test.cc"], exclude = exclude, allow_empty = True)
    testing = native.glob(["testing/*.cc"], allow_empty = True)
    testing_hdrs = native.glob(["testing/*.h"], allow_empty = True)
    torch_ir_library(
        name = name + "_sources",
        srcs = native.glob(["*.cc"], exclude = tests + exclude, allow_empty = True),
        hdrs = native.glob(["*.h"]),
        copts = _COLD_COPTS if is_cold else [],
        data = data,
        alwayslink = alwayslink,
        visibility = ["//visibility:private"],
        deps = deps + hidden_deps,
    )
    torch_ir_interface(
        name = name,
        hdrs = hdrs,
        links = [name + "_sources"],
        visibility = visibility,
        deps = deps,
    )
    own = [name + "_sources"]
    if testing or testing_hdrs:
        torch_ir_library(
            name = name + "_testing",
            testonly = True,
            srcs = testing,
            hdrs = testing_hdrs,
            data = testing_data,
            alwayslink = True,
            visibility = visibility,
            deps = own + deps + testing_deps + ["@googletest//:gtest"],
        )
        own.append(name + "_testing")
    for reader, seeds in fuzz_seeds.items():
        _fuzz_test(
            name = reader + "_fuzz_test",
            seeds = native.glob([seeds]),
            deps = own + test_deps,
        )
    if tests:
        torch_ir_test(
            name = name + "_test",
            size = test_size,
            srcs = tests,
            data = test_data,
            env = test_env,
            main = test_main,
            shard_count = test_shards,
            deps = own + deps + test_deps,
        )

def torch_ir_binary(name, srcs = [], visibility = ["//:__subpackages__"], **kwargs):
    """A cc_binary.

    Args:
      name: The name of the target.
      srcs: Its sources.
      visibility: As in cc_binary.
      **kwargs: As in cc_binary.
    """
    native.cc_binary(
        name = name,
        srcs = srcs,
        copts = _copts(kwargs.get("testonly")),
        visibility = visibility,
        **kwargs
    )

def torch_ir_test(
        name,
        srcs = [],
        deps = [],
        env = {},
        main = "@googletest//:gtest_main",
        size = "small",
        **kwargs):
    """A cc_test with GoogleTest, on one thread: results are bit-identical for equal thread counts only.

    Args:
      name: The name of the target.
      srcs: Its sources, compiled together.
      deps: The libraries that it tests.
      env: More environment variables.
      main: The library with its main function; None if the test has its own.
      size: As in cc_test.
      **kwargs: As in cc_test.
    """
    if srcs:
        torch_ir_library(
            name = name + "_sources",
            testonly = True,
            srcs = srcs,
            alwayslink = True,
            visibility = ["//visibility:private"],
            deps = deps + ["@googletest//:gtest"],
        )
        deps = [name + "_sources"]
    native.cc_test(
        name = name,
        size = size,
        env = dict({"OMP_NUM_THREADS": "1"}, **env),
        linkstatic = True,
        deps = deps + ([main] if main else []),
        **kwargs
    )

def torch_ir_program_test(name, program, args = [], data = [], env = {}, size = "small", **kwargs):
    """A test that runs a program shared by several tests, so that it needs no link.

    Args:
      name: The name of the target.
      program: The program.
      args: Its arguments.
      data: Files that it reads.
      env: More environment variables.
      size: As in cc_test.
      **kwargs: As in sh_test.
    """
    native.sh_test(
        name = name,
        size = size,
        srcs = [str(Label("//tools:run_program.sh"))],
        args = ["$(rootpath {})".format(program)] + args,
        data = [program] + data,
        env = dict({"OMP_NUM_THREADS": "1"}, **env),
        **kwargs
    )
