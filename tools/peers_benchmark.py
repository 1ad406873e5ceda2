"""Times AOTInductor and ONNX Runtime on the models of executor_benchmark, for the same table.

    bazel build -c opt //harness/benchmark:executor_benchmark //harness/benchmark:benchmark_harness
    python tools/peers_benchmark.py --bin bazel-bin/harness/benchmark -o peers.json
    python tools/benchmark_table.py executor.json peers.json

Needs a Python with torch, onnxruntime and onnxscript, and g++. The models are those that
benchmark_harness saves, graph and weights: each becomes a module that calls one operator a node,
which torch.export takes to

    aotinductor            torch._inductor.aoti_compile_and_package
    aotinductor_freezing   the same with the weights frozen into the package
    onnxruntime            torch.onnx.export, and a session with ONNX Runtime's defaults

and is timed only if it computes what eager computes, within 1e-4. One thread everywhere.

Ratios across processes need care. Eager is never timed here: every round starts executor_benchmark,
which times C++ eager once, and then each peer runs once, in random order. A round's ratio is of
these, which ran within seconds of each other, and the rounds' median and interval carry what is
left, such as the luck of a process with its memory. malloc is tuned as executor_benchmark tunes its
own. AOTInductor is called from C++; ONNX Runtime is called from Python with bound inputs and
outputs, which costs it the time that is printed as "call", measured with a graph that does nothing.

What is written has the form of Google Benchmark's --benchmark_out: execute/MODEL/ENGINE, with
eager's rounds beside the peers'.
"""

import argparse
import ctypes
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import warnings

import torch

from ir_graph import GraphModule, load_ir
from safetensors_file import read_safetensors

TOLERANCE = 1e-4
MIN_NANOSECONDS = 20e6
WARM_UP_RUNS = 3


def keep_memory_from_the_system():
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallopt"):
        return
    m_trim_threshold, m_top_pad, m_mmap_threshold = -1, -2, -3
    libc.mallopt(m_mmap_threshold, 1 << 30)
    libc.mallopt(m_trim_threshold, -1)
    libc.mallopt(m_top_pad, 64 << 20)


class Model:

    def __init__(self, directory, name):
        self.name = name
        ir = load_ir(directory / "ir" / f"{name}.json")
        weights, saved, expected = (
            read_safetensors(directory / "tensors" / f"{name}.{kind}.safetensors")
            for kind in ("weights", "inputs", "expected")
        )
        module = GraphModule(ir, weights)
        self.input_names = [tensor["name"] for tensor in ir["graph_inputs"]]
        self.inputs = tuple(saved[name] for name in self.input_names)
        self.expected = [expected[tensor["name"]] for tensor in ir["graph_outputs"]]
        with torch.no_grad():
            self.program = torch.export.export(module, self.inputs)

    def check(self, outputs, engine):
        for actual, expected in zip(outputs, self.expected, strict=True):
            if not torch.allclose(torch.as_tensor(actual), expected, TOLERANCE, TOLERANCE):
                raise ValueError(f"{self.name}: {engine} does not compute what eager computes")


class AotInductor:
    """Packages, timed by peers_benchmark_aotinductor.cc."""

    def __init__(self, directory):
        source = pathlib.Path(__file__).resolve().with_name("peers_benchmark_aotinductor.cc")
        torch_directory = pathlib.Path(torch.__file__).parent
        include, libraries = torch_directory / "include", torch_directory / "lib"
        library = directory / "aotinductor.so"
        subprocess.run(
            ["g++", "-std=c++20", "-O2", "-shared", "-fPIC", source, "-o", library,
             "-isystem", include, "-isystem", include / "torch/csrc/api/include",
             f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}",
             f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-ltorch_cpu", "-lc10"], check=True)
        self._directory = directory
        self._library = ctypes.CDLL(str(library))
        self._library.peer_error.restype = ctypes.c_char_p
        self._library.peer_load.restype = ctypes.c_void_p
        self._library.peer_add_input.restype = ctypes.c_bool
        self._library.peer_time.restype = ctypes.c_bool

    def prepare(self, model, engine, freezing):
        path = str(self._directory / f"{model.name}-{engine}.pt2")
        # Weights are frozen only where no gradient can be asked for.
        with torch.no_grad(), torch._inductor.config.patch(freezing=freezing):
            torch._inductor.aoti_compile_and_package(model.program, package_path=path)
            outputs = torch._inductor.aoti_load_package(path)(*model.inputs)
        model.check([outputs] if isinstance(outputs, torch.Tensor) else outputs, engine)
        peer = ctypes.c_void_p(self._checked(self._library.peer_load(path.encode())))
        for tensor in model.inputs:
            sizes = (ctypes.c_int64 * tensor.dim())(*tensor.shape)
            self._checked(self._library.peer_add_input(
                peer, ctypes.c_void_p(tensor.data_ptr()), sizes, ctypes.c_int64(tensor.dim()),
                ctypes.c_bool(tensor.dtype == torch.int64)))
        # The peer reads the memory of the inputs, so they have to live as long as it does.
        return lambda iterations, _inputs=model.inputs: self._time(peer, iterations)

    def _time(self, peer, iterations):
        times = (ctypes.c_double * 2)()
        self._checked(self._library.peer_time(peer, ctypes.c_int64(iterations), times))
        return times[0], times[1]

    def _checked(self, result):
        if not result:
            raise RuntimeError(self._library.peer_error().decode())
        return result


class OnnxRuntime:

    def __init__(self, directory):
        import onnxruntime
        self._runtime = onnxruntime
        self._directory = directory

    def prepare(self, model, engine):
        path = str(self._directory / f"{model.name}-{engine}.onnx")
        torch.onnx.export(model.program, model.inputs, path, dynamo=True, verbose=False,
                          input_names=model.input_names)
        timed, outputs = self._bind(path, model.inputs)
        model.check(outputs, engine)
        return timed

    def call_nanoseconds(self):
        """What a call costs that does nothing."""
        identity = torch.fx.symbolic_trace(torch.nn.Identity())
        path = str(self._directory / "nothing.onnx")
        torch.onnx.export(identity, (torch.zeros(1),), path, dynamo=True, verbose=False)
        timed, _ = self._bind(path, [torch.zeros(1)])
        return timed(20_000)[1] / 20_000

    def _bind(self, path, inputs):
        options = self._runtime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        session = self._runtime.InferenceSession(path, options, ["CPUExecutionProvider"])
        binding = session.io_binding()
        for placeholder, tensor in zip(session.get_inputs(), inputs, strict=True):
            binding.bind_ortvalue_input(
                placeholder.name, self._runtime.OrtValue.ortvalue_from_numpy(tensor.numpy()))
        for output in session.get_outputs():
            binding.bind_output(output.name)
        session.run_with_iobinding(binding)
        outputs = binding.copy_outputs_to_cpu()

        # Into the same memory each time, as ONNX Runtime's users do.
        for output, value in zip(session.get_outputs(), binding.get_outputs(), strict=True):
            binding.bind_ortvalue_output(output.name, value)
        call, bound = session._sess.run_with_iobinding, binding._iobinding

        def timed(iterations):
            start, cpu_start = time.perf_counter_ns(), time.process_time_ns()
            for _ in range(iterations):
                call(bound, None)
            cpu = time.process_time_ns() - cpu_start
            return time.perf_counter_ns() - start, cpu

        return timed, outputs


def iterations_for(timed):
    """How many runs fill a round."""
    timed(WARM_UP_RUNS)
    iterations = 1
    while (nanoseconds := timed(iterations)[1]) < MIN_NANOSECONDS:
        if nanoseconds > MIN_NANOSECONDS / 20:
            return max(iterations + 1, int(iterations * MIN_NANOSECONDS / nanoseconds))
        iterations *= 8
    return iterations


def time_eager(benchmark, models, directory):
    """One round of C++ eager."""
    report = directory / "eager.json"
    pattern = f"^execute/({'|'.join(models)})/eager$"
    subprocess.run([benchmark, f"--benchmark_filter={pattern}", "--benchmark_repetitions=1",
                    f"--benchmark_out={report}", "--benchmark_out_format=json"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return json.loads(report.read_text())


def entry(name, index, rounds, iterations, real_time, cpu_time):
    return {"name": name, "run_name": name, "run_type": "iteration", "repetitions": rounds,
            "repetition_index": index, "threads": 1, "iterations": iterations,
            "real_time": real_time / iterations, "cpu_time": cpu_time / iterations,
            "time_unit": "ns"}


def measure(options, directory):
    saved = directory / "models"
    subprocess.run([options.bin / "benchmark_harness", "--save-tensors", "--output", saved],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    names = options.model or sorted(path.stem for path in (saved / "ir").glob("*.json"))
    inductor, onnx = AotInductor(directory), OnnxRuntime(directory)
    engines = {
        "aotinductor": lambda model, name: inductor.prepare(model, name, freezing=False),
        "aotinductor_freezing": lambda model, name: inductor.prepare(model, name, freezing=True),
        "onnxruntime": onnx.prepare,
    }
    peers = []
    for name in names:
        model = Model(saved, name)
        for engine, prepare in engines.items():
            print(f"preparing {name} for {engine}", file=sys.stderr, flush=True)
            timed = prepare(model, engine)
            peers.append((f"execute/{name}/{engine}", timed, iterations_for(timed)))
    call = onnx.call_nanoseconds()
    print(f"call: {call / 1e3:.2f} us of each run of ONNX Runtime", file=sys.stderr)

    order, context, benchmarks = random.Random(0), {}, []
    for index in range(options.rounds):
        report = time_eager(options.bin / "executor_benchmark", names, directory)
        context = report["context"]
        for run in report["benchmarks"]:
            benchmarks.append(dict(run, repetitions=options.rounds, repetition_index=index))
        for name, timed, iterations in order.sample(peers, len(peers)):
            benchmarks.append(entry(name, index, options.rounds, iterations, *timed(iterations)))
        print(f"round {index + 1} of {options.rounds}", file=sys.stderr, flush=True)
    context["torch"] = torch.__version__
    context["onnxruntime"] = onnx._runtime.__version__
    context["onnxruntime_call_ns"] = f"{call:.0f}"
    return {"context": context, "benchmarks": benchmarks}


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, metavar="DIR",
                        help="the folder with executor_benchmark and benchmark_harness")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--model", action="append", help="only this one; may be repeated")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args(arguments)
    options.bin = options.bin.resolve()
    keep_memory_from_the_system()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as directory:
        report = measure(options, pathlib.Path(directory))
    options.output.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
