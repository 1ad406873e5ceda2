"""LibTorch as a repository: one that is there, or else one that pip installs."""

_MINIMUM = [2, 6]

def _impl(ctx):
    root = _from_environment(ctx) or _from_python(ctx) or _from_pip(ctx)
    ctx.symlink(root + "/include", "include")
    ctx.symlink(root + "/include/fmt", "fmt_include/fmt")
    libraries = []
    for name in ["libtorch_cpu.so", "libc10.so"]:
        ctx.symlink(root + "/lib/" + name, "lib/" + name)
        libraries.append("lib/" + name)

    # What the wheel brings along, such as libgomp-HASH.so.1: the loader must find it beside them.
    for folder in [root + "/lib", root + "/../torch.libs"]:
        path = ctx.path(folder)
        if path.exists:
            for file in path.readdir():
                if file.basename.startswith("libgomp"):
                    ctx.symlink(file, "lib/" + file.basename)
                    libraries.append("lib/" + file.basename)
    ctx.template("BUILD.bazel", ctx.attr._build, {
        "{DEFINES}": repr(_defines(ctx, root)),
        "{LIBRARIES}": repr(libraries),
    })

def _from_environment(ctx):
    root = ctx.os.environ.get("LIBTORCH")
    if not root:
        return None
    if not ctx.path(root + "/lib/libtorch_cpu.so").exists:
        fail("LIBTORCH={} is no LibTorch: it has no lib/libtorch_cpu.so.".format(root))
    version = _version(ctx, root)
    if _older(version):
        fail("LIBTORCH={} is version {}; torch-ir needs 2.6 or later.".format(root, version))
    return root

def _from_python(ctx):
    python = _python(ctx)
    if not python:
        return None

    # find_spec, because an import takes seconds and needs what torch itself needs.
    result = ctx.execute([python, "-c", """
import importlib.util, os
spec = importlib.util.find_spec("torch")
print(os.path.dirname(spec.origin) if spec and spec.origin else "")
"""])
    root = result.stdout.strip()
    if result.return_code != 0 or not root or not ctx.path(root + "/lib/libtorch_cpu.so").exists:
        return None
    return None if _older(_version(ctx, root)) else root

def _from_pip(ctx):
    python = _python(ctx)
    if not python:
        fail("LibTorch was not found: set LIBTORCH to its folder, or install Python 3 with pip.")
    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    requirement = ctx.attr.requirement
    report = ctx.execute(
        pip + ["install", "--quiet", "--dry-run", "--ignore-installed", "--no-deps", "--report", "-", requirement],
        timeout = 1800,
    )
    if report.return_code != 0:
        fail("LibTorch was not found, and pip does not find {}: {}".format(requirement, report.stderr))
    metadata = json.decode(report.stdout)["install"][0]["metadata"]
    if not metadata["version"].endswith("+cpu"):
        for dependency in metadata.get("requires_dist", []):
            if dependency.startswith("nvidia"):
                fail("pip's {} is a CUDA build: set LIBTORCH to a LibTorch, or point pip at PyTorch's CPU wheels.".format(requirement))
    ctx.report_progress("pip install " + requirement)
    result = ctx.execute(
        pip + ["install", "--quiet", "--no-deps", "--target", "wheel", requirement],
        timeout = 1800,
    )
    if result.return_code != 0:
        fail("pip install {} failed: {}".format(requirement, result.stderr))
    return str(ctx.path("wheel/torch"))

def _python(ctx):
    environment = ctx.os.environ.get("VIRTUAL_ENV")
    if environment and ctx.path(environment + "/bin/python3").exists:
        return environment + "/bin/python3"
    return ctx.which("python3")

def _version(ctx, root):
    """The version, "2.13.0+cpu": from the Python package, or else from LibTorch's own archive."""
    path = ctx.path(root + "/version.py")
    if path.exists:
        for line in ctx.read(path).splitlines():
            if line.startswith("__version__"):
                return line.split("=")[1].strip(" '\"")
    path = ctx.path(root + "/build-version")
    return ctx.read(path).strip() if path.exists else "unknown"

def _older(version):
    numbers = version.split(".")
    if len(numbers) < 2 or not numbers[0].isdigit() or not numbers[1].isdigit():
        return True
    return [int(numbers[0]), int(numbers[1])] < _MINIMUM

def _defines(ctx, root):
    path = ctx.path(root + "/share/cmake/Torch/TorchConfig.cmake")
    if path.exists and "_GLIBCXX_USE_CXX11_ABI=0" in ctx.read(path):
        return ["_GLIBCXX_USE_CXX11_ABI=0"]
    return []

libtorch = repository_rule(
    implementation = _impl,
    doc = "LibTorch: $LIBTORCH, or the torch that Python finds, or else a wheel that pip installs.",
    attrs = {
        "requirement": attr.string(
            mandatory = True,
            doc = "What pip installs where there is none, as PACKAGE==VERSION.",
        ),
        "_build": attr.label(default = "//tools:libtorch.BUILD.tpl"),
    },
    environ = ["LIBTORCH", "PATH", "VIRTUAL_ENV"],
)
