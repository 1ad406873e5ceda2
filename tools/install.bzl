"""What `bazel run //:install` copies, and the program that does it."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("//tools:cc.bzl", "HeadersInfo", "torch_ir_binary")

def _archive(library):
    return library.pic_static_library or library.static_library

def _archives(targets):
    return {
        _archive(library): None
        for target in targets
        for linker_input in target[CcInfo].linking_context.linker_inputs.to_list()
        for library in linker_input.libraries
        if _archive(library)
    }

def _whole_library_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    elsewhere = _archives(ctx.attr.elsewhere)
    together = cc_common.merge_cc_infos(cc_infos = [library[CcInfo] for library in ctx.attr.libraries])
    inputs = []
    for linker_input in together.linking_context.linker_inputs.to_list():
        libraries = []
        for library in linker_input.libraries:
            if _archive(library) in elsewhere:
                continue
            if _archive(library):
                library = cc_common.create_library_to_link(
                    actions = ctx.actions,
                    feature_configuration = features,
                    cc_toolchain = toolchain,
                    static_library = library.static_library,
                    pic_static_library = library.pic_static_library,
                    alwayslink = True,
                )
            libraries.append(library)
        inputs.append(cc_common.create_linker_input(
            owner = linker_input.owner,
            libraries = depset(libraries),
            user_link_flags = depset(linker_input.user_link_flags),
            additional_inputs = depset(linker_input.additional_inputs),
        ))
    return [CcInfo(
        compilation_context = together.compilation_context,
        linking_context = cc_common.create_linking_context(
            linker_inputs = depset(inputs, order = "topological"),
        ),
    )]

_whole_library = rule(
    implementation = _whole_library_impl,
    doc = "Libraries and their dependencies, linked completely even if nothing calls them.",
    attrs = {
        "elsewhere": attr.label_list(
            providers = [CcInfo],
            doc = "Libraries whose objects, and those of their dependencies, are not linked.",
        ),
        "libraries": attr.label_list(mandatory = True, providers = [CcInfo]),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

def torch_ir_shared_binary(name, libraries, shared = {}, srcs = [], linkopts = [], testonly = False, **kwargs):
    """A program, or a shared library lib*.so, that has whole libraries, or loads them.

    Each object is in one file, so all files of a process use the same registries.

    Args:
      name: The name of the target.
      libraries: The libraries.
      shared: The shared libraries that it loads, and the libraries that are in them.
      srcs: Sources beside them.
      linkopts: As in cc_binary.
      testonly: As in cc_binary.
      **kwargs: As in cc_binary.
    """
    _whole_library(
        name = name + "_libraries",
        elsewhere = shared.values(),
        libraries = libraries,
        tags = ["manual"],
        testonly = testonly,
        visibility = ["//visibility:private"],
    )
    is_library = name.endswith(".so")
    torch_ir_binary(
        name = name,
        srcs = srcs + shared.keys(),
        linkopts = linkopts + (["-Wl,-soname," + name] if is_library else []),
        linkshared = is_library,
        linkstatic = True,
        testonly = testonly,
        deps = [name + "_libraries"],
        **kwargs
    )

def _install_impl(ctx):
    files = {}
    for target, path in ctx.attr.files.items():
        for file in target.files.to_list():
            files[path + file.basename if path.endswith("/") else path] = file
    for library in ctx.attr.libraries:
        for header in library[HeadersInfo].headers.to_list():
            path = header.short_path
            files["include/" + (path[len("src/"):] if path.startswith("src/") else path)] = header

    lines = ["{}\t{}".format(path, files[path].short_path) for path in sorted(files)]
    list_file = ctx.actions.declare_file(ctx.label.name + ".files")
    ctx.actions.write(list_file, "\n".join(lines) + "\n")

    program = ctx.actions.declare_file(ctx.label.name + "." + ctx.file.program.extension)
    ctx.actions.expand_template(
        template = ctx.file.program,
        output = program,
        is_executable = True,
        substitutions = {
            "{FILES}": list_file.short_path,
            "{LIBTORCH}": ctx.file._libtorch.short_path,
            "{WORKSPACE}": ctx.workspace_name,
        },
    )
    return [DefaultInfo(
        executable = program,
        runfiles = ctx.runfiles(files.values() + [list_file, ctx.file._libtorch] + ctx.files.data),
    )]

torch_ir_install = rule(
    implementation = _install_impl,
    doc = "A program that copies files, and the headers of libraries, below a prefix.",
    executable = True,
    attrs = {
        "data": attr.label_list(allow_files = True, doc = "Further files that the program reads."),
        "files": attr.label_keyed_string_dict(
            allow_files = True,
            doc = "The path of each file below the prefix; a path that ends with '/' is a folder.",
        ),
        "libraries": attr.label_list(
            providers = [HeadersInfo],
            doc = "The libraries whose public headers are installed.",
        ),
        "program": attr.label(
            allow_single_file = True,
            mandatory = True,
            doc = "The template of the program, with {FILES} (the list of files to install), {LIBTORCH} and {WORKSPACE}.",
        ),
        "_libtorch": attr.label(default = "@libtorch//:root.txt", allow_single_file = True),
    },
)
