"""Scores an executor on a suite of cases; needs only numpy.

    harness export suite --suite operators
    python3 harness/examples/score_suite.py suite 'my_sim {ir} {weights} {inputs} {outputs}'

The command runs once for each case, with the paths of its files. It writes the outputs as safetensors,
by the names of the graph outputs. Exit status 3 means that it does not support the case. To score
without processes, call `score` from a script, with a function that returns the outputs for the folder
of a case.
"""

import argparse
import collections
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

import numpy

DTYPES = {"F64": "f8", "F32": "f4", "F16": "f2", "C64": "c8", "C128": "c16", "I64": "i8",
          "I32": "i4", "I16": "i2", "I8": "i1", "U64": "u8", "U32": "u4", "U16": "u2", "U8": "u1",
          "BOOL": "?"}

# Float8 dtypes: bits of the mantissa, bias of the exponent, and the values that are not finite.
FLOAT8 = {
    "F8_E4M3": (3, 7, {0x7F: numpy.nan, 0xFF: numpy.nan}),
    "F8_E5M2": (2, 15, {sign | 0x7C | bits: numpy.nan if bits else -numpy.inf if sign else numpy.inf
                        for sign in (0, 0x80) for bits in range(4)}),
    "F8_E4M3FNUZ": (3, 8, {0x80: numpy.nan}),
    "F8_E5M2FNUZ": (2, 16, {0x80: numpy.nan}),
}

# The exit status of an executor that does not support a case.
UNSUPPORTED = 3


class Unsupported(Exception):
    """The executor does not support the case."""


def float8_values(dtype):
    """The 256 values of a dtype, as float32, which can represent each of them."""
    if dtype == "F8_E8M0":
        return numpy.array([2.0 ** (i - 127) for i in range(255)] + [numpy.nan], "<f4")
    mantissa_bits, bias, special = FLOAT8[dtype]
    bits = numpy.arange(256)
    mantissa = (bits & (2 ** mantissa_bits - 1)) / 2 ** mantissa_bits
    exponent = (bits & 0x7F) >> mantissa_bits
    values = numpy.ldexp(mantissa + (exponent > 0), numpy.maximum(exponent, 1) - bias)
    values = numpy.copysign(values, numpy.where(bits & 0x80, -1, 1))
    values[list(special)] = list(special.values())
    return values.astype("<f4")


def read_safetensors(path):
    """Arrays by name; bfloat16 and float8 as float32, which can represent each of their values."""
    data = pathlib.Path(path).read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    arrays = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        if entry["dtype"] == "BF16":
            bits = numpy.frombuffer(data[begin:end], "<u2").astype("<u4") << 16
            array = bits.view("<f4")
        elif entry["dtype"].startswith("F8_"):
            array = float8_values(entry["dtype"])[numpy.frombuffer(data[begin:end], "u1")]
        else:
            array = numpy.frombuffer(data[begin:end], "<" + DTYPES[entry["dtype"]])
        arrays[name] = array.reshape(entry["shape"])
    return arrays


def first_input(folder):
    graph = json.loads((folder / "ir.json").read_text())
    name = graph["nodes"][0]["inputs"][0]["name"]
    return read_safetensors(folder / "inputs.safetensors")[name], graph["nodes"][0]["attrs"]


def picked_values(outputs, folder):
    """Replaces indices by the values that they pick: any index of equal values is right."""
    values, attrs = first_input(folder)
    indices = outputs[-1]
    if attrs.get("dim") is None:
        picked = values.reshape(-1)[indices]
    elif indices.ndim == values.ndim:
        picked = numpy.take_along_axis(values, indices, attrs["dim"])
    else:
        dim = attrs["dim"]
        picked = numpy.take_along_axis(values, numpy.expand_dims(indices, dim), dim).squeeze(dim)
    return [*outputs[:-1], picked]


# Functions that return the arrays to compare, by "compare" of case.json. For other cases only dtypes
# and shapes are compared, and they are counted separately.
COMPARED = {
    "shape": lambda outputs, folder: [],
    "values": lambda outputs, folder: outputs,
    "finite": lambda outputs, folder: [numpy.isfinite(x) for x in outputs],
    "unit_interval": lambda outputs, folder: [(x >= 0) & (x < 1) for x in outputs],
    "zero_or_one": lambda outputs, folder: [(x == 0) | (x == 1) for x in outputs],
    "permutation": lambda outputs, folder: [numpy.sort(x) for x in outputs],
    "magnitudes": lambda outputs, folder: [numpy.abs(x) for x in outputs],
    "picked_values": picked_values,
}


def is_close(actual, expected, rtol, atol):
    if actual.dtype.kind not in "fc":
        return bool(numpy.array_equal(actual, expected))
    wide = "c16" if actual.dtype.kind == "c" else "f8"
    a, e = actual.astype(wide), expected.astype(wide)
    with numpy.errstate(all="ignore"):
        close = numpy.isfinite(a) & numpy.isfinite(e) & (
            numpy.abs(a - e) <= atol + rtol * numpy.abs(e))
    return bool(numpy.all(close | (a == e) | (numpy.isnan(a) & numpy.isnan(e))))


def judge(folder, case, outputs):
    """How `outputs`, arrays by name, differ from the expected ones; empty if they do not."""
    expected = read_safetensors(folder / "expected.safetensors")
    names = list(case["outputs"])
    for name in names:
        if name not in outputs:
            return f"output '{name}' is missing"
        if outputs[name].dtype != expected[name].dtype:
            return f"output '{name}' is {outputs[name].dtype}, expected {expected[name].dtype}"
        if outputs[name].shape != expected[name].shape:
            return f"output '{name}' is {outputs[name].shape}, expected {expected[name].shape}"
    compare = COMPARED.get(case["compare"])
    if compare is None:
        return ""
    actual = compare([outputs[name] for name in names], folder)
    wanted = compare([expected[name] for name in names], folder)
    for name, x, y in zip(names, actual, wanted):
        tolerance = case["outputs"][name]
        if not is_close(x, y, tolerance["rtol"], tolerance["atol"]):
            return f"output '{name}' differs"
    return ""


def score(suite, execute):
    """Counts by (operator, status). `execute` returns the outputs for the folder of a case."""
    suite = pathlib.Path(suite)
    counts = collections.Counter()
    for path in sorted(suite.glob("cases/**/case.json")):
        case = json.loads(path.read_text())
        try:
            problem = judge(path.parent, case, execute(path.parent))
            is_judged = case["compare"] in COMPARED
            status = "differs" if problem else "passed" if is_judged else "with the right shape"
        except Unsupported:
            problem, status = "", "unsupported"
        except Exception as error:  # An executor may fail in any way.
            problem, status = str(error), "failed"
        counts[case["operator"], status] += 1
        if problem:
            print(f"{case['name']}: {problem}")
    return counts


def run_command(command, folder):
    with tempfile.TemporaryDirectory() as scratch:
        outputs = pathlib.Path(scratch) / "outputs.safetensors"
        weights = folder / "weights.safetensors"
        if not weights.exists():
            weights = pathlib.Path(scratch) / "weights.safetensors"
            weights.write_bytes((2).to_bytes(8, "little") + b"{}")
        paths = {"ir": folder / "ir.json", "weights": weights,
                 "inputs": folder / "inputs.safetensors", "outputs": outputs}
        for key, path in paths.items():
            command = command.replace("{" + key + "}", shlex.quote(str(path)))
        run = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        if run.returncode == UNSUPPORTED:
            raise Unsupported
        if run.returncode != 0:
            raise RuntimeError((run.stderr.strip().splitlines() or ["the command printed nothing"])[-1])
        return read_safetensors(outputs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suite")
    parser.add_argument("command")
    arguments = parser.parse_args()
    counts = score(arguments.suite, lambda folder: run_command(arguments.command, folder))
    totals = collections.Counter()
    for (_, status), count in counts.items():
        totals[status] += count
    print(", ".join(f"{count} {status}" for status, count in sorted(totals.items())))
    return 1 if totals["differs"] or totals["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
