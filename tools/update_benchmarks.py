"""Runs all benchmarks and writes harness/benchmark/BENCHMARKS.md.

    python tools/update_benchmarks.py [--reports DIR] [--bin DIR] [--archives DIR]... [--model M]...

Takes about 8 minutes on two cores, on a machine that does nothing else. Building the models for the
peers takes as long again; --reports keeps these builds for another run. The models are the registered
ones, the archives of harness/testdata, and, if Python's torch and transformers are installed, the
models of `harness/testdata/make_archives.py --benchmark`. If Python's torch, onnxruntime and
onnxscript are installed, peers_benchmark.py adds AOTInductor and ONNX Runtime. --reports keeps the
files that the page is made from, and reuses those already in DIR. --bin is the folder of benchmarks
that are already built, bazel-bin/harness/benchmark. --archives DIR adds the archives (.pt2) in DIR to the
tables; it may be repeated. --model M limits a trial run to the models M; it
may be repeated.
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

# The software that a report may name, by its key there.
SOFTWARE = {"libtorch": "LibTorch", "onednn": "oneDNN", "torch": "Python's torch",
            "onnxruntime": "ONNX Runtime"}

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "harness" / "benchmark" / "BENCHMARKS.md"
TARGETS = ["//harness", "//harness/benchmark:runtime_benchmark",
           "//harness/benchmark:scaling_benchmark"]

INTRODUCTION = """\
# Benchmarks

The last run of `python tools/update_benchmarks.py`, which writes this page.

- Machine: {machine}.
- Software: {software}.
{peak}{call}
Eager calls the graph's operators through the dispatcher, node by node. `benchmark_engines.h` describes
the other engines, `runtime_benchmark.cc` how memory is counted, `tools/benchmark_table.py` how the
intervals are computed, and `tools/peers_benchmark.py` how the peers are measured. If a peer does not
support a model, its cell names the step that failed. `harness/testdata/make_archives.py` makes the
archives: small ones, which are in the repository, and larger ones, whose names end with a size.
The column "of the limit" is the least time that this machine needs, as `roofline.h` counts it, divided by
the time at `fast`. It exceeds 100 % where Winograd's algorithm multiplies less often than a direct
convolution.

Of eight models that are not in the tables (measured by hand, on one thread), two reach less than half of
the limit: MixNet-s, 39 %, and GhostNet, 42 %, have many convolutions of 10 to 120 channels, whose slices are
copied. MobileNetV2 reaches 75 %, SegFormer-b0 68 %, an LSTM with 256 units 61 %, MobileNetV3-Small 57 %, an
LSTM with 512 units 53 % and EfficientNet-b0 52 %.

On 2 threads, 42 of the 140 ratios are more than 5 % worse than on 1 thread (counted by hand), because each
call starts as many threads as eager's does, which alone keeps `exact` exact. In MultiTaskHead, SiameseEncoder
and Inception, a second thread also helps eager more: its max pooling takes several times as long as ours.
PointNet at `exact` is slower because LibTorch, with several threads, computes its convolutions with oneDNN.
In GruSeq2Seq and NeRF, the calls are too small for a second thread. The int8 products take so little time
that the calls between them, which gain nothing, weigh more. The two tables were measured one after the
other: compare ratios within a table, not times between tables.

A Llama of 1.1 billion parameters in bfloat16 (2.2 GB; 16 tokens, one trial, one thread; measured by hand):
the harness takes 11 s and 2.3 GB of memory, and with `--per-node` 20 s and 2.3 GB. `torch-ir info` takes 1 s,
`torch-ir benchmark` 30 s.

With oneDNN 3.2 instead of 2.6, `fast` takes 4 % longer (geometric mean of 64 models; 54 of them are within
a tenth). Networks of 3x3 convolutions on AVX-512 are slower, because oneDNN 3 has no Winograd algorithm:
ResNet-18 at 224 pixels goes from 0.50 to 0.57, DeepResNet from 0.38 to 0.47 and SiameseEncoder from 0.19 to
0.27 (means of two interleaved runs).
"""


def processor():
    """The processor's name on Linux; the numbers distinguish processors that a hypervisor names alike."""
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    fields = dict(re.findall(r"^(model name|cpu family|model)\s*: (.*)$", text, re.MULTILINE))
    if len(fields) < 3:
        return platform.machine()
    return f"{fields['model name']} (family {fields['cpu family']}, model {fields['model']})"


def software(context):
    return ", ".join(f"{name} {context[key]}" for key, name in SOFTWARE.items() if key in context)


def call_of_onnx_runtime(context):
    """The overhead of a call that ONNX Runtime's times include, as a line of the page."""
    if nanoseconds := context.get("onnxruntime_call_ns"):
        microseconds = f"{int(nanoseconds) / 1e3:.1f} us"
        return (f"- An empty call of ONNX Runtime takes {microseconds}, part of which is Python's "
                "overhead.\n")
    return ""


def peak(reports):
    """The peak performance of the machine, on one thread and on all, as a line of the page."""
    texts = [report.context.get("peak", "") for report in reports]
    # The report for several threads has both.
    longest = max(texts, key=len, default="")
    return f"- Peak: {longest}.\n" if longest else ""


def has(*modules):
    return all(importlib.util.find_spec(name) for name in modules)


def commands(options, binaries):
    """The files to make, with their commands; files of measurements end with .json."""
    result, archives = {}, [ROOT / "harness" / "testdata"]
    if has("torch", "transformers"):
        make = ROOT / "harness" / "testdata" / "make_archives.py"
        result["archives"] = [sys.executable, make, "--benchmark", "archives"]
        archives.append("archives")
    # The commands run in another folder.
    archives += [path.resolve() for path in options.archives]
    archives = [f"--pt2={path}" for path in archives]
    models = f"({'|'.join(options.model)})/" if options.model else ""
    runtime = [binaries / "runtime_benchmark", *archives, f"--benchmark_filter=^execute/{models}"]
    measurements = {"runtime_all.json": runtime + ["--threads=0"]}
    if not options.model:
        measurements["scaling.json"] = [binaries / "scaling_benchmark", "--benchmark_repetitions=3"]
    if has("torch", "onnxruntime", "onnxscript"):
        # This runs runtime_benchmark too.
        peers = ROOT / "tools" / "peers_benchmark.py"
        result["peers.json"] = [sys.executable, peers, "--bin", binaries, "-o", "peers.json",
                                "--packages", "packages", *archives,
                                *(f"--model={model}" for model in options.model)]
    else:
        measurements["runtime.json"] = runtime
    for name, command in measurements.items():
        result[name] = command + [f"--benchmark_out={name}", "--benchmark_out_format=json"]
    return result


def built():
    """Builds the benchmarks and returns their folder."""
    bazel = [ROOT / "tools" / "bazel"]
    subprocess.run(bazel + ["build", "-c", "opt", *TARGETS], cwd=ROOT, check=True)
    found = subprocess.run(bazel + ["info", "-c", "opt", "bazel-bin"], cwd=ROOT, check=True,
                           stdout=subprocess.PIPE, text=True)
    return pathlib.Path(found.stdout.strip()) / "harness" / "benchmark"


def measure(directory, options):
    binaries = options.bin.resolve() if options.bin else built()
    # The commands set the number of threads.
    environment = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
    reports = []
    for name, command in commands(options, binaries).items():
        if not (directory / name).exists():
            subprocess.run(command, cwd=directory, env=environment, check=True)
        if name.endswith(".json"):
            reports.append(benchmark_table.Report(directory / name))
    return reports


def write(reports):
    context = {}
    for report in reports:
        context.update(report.context)
    capability = context.get("cpu_capability", "no vector instructions")
    machine = f"{processor()}, {os.cpu_count()} cores, {capability}"
    text = INTRODUCTION.format(machine=machine, software=software(context), peak=peak(reports),
                               call=call_of_onnx_runtime(context))
    temporary = PAGE.with_suffix(".tmp")
    temporary.write_text(text + "\n" + benchmark_table.tables(reports), encoding="utf-8")
    temporary.rename(PAGE)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--reports", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--bin", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--archives", type=pathlib.Path, action="append", default=[], metavar="DIR")
    parser.add_argument("--model", action="append", default=[], metavar="M")
    options = parser.parse_args(arguments)
    for path in options.archives:
        if not any(path.glob("*.pt2")):
            parser.error(f"No archives (.pt2) in '{path}'.")
    with tempfile.TemporaryDirectory() as temporary:
        directory = (options.reports or pathlib.Path(temporary)).resolve()
        directory.mkdir(parents=True, exist_ok=True)
        try:
            write(measure(directory, options))
        except (benchmark_table.Failure, subprocess.CalledProcessError) as failure:
            print(failure, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
