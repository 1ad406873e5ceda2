"""Runs all benchmarks and writes harness/benchmark/BENCHMARKS.md.

    python tools/update_benchmarks.py [--reports DIR] [--bin DIR]

Takes about 15 minutes, and a machine that does nothing else. Where Python's torch, onnxruntime and
onnxscript are installed, peers_benchmark.py adds AOTInductor and ONNX Runtime. --reports keeps the
files that the page is made of; those that are in DIR already are not measured again. --bin is the
folder with the benchmarks where they are built already, bazel-bin/harness/benchmark.
"""

import argparse
import importlib.util
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

import benchmark_table

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "harness" / "benchmark" / "BENCHMARKS.md"
TARGETS = ["executor_benchmark", "scaling_benchmark", "benchmark_harness"]

INTRODUCTION = """\
# Benchmarks

The last run of `python tools/update_benchmarks.py`, which writes this page.

- Machine: {machine}.
- Software: {software}.
{call}
Eager is the graph's calls through the dispatcher, node by node; the other engines are described in
`benchmark_engines.h`, what `peak bytes` are in `executor_benchmark.cc`, how the intervals are
computed in `ratio_reporter.h`, how the peers are measured in `tools/peers_benchmark.py`.
"""


def processor():
    """The processor as Linux names it; the numbers tell apart what a hypervisor calls alike."""
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    fields = dict(re.findall(r"^(model name|cpu family|model)\s*: (.*)$", text, re.MULTILINE))
    if len(fields) < 3:
        return platform.machine()
    return f"{fields['model name']} (family {fields['cpu family']}, model {fields['model']})"


def software(reports):
    context = {}
    for report in reports:
        context.update(report.context)
    names = {"libtorch": "LibTorch", "torch": "Python's torch", "onnxruntime": "ONNX Runtime"}
    return ", ".join(f"{name} {context[key]}" for key, name in names.items() if key in context)


def call_of_onnx_runtime(reports):
    """What its times contain that is not its own, as a line of the page."""
    for report in reports:
        if nanoseconds := report.context.get("onnxruntime_call_ns"):
            microseconds = f"{int(nanoseconds) / 1e3:.1f} us"
            return (f"- A call of ONNX Runtime that computes nothing takes {microseconds}, part of it "
                    "Python's.\n")
    return ""


def has_peers():
    return all(importlib.util.find_spec(name) for name in ("torch", "onnxruntime", "onnxscript"))


def commands(binaries):
    """The files to measure, and what measures them."""
    executor = [binaries / "executor_benchmark", "--benchmark_filter=^execute/"]
    result = {
        "executor.json": executor,
        "executor_all.json": executor + ["--threads=0"],
        "scaling.json": [binaries / "scaling_benchmark", "--benchmark_repetitions=5"],
    }
    for name, command in result.items():
        command += [f"--benchmark_out={name}", "--benchmark_out_format=json"]
    if has_peers():
        peers = ROOT / "tools" / "peers_benchmark.py"
        result["peers.json"] = [sys.executable, peers, "--bin", binaries, "-o", "peers.json"]
    return result


def built():
    """Builds the benchmarks, and says where they are."""
    bazel = [ROOT / "tools" / "bazel"]
    labels = [f"//harness/benchmark:{target}" for target in TARGETS]
    subprocess.run(bazel + ["build", "-c", "opt", *labels],
                   cwd=ROOT, check=True)
    found = subprocess.run(bazel + ["info", "-c", "opt", "bazel-bin"], cwd=ROOT, check=True,
                           stdout=subprocess.PIPE, text=True)
    return pathlib.Path(found.stdout.strip()) / "harness" / "benchmark"


def measure(directory, binaries):
    reports = []
    for name, command in commands(binaries).items():
        if not (directory / name).exists():
            subprocess.run(command, cwd=directory, check=True)
        reports.append(benchmark_table.Report(directory / name))
    return reports


def write(reports):
    capability = reports[0].context.get("cpu_capability", "no vector instructions")
    machine = f"{processor()}, {os.cpu_count()} cores, {capability}"
    text = INTRODUCTION.format(machine=machine, software=software(reports),
                               call=call_of_onnx_runtime(reports))
    temporary = PAGE.with_suffix(".tmp")
    temporary.write_text(text + "\n" + benchmark_table.tables(reports), encoding="utf-8")
    temporary.rename(PAGE)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--reports", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--bin", type=pathlib.Path, metavar="DIR")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        directory = (options.reports or pathlib.Path(temporary)).resolve()
        directory.mkdir(parents=True, exist_ok=True)
        try:
            write(measure(directory, options.bin.resolve() if options.bin else built()))
        except (benchmark_table.Failure, subprocess.CalledProcessError) as failure:
            print(failure, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
