"""LibTorch as a repository: an installed one, or else one that pip installs."""

_MINIMUM = [2, 8]

def _impl(ctx):
    root = _from_environment(ctx) or _from_python(ctx) or _from_pip(ctx, ctx.attr.requirement)
    ctx.symlink(root + "/include", "include")
    ctx.symlink(root + "/include/fmt", "fmt/fmt")

    # Not libtorch.so, which only pulls in all the others.
    wanted = ["libtorch_cpu.so", "libc10.so"]
    if ctx.os.environ.get("LIBTORCH_CUDA") == "1":
        if not ctx.path(root + "/lib/libtorch_cuda.so").exists:
            fail("LIBTORCH_CUDA=1, but there is no lib/libtorch_cuda.so in {}: set LIBTORCH to the folder of a CUDA build.".format(root))
        wanted += ["libtorch_cuda.so", "libc10_cuda.so"]
    libraries = _with_dependencies(ctx, root, wanted)
    for name, path in libraries.items():
        ctx.symlink(path, "lib/" + name)

    # For installed files. Nothing that is built may depend on it, or it would differ by machine.
    ctx.file("root.txt", root + "\n")
    ctx.template("BUILD.bazel", ctx.attr._build, {
        "{DEFINES}": repr(_defines(ctx, root)),
        "{LIBRARIES}": repr(["lib/" + name for name in libraries]),
    })

def _from_environment(ctx):
    root = ctx.os.environ.get("LIBTORCH")
    if not root:
        return None
    is_version = root[0].isdigit()
    if not is_version and not _is_libtorch(ctx, root):
        fail("LIBTORCH={} is not a LibTorch: missing lib/libtorch_cpu.so.".format(root))
    version = root if is_version else _version(ctx, root)
    if _is_old(version):
        fail("LIBTORCH={} has version {}: torch-ir needs {} or later.".format(
            root,
            version,
            ".".join([str(number) for number in _MINIMUM]),
        ))
    return _from_pip(ctx, "torch==" + version) if is_version else root

def _from_python(ctx):
    python = _python(ctx)
    if not python:
        return None

    # find_spec, since an import takes seconds and needs all dependencies of torch.
    result = ctx.execute([python, "-c", """
import importlib.util, os
spec = importlib.util.find_spec("torch")
print(os.path.dirname(spec.origin) if spec and spec.origin else "")
"""])
    root = result.stdout.strip()
    if not root or not _is_libtorch(ctx, root) or _is_old(_version(ctx, root)):
        return None
    return root

def _from_pip(ctx, requirement):
    python = _python(ctx)
    if not python:
        fail("Cannot find LibTorch: set LIBTORCH to its folder, or install Python 3 with pip.")
    ctx.report_progress("pip install " + requirement)
    result = ctx.execute(["bash", ctx.path(ctx.attr._from_pip), python, requirement], timeout = 1800)
    if result.return_code != 0:
        fail("Cannot find LibTorch, and pip cannot install {}: set LIBTORCH to the folder of a LibTorch. pip says: {}".format(
            requirement,
            result.stderr.strip(),
        ))
    return result.stdout.strip()

def _python(ctx):
    """The Python that the user means; an environment counts also where it is not on the PATH."""
    environment = ctx.os.environ.get("VIRTUAL_ENV")
    if environment and ctx.path(environment + "/bin/python3").exists:
        return ctx.path(environment + "/bin/python3")
    return ctx.which("python3")

def _is_libtorch(ctx, root):
    return ctx.path(root + "/lib/libtorch_cpu.so").exists and ctx.path(root + "/include/torch").exists

def _version(ctx, root):
    """The version, such as "2.13.0+cpu", where the Python package or LibTorch's archive has it."""
    path = ctx.path(root + "/version.py")
    if path.exists:
        for line in ctx.read(path).splitlines():
            if line.startswith("__version__"):
                return line.split("=")[1].strip(" '\"")
    path = ctx.path(root + "/build-version")
    return ctx.read(path).strip() if path.exists else "unknown"

def _is_old(version):
    numbers = version.split(".")
    if len(numbers) < 2 or not numbers[0].isdigit() or not numbers[1].isdigit():
        return True
    return [int(numbers[0]), int(numbers[1])] < _MINIMUM

def _with_dependencies(ctx, root, names):
    """The libraries and those they need, name to path, as far as they come with LibTorch.

    A wheel brings its own libgomp, a CUDA build its own CUDA. The loader looks for them beside the
    library that needs them, so they have to be here too.
    """
    available = {}
    folders = [root + "/lib", root + "/../torch.libs"]
    nvidia = ctx.path(root + "/../nvidia")
    if nvidia.exists:
        folders += [str(folder) + "/lib" for folder in nvidia.readdir()]
    for folder in folders:
        if ctx.path(folder).exists:
            for path in ctx.path(folder).readdir():
                available.setdefault(path.basename, path)

    found = {}
    queue = [name for name in names if name in available]
    for name in queue:
        found[name] = available[name]
    for _ in range(100):
        if not queue:
            break
        needed = _needed(ctx, [available[name] for name in queue])
        queue = [name for name in needed if name in available and name not in found]
        for name in queue:
            found[name] = available[name]
    return found

def _needed(ctx, paths):
    result = ctx.execute(["objdump", "-p"] + paths)
    if result.return_code != 0:
        fail("objdump, which comes with the compiler (binutils), failed: " + result.stderr.strip())
    names = {}
    for line in result.stdout.splitlines():
        if line.strip().startswith("NEEDED"):
            names[line.strip().split(" ")[-1]] = True
    return names.keys()

def _defines(ctx, root):
    path = ctx.path(root + "/share/cmake/Torch/TorchConfig.cmake")
    if path.exists and "_GLIBCXX_USE_CXX11_ABI=0" in ctx.read(path):
        return ["_GLIBCXX_USE_CXX11_ABI=0"]
    return []

libtorch = repository_rule(
    implementation = _impl,
    doc = "LibTorch: $LIBTORCH (a folder, or a version that pip installs), or the torch that Python " +
          "finds, or else a wheel that pip installs.",
    attrs = {
        "requirement": attr.string(
            mandatory = True,
            doc = "The package that pip installs if there is none, as PACKAGE==VERSION.",
        ),
        "_build": attr.label(default = "//tools:libtorch.BUILD.tpl"),
        "_from_pip": attr.label(default = "//tools:libtorch_from_pip.sh"),
    },
    environ = ["LIBTORCH", "LIBTORCH_CUDA", "PATH", "VIRTUAL_ENV"],
)
