#!/usr/bin/env python3
"""Makes a Python wheel; `bazel run //:wheel` runs it. See --help.

The format: https://packaging.python.org/en/latest/specifications/binary-distribution-format/. The
programs and the library find LibTorch in the folder of torch beside theirs. The wheel has all other
libraries that they need, except the C and C++ runtimes.
"""

import argparse
import base64
import hashlib
import os
import pathlib
import platform
import re
import struct
import subprocess
import sys
import zipfile

FILES = "{FILES}"
LIBTORCH = "{LIBTORCH}"
WORKSPACE = "{WORKSPACE}"

# Not torch_ir, which is the module of the Python package.
PACKAGE = "torch_ir_cpp"
COMMANDS = "tools/wheel/commands.py"

# Libraries of every Linux that matches the tag of the wheel.
SYSTEM = re.compile(r"(ld-linux-.*|lib(c|dl|m|pthread|rt|util|gcc_s|stdc\+\+))\.so\.\d+|linux-vdso.*")

RUN_PATH = "$ORIGIN/../lib:$ORIGIN/../../torch/lib:$ORIGIN/../../torch.libs"


class Failure(Exception):
    pass


class Elf:
    """A 64-bit little-endian ELF file whose dynamic section can be changed in place."""

    NULL, STRTAB, RPATH, RUNPATH = 0, 5, 15, 29
    LOAD, DYNAMIC = 1, 2

    def __init__(self, data):
        self.data = bytearray(data)
        table, size, count = struct.unpack_from("<Q14xHH", self.data, 32)
        self.segments = [
            struct.unpack_from("<IIQQQQ", self.data, table + size * i) for i in range(count)
        ]

    def _offset(self, address):
        for kind, _, offset, start, _, size in self.segments:
            if kind == self.LOAD and start <= address < start + size:
                return offset + address - start
        raise Failure("invalid ELF file: an address in the dynamic section is outside the file")

    def _entries(self):
        (begin,) = [segment[2] for segment in self.segments if segment[0] == self.DYNAMIC]
        while True:
            tag, value = struct.unpack_from("<QQ", self.data, begin)
            if tag == self.NULL:
                return
            yield begin, tag, value
            begin += 16

    def set_run_path(self, path):
        """Overwrites the run path. Uses DT_RPATH, which also applies to indirect libraries."""
        strings = next(value for _, tag, value in self._entries() if tag == self.STRTAB)
        for place, tag, value in self._entries():
            if tag in (self.RPATH, self.RUNPATH):
                begin = self._offset(strings) + value
                end = self.data.index(0, begin)
                if end - begin < len(path):
                    raise Failure(f"the run path is too short to hold {path}")
                self.data[begin:end] = path.encode().ljust(end - begin, b"\0")
                struct.pack_into("<Q", self.data, place, self.RPATH)
                return
        raise Failure("the program has no run path to overwrite")


def needed_libraries(program, libtorch, installed):
    """The libraries that a program loads, except those of LibTorch, the system and the wheel: name to path."""
    said = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    # The CPU half of a CUDA build has two libraries of CUDA, which a torch for the CPU does not have.
    provided = {path.name for folder in (libtorch / "lib", libtorch.parent / "torch.libs")
                for path in folder.glob("*.so*") if not path.name.startswith(("libcudart", "libcupti"))}
    found = {}
    for name, path in re.findall(r"(\S+) => (.*?) \(", said):
        if not SYSTEM.fullmatch(name) and name not in provided and f"lib/{name}" not in installed:
            found[name] = pathlib.Path(path)
    return found


def versions(program):
    """The versions of torch-ir and LibTorch that the program prints."""
    said = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
    match = re.match(r"torch-ir ([0-9.]+) \(LibTorch ([0-9.]+)", said)
    if not match:
        raise Failure(f"torch-ir --version: {said}")
    return match.groups()


def platform_tag():
    """The platform: systems with the C library that the programs were linked with, or a later one."""
    _, version = platform.libc_ver()
    return f"manylinux_{version.replace('.', '_')}_{platform.machine()}"


def contents(installed, version, torch):
    """The files of the wheel, except its list: path to bytes."""
    minor = ".".join(torch.split(".")[:2])
    libtorch = pathlib.Path(pathlib.Path(LIBTORCH).read_text().strip())
    files = {}
    for path, source in installed.items():
        source = os.path.realpath(source)
        data = pathlib.Path(source).read_bytes()
        if path.startswith("bin/") or path.endswith(".so"):
            elf = Elf(data)
            elf.set_run_path(RUN_PATH)
            data = bytes(elf.data)
            for name, library in needed_libraries(source, libtorch, installed).items():
                files[f"{PACKAGE}/lib/{name}"] = library.read_bytes()
        elif path.endswith(".cmake"):
            text = data.decode().replace("@VERSION@", version)
            data = text.replace("@LIBTORCH_VERSION@", torch).encode()
        files[f"{PACKAGE}/{path}"] = data
    commands = pathlib.Path(COMMANDS).read_text().replace("@TORCH@", minor)
    files[f"{PACKAGE}/__init__.py"] = commands.encode()

    about = f"{PACKAGE}-{version}.dist-info"
    files[f"{about}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {PACKAGE.replace('_', '-')}\nVersion: {version}\n"
        "Summary: PyTorch models as weight-free graphs: the programs torch-ir and harness\n"
        f"Requires-Python: >=3.9\nRequires-Dist: torch=={minor}.*\n"
    ).encode()
    files[f"{about}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: torch-ir {version}\nRoot-Is-Purelib: false\n"
        f"Tag: py3-none-{platform_tag()}\n"
    ).encode()
    files[f"{about}/entry_points.txt"] = (
        f"[console_scripts]\ntorch-ir = {PACKAGE}:torch_ir\nharness = {PACKAGE}:harness\n"
    ).encode()
    return files


def record(path, files):
    """The list of a wheel: each file with its hash and size, except for the list itself."""
    lines = []
    for name, data in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    return ("".join(lines) + f"{path},,\n").encode()


def write_wheel(path, files):
    """Writes a wheel: the same files give the same bytes. Replaces an existing wheel atomically."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(unfinished, "wb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as wheel:
                for name, data in files.items():
                    entry = zipfile.ZipInfo(name)
                    entry.compress_type = zipfile.ZIP_DEFLATED
                    mode = 0o755 if "/bin/" in name or ".so" in name else 0o644
                    entry.external_attr = (0o100000 | mode) << 16
                    wheel.writestr(entry, data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def enter_runfiles():
    """Enters the runfiles: Bazel starts programs and tests there, users start them in any folder."""
    if not os.path.exists(FILES):
        os.chdir(f"{os.path.abspath(__file__)}.runfiles/{WORKSPACE}")


def main():
    parser = argparse.ArgumentParser(
        prog="wheel",
        usage="bazel run //:wheel -- --output DIR",
        description="Makes a Python wheel with the programs torch-ir and harness, the library and "
        "its headers. They use the LibTorch of the installed torch, which must have the minor version "
        "that they were built with.",
    )
    parser.add_argument("--output", required=True, metavar="DIR", help="folder for the wheel")
    output = pathlib.Path(
        os.environ.get("BUILD_WORKING_DIRECTORY", "."), parser.parse_args().output
    ).absolute()
    enter_runfiles()
    installed = dict(line.split("\t") for line in pathlib.Path(FILES).read_text().splitlines())
    version, torch = versions(os.path.abspath(installed["bin/torch-ir"]))
    files = contents(installed, version, torch)
    list_path = f"{PACKAGE}-{version}.dist-info/RECORD"
    files[list_path] = record(list_path, files)
    output.mkdir(parents=True, exist_ok=True)
    path = output / f"{PACKAGE}-{version}-py3-none-{platform_tag()}.whl"
    write_wheel(path, files)
    print(path)


try:
    main()
except (Failure, OSError, subprocess.CalledProcessError) as error:
    print(f"wheel: {error}", file=sys.stderr)
    sys.exit(2)
