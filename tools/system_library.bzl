"""Libraries of the operating system as declared inputs.

A library is found by pkg-config, or by its header where it ships no .pc file, and linked file by
file into a repository of its own. Actions then depend on the very headers and libraries they use,
which a bare `-lfoo` would leave out of their cache keys.
"""

_STANDARD_INCLUDE_DIRS = ["/usr/include", "/usr/local/include", "/opt/homebrew/include"]

_STANDARD_LIBRARY_DIRS = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
    "/opt/homebrew/lib",
]

def _impl(ctx):
    is_found = not ctx.attr.optional or _is_installed(ctx)
    ctx.file("found.bzl", "FOUND = {}\n".format(is_found))
    if is_found:
        _link(ctx)
    else:
        ctx.file("BUILD.bazel", "")

def _link(ctx):
    include_dirs, library_dirs = _directories(ctx)
    for header in ctx.attr.hdrs:
        ctx.symlink(_find_header(ctx, header, include_dirs), "include/" + header)

    files = {}
    for libraries in ctx.attr.targets.values():
        for library in libraries:
            if library not in files:
                files[library] = _link_library(ctx, library, library_dirs)

    build = ['package(default_visibility = ["//visibility:public"])\n']
    earlier = []
    for target, libraries in ctx.attr.targets.items():
        paths = [files[library] for library in libraries]
        linkopts = ["-pthread"] if libraries else []
        defines = []
        if ctx.attr.opened_as:
            defines = ['{}=\\"{}\\"'.format(ctx.attr.opened_as, path.split("/")[-1]) for path in paths]
            if _prefix(ctx):
                linkopts.append("-Wl,-rpath,{}/lib".format(_prefix(ctx)))
        build.append(_TARGET.format(
            name = target,
            srcs = [] if ctx.attr.opened_as else paths,
            data = paths if ctx.attr.opened_as else [],
            defines = defines,
            linkopts = linkopts,
            deps = earlier,
        ))
        earlier = earlier + [":" + target]
    ctx.file("BUILD.bazel", "\n".join(build))

_TARGET = """cc_library(
    name = "{name}",
    srcs = {srcs},
    data = {data},
    defines = {defines},
    hdrs = glob(["include/**"]),
    includes = ["include"],
    linkopts = {linkopts},
    deps = {deps},
)
"""

def _directories(ctx):
    """Where the headers and where the libraries may be."""
    prefix = _prefix(ctx)
    if prefix:
        return [prefix + "/include"], [prefix + "/lib", prefix + "/lib64"]
    if not ctx.attr.pkg_config:
        return _STANDARD_INCLUDE_DIRS, _STANDARD_LIBRARY_DIRS
    pkg_config = ctx.which("pkg-config")
    if not pkg_config:
        fail("{} needs pkg-config, which was not found. Install it.".format(ctx.name))
    return (
        _ask(ctx, pkg_config, "--cflags-only-I", "-I") + _STANDARD_INCLUDE_DIRS,
        _ask(ctx, pkg_config, "--libs-only-L", "-L"),
    )

def _prefix(ctx):
    """The folder that the environment names; None if it names none."""
    return ctx.os.environ.get(ctx.attr.prefix_variable) if ctx.attr.prefix_variable else None

def _is_installed(ctx):
    """Whether there is an optional library, of a version that fits."""
    for directory in _directories(ctx)[0]:
        header = ctx.path(directory + "/" + ctx.attr.version_header)
        if not header.exists:
            continue
        text = ctx.read(header)
        for line in ctx.attr.version_lines:
            if line in text:
                return True

        # buildifier: disable=print
        print("building without {}: {} does not say one of {}".format(ctx.name, header, ctx.attr.version_lines))
    if _prefix(ctx):
        fail("{}={} has no {} of a supported version.".format(
            ctx.attr.prefix_variable,
            _prefix(ctx),
            ctx.attr.version_header,
        ))
    return False

def _find_header(ctx, header, directories):
    # Distributions differ in whether they keep the folder of a library that is a single file.
    for name in [header, header.split("/")[-1]]:
        for directory in directories:
            path = ctx.path(directory + "/" + name)
            if path.exists:
                return path
    return _fail_missing(ctx, header)

def _ask(ctx, pkg_config, option, prefix):
    result = ctx.execute(
        [pkg_config, option, ctx.attr.pkg_config],
        # The default folders too, which pkg-config leaves out otherwise.
        environment = {"PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1", "PKG_CONFIG_ALLOW_SYSTEM_LIBS": "1"},
    )
    if result.return_code != 0:
        _fail_missing(ctx, ctx.attr.pkg_config + ".pc")
    return [word[len(prefix):] for word in result.stdout.strip().split(" ") if word.startswith(prefix)]

def _link_library(ctx, library, directories):
    """Links a library into this repository, under the name that the loader will ask for."""
    for directory in directories:
        for suffix in [".so", ".dylib", ".a"]:
            path = ctx.path("{}/lib{}{}".format(directory, library, suffix))
            if path.exists:
                name = _soname(ctx, path) if suffix == ".so" else path.basename
                ctx.symlink(path, "lib/" + name)
                return "lib/" + name
    return _fail_missing(ctx, "lib" + library)

def _soname(ctx, path):
    result = ctx.execute(["objdump", "-p", path])
    for line in result.stdout.splitlines():
        if line.strip().startswith("SONAME"):
            return line.split(" ")[-1]
    return path.basename

def _fail_missing(ctx, what):
    fail("{} needs {}, which was not found. Install it: {}".format(
        ctx.name,
        what,
        "; ".join(["{} install {}".format(tool, names) for tool, names in ctx.attr.packages.items()]),
    ))

system_library = repository_rule(
    implementation = _impl,
    doc = "A library that the operating system's packages provide.",
    attrs = {
        "hdrs": attr.string_list(
            mandatory = True,
            doc = "Its headers, files or folders, relative to the folder where they are installed.",
        ),
        "optional": attr.bool(
            doc = "Whether to build without it if it is not installed: @NAME//:found.bzl has " +
                  "FOUND, and without the library there are no targets.",
        ),
        "opened_as": attr.string(
            doc = "A macro with the name of its library, which programs open when they run; they are not linked with it.",
        ),
        "packages": attr.string_dict(
            mandatory = True,
            doc = "The packages to install if it is missing, by package tool.",
        ),
        "pkg_config": attr.string(doc = "Its name in pkg-config; empty if it has none."),
        "prefix_variable": attr.string(
            doc = "An environment variable that names the folder of a library installed outside the system's folders.",
        ),
        "targets": attr.string_list_dict(
            mandatory = True,
            doc = "The targets to make, each with the libraries it links; none: headers only. " +
                  "A target depends on those before it.",
        ),
        "version_header": attr.string(doc = "For an optional library, the header that defines the version."),
        "version_lines": attr.string_list(doc = "This header must contain one of these lines."),
    },
    environ = ["ONEDNN", "PATH", "PKG_CONFIG_LIBDIR", "PKG_CONFIG_PATH"],
    local = True,
)
