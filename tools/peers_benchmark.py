"""Times AOTInductor and ONNX Runtime beside the engines of runtime_benchmark, for one table.

    bazel build -c opt //harness //harness/benchmark:runtime_benchmark
    python tools/peers_benchmark.py --bin bazel-bin/harness/benchmark \\
        --pt2 harness/testdata -o peers.json
    python tools/benchmark_table.py peers.json

Needs a Python with torch, onnxruntime and onnxscript, and g++. Registered models come from the graphs
and weights that the harness saves: each becomes a module that calls one operator per node, which
torch.export accepts. torch.export.load reads archives; their inputs and expected outputs lie beside
them, as tools/export_model.py writes them. The engines are

    aotinductor            torch._inductor.aoti_compile_and_package
    aotinductor_freezing   the same with the weights frozen into the package
    onnxruntime            torch.onnx.export, and a session with ONNX Runtime's defaults

and each is timed only if its outputs are within 1e-4 of eager's, or of bfloat16, float16 and quantised
models, whose steps may fall otherwise, if their error is 20 dB below the values. If a peer does not support a model,
the report names the step that failed. Everything runs on one thread.

Ratios across processes need care. Every round starts runtime_benchmark, which times each of its
engines once, in random order; then each peer runs once, also in random order. A round's ratio to
eager compares these runs, which are within seconds of each other. The median and interval of the
rounds cover the remaining noise, such as the memory placement of a process. malloc is tuned as in
runtime_benchmark. AOTInductor is called from C++. ONNX Runtime is called from Python with bound
inputs and outputs; the overhead of that call is printed as "call", measured with an empty graph.

The output has the form of Google Benchmark's --benchmark_out: execute/MODEL/ENGINE.
"""

import argparse
import concurrent.futures
import contextlib
import ctypes
import dataclasses
import functools
import hashlib
import json
import multiprocessing
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import traceback
import warnings

import torch
import torch.utils._pytree as pytree

from ir_graph import GraphModule, load_ir
from safetensors_file import read_safetensors

TOLERANCE = 1e-4
LEAST_SNR = 20
MIN_NANOSECONDS = 20e6
WARM_UP_RUNS = 3


class Refused(Exception):
    """A peer does not support a model; the message is for the table."""


@contextlib.contextmanager
def refusing(reason):
    try:
        yield
    except Exception as error:
        traceback.print_exc()
        raise Refused(reason) from error


def keep_memory_from_the_system():
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallopt"):
        return
    m_trim_threshold, m_top_pad, m_mmap_threshold = -1, -2, -3
    libc.mallopt(m_mmap_threshold, 1 << 30)
    libc.mallopt(m_trim_threshold, -1)
    libc.mallopt(m_top_pad, 64 << 20)


# --- Models ---


class Model:
    """The program, inputs and expected outputs of a model, from which peers are built and checked."""

    def __init__(self, program, inputs, expected):
        self.program = program
        self.expected = expected
        # The tensors among the arguments of a call, and below all arguments.
        self.input_names = list(inputs)
        self.inputs = list(inputs.values())
        leaves = [inputs[spec.arg.name] if spec.arg.name in inputs else spec.arg.value
                  for spec in program.graph_signature.input_specs if spec.kind.name == "USER_INPUT"]
        self.args, self.kwargs = pytree.tree_unflatten(leaves, program.call_spec.in_spec)

        self.is_coarse = any(
            spec.dtype in (torch.int8, torch.uint8, torch.bfloat16, torch.float16)
            for spec in program.state_dict.values()) or any(
                "quantized_decomposed" in str(node.target) for node in program.graph.nodes)

    def check(self, outputs):
        for actual, expected in zip(outputs, self.expected, strict=True):
            actual = torch.as_tensor(actual)
            if not self.is_coarse:
                torch.testing.assert_close(actual, expected, rtol=TOLERANCE, atol=TOLERANCE)
                continue
            noise = (actual.double() - expected.double()).square().mean()
            snr = 10 * torch.log10(expected.double().square().mean() / noise).item()
            if not snr >= LEAST_SNR:
                raise AssertionError(f"the SNR is {snr:.1f} dB")


@dataclasses.dataclass(frozen=True)
class RegisteredModel:
    """A registered model that the harness saved."""

    directory: pathlib.Path
    name: str
    label = ""

    @property
    def files(self):
        return [self.directory / "ir" / f"{self.name}.json", self._tensors("weights")]

    def load(self):
        ir = load_ir(self.files[0])
        weights, saved, expected = (
            read_safetensors(self._tensors(kind)) for kind in ("weights", "inputs", "expected"))
        inputs = [saved[tensor["name"]] for tensor in ir["graph_inputs"]]
        with torch.no_grad():
            program = torch.export.export(GraphModule(ir, weights), tuple(inputs))
        return Model(program, dict(zip(program.graph_signature.user_inputs, inputs)),
                     [expected[tensor["name"]] for tensor in ir["graph_outputs"]])

    def _tensors(self, kind):
        return self.directory / "tensors" / f"{self.name}.{kind}.safetensors"


@dataclasses.dataclass(frozen=True)
class Archive:
    path: pathlib.Path
    label = "archive"

    @property
    def name(self):
        return self.path.stem

    @property
    def files(self):
        return [self.path]

    def load(self):
        # These register operators that archives may call.
        import torch.ao.quantization.fx._decomposed  # noqa: F401
        with contextlib.suppress(ImportError):
            import transformers.integrations.moe  # noqa: F401
        saved, expected = (
            read_safetensors(self.path.with_name(f"{self.name}.{kind}.safetensors"))
            for kind in ("inputs", "expected"))
        program = torch.export.load(self.path)
        signature = program.graph_signature
        return Model(program, {name: saved[name] for name in signature.user_inputs if name in saved},
                     [expected[name] for name in signature.user_outputs])


def find_archives(paths):
    return [Archive(path) for given in paths
            for path in (sorted(given.glob("*.pt2")) if given.is_dir() else [given])]


# --- Peers ---


class AotInductor:
    """AOTInductor's packages, timed by peers_benchmark_aotinductor.cc."""

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
        self._library = ctypes.CDLL(str(library))
        self._library.peer_error.restype = ctypes.c_char_p
        self._library.peer_load.restype = ctypes.c_void_p
        self._library.peer_add_input.restype = ctypes.c_bool
        self._library.peer_time.restype = ctypes.c_bool

    @staticmethod
    def build(model, path, freezing):
        # Inductor freezes weights only without gradients.
        with refusing("not compiled"), torch.no_grad(), \
                torch._inductor.config.patch(freezing=freezing, compile_threads=1):
            torch._inductor.aoti_compile_and_package(model.program, package_path=path)

    def load(self, model, path):
        with refusing("does not run"):
            outputs = torch._inductor.aoti_load_package(path)(*model.args, **model.kwargs)
        with refusing("other results"):
            model.check(pytree.tree_leaves(outputs))
        peer = ctypes.c_void_p(self._checked(self._library.peer_load(path.encode())))
        for tensor in model.inputs:
            sizes = (ctypes.c_int64 * tensor.dim())(*tensor.shape)
            self._checked(self._library.peer_add_input(
                peer, ctypes.c_void_p(tensor.data_ptr()), sizes, ctypes.c_int64(tensor.dim()),
                ctypes.c_bool(tensor.dtype == torch.int64)))
        # The peer reads the memory of the inputs, so they must live as long as it does.
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

    @staticmethod
    def build(model, path):
        with refusing("not exported"):
            torch.onnx.export(model.program, model.args, path, kwargs=model.kwargs, dynamo=True,
                              verbose=False, input_names=model.input_names,
                              external_data=False)

    def load(self, model, path):
        with refusing("does not run"):
            timed, outputs = self._bind(path, model.inputs)
        with refusing("other results"):
            model.check(outputs)
        return timed

    def call_nanoseconds(self):
        """The cost of a call that computes nothing."""
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

        # Writes into the same memory each time, as ONNX Runtime's users do.
        for output, value in zip(session.get_outputs(), binding.get_outputs(), strict=True):
            binding.bind_ortvalue_output(output.name, value)
        call, bound = session._sess.run_with_iobinding, binding._iobinding

        # The session reads the memory of the inputs, so they must live as long as it does.
        def timed(iterations, _inputs=inputs):
            start, cpu_start = time.perf_counter_ns(), time.process_time_ns()
            for _ in range(iterations):
                call(bound, None)
            cpu = time.process_time_ns() - cpu_start
            return time.perf_counter_ns() - start, cpu

        return timed, outputs


def iterations_for(timed):
    """The number of runs that fill a round."""
    timed(WARM_UP_RUNS)
    iterations = 1
    while (nanoseconds := timed(iterations)[1]) < MIN_NANOSECONDS:
        if nanoseconds > MIN_NANOSECONDS / 20:
            return max(iterations + 1, int(iterations * MIN_NANOSECONDS / nanoseconds))
        iterations *= 8
    return iterations


# --- Building, in parallel processes: g++ takes most of the time ---

ENGINES = {
    "aotinductor": lambda model, path: AotInductor.build(model, path, freezing=False),
    "aotinductor_freezing": lambda model, path: AotInductor.build(model, path, freezing=True),
    "onnxruntime": OnnxRuntime.build,
}


def start_worker():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")


def build(source, engine, path):
    """Builds `path`. Returns why `engine` does not support the model, or None on success."""
    new = path.with_name(f"new-{path.name}")
    try:
        with refusing("not read"):
            model = source.load()
        ENGINES[engine](model, str(new))
    except Refused as refusal:
        return str(refusal)
    new.replace(path)
    return None


def package_path(directory, source, engine):
    """The path of the package, which depends on the contents of its sources."""
    digest = hashlib.sha256(torch.__version__.encode())
    for file in source.files:
        digest.update(file.read_bytes())
    suffix = "onnx" if engine == "onnxruntime" else "pt2"
    return directory / f"{source.name}-{engine}-{digest.hexdigest()[:16]}.{suffix}"


def build_all(sources, directory):
    """Yields the path of each package, or why it is missing, by model and engine. Keeps existing ones."""
    workers = concurrent.futures.ProcessPoolExecutor(
        os.cpu_count(), multiprocessing.get_context("spawn"), start_worker)
    with workers:
        built = {}
        for source in sources:
            for engine in ENGINES:
                path = package_path(directory, source, engine)
                refusal = None if path.exists() else workers.submit(build, source, engine, path)
                built[source, engine] = path, refusal
        for (source, engine), (path, refusal) in built.items():
            why = refusal.result() if refusal else None
            print(f"built {source.name} for {engine}" + (f": {why}" if why else ""),
                  file=sys.stderr, flush=True)
            yield source, engine, str(path), why


# --- Measuring ---


def time_runtime(command, models, directory):
    """One round of the engines of runtime_benchmark."""
    report = directory / "runtime.json"
    run = subprocess.run(
        [*command, f"--benchmark_filter=^execute/({'|'.join(models)})/",
         "--benchmark_repetitions=1", f"--benchmark_out={report}", "--benchmark_out_format=json"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode:
        # An engine failed, or its outputs differ from eager's.
        print(run.stdout, file=sys.stderr)
        run.check_returncode()
    return json.loads(report.read_text())


def entry(source, engine, **more):
    name = f"execute/{source.name}/{engine}"
    return {"name": name, "run_name": name, "run_type": "iteration", "threads": 1,
            "label": source.label, **more}


class Peer:
    """An engine that is ready to run a model."""

    def __init__(self, source, engine, timed):
        self._source, self._engine, self._timed = source, engine, timed
        self._iterations = iterations_for(timed)

    def run(self, index, rounds):
        real_time, cpu_time = self._timed(self._iterations)
        return entry(self._source, self._engine, repetitions=rounds, repetition_index=index,
                     iterations=self._iterations, real_time=real_time / self._iterations,
                     cpu_time=cpu_time / self._iterations, time_unit="ns")


def measure(options, directory):
    saved = directory / "models"
    subprocess.run([options.bin.parent / "harness", "--save-tensors", "--output", saved],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    sources = [RegisteredModel(saved, path.stem) for path in sorted((saved / "ir").glob("*.json"))]
    sources += find_archives(options.pt2)
    if options.model:
        sources = [source for source in sources if source.name in options.model]

    onnx, inductor = OnnxRuntime(directory), AotInductor(directory)
    loaders = {"aotinductor": inductor, "aotinductor_freezing": inductor, "onnxruntime": onnx}
    peers, benchmarks = [], []
    load = functools.lru_cache(maxsize=1)(lambda source: source.load())
    packages = options.packages or directory / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    for source, engine, path, refusal in build_all(sources, packages.resolve()):
        try:
            if refusal:
                raise Refused(refusal)
            peers.append(Peer(source, engine, loaders[engine].load(load(source), path)))
        except Refused as reason:
            benchmarks.append(entry(source, engine, skipped=True, skip_message=str(reason)))
    call = onnx.call_nanoseconds()
    print(f"call: {call / 1e3:.2f} us in each run of ONNX Runtime", file=sys.stderr)

    names = [source.name for source in sources]
    command = [options.bin / "runtime_benchmark",
               *(f"--pt2={path}" for path in options.pt2)]
    order, context = random.Random(0), {}
    for index in range(options.rounds):
        report = time_runtime(command, names, directory)
        context = report["context"]
        for run in report["benchmarks"]:
            benchmarks.append(dict(run, repetitions=options.rounds, repetition_index=index))
        benchmarks += [peer.run(index, options.rounds) for peer in order.sample(peers, len(peers))]
        print(f"round {index + 1} of {options.rounds}", file=sys.stderr, flush=True)
    context["torch"] = torch.__version__
    context["onnxruntime"] = onnx._runtime.__version__
    context["onnxruntime_call_ns"] = f"{call:.0f}"
    return {"context": context, "benchmarks": benchmarks}


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, metavar="DIR",
                        help="folder of runtime_benchmark, below the folder of harness")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--pt2", type=pathlib.Path, action="append", default=[], metavar="FILE",
                        help="archive or folder of archives; may be repeated")
    parser.add_argument("--packages", type=pathlib.Path, metavar="DIR",
                        help="keep the built models of the peers (half of the work) for another run")
    parser.add_argument("--model", action="append", help="only this model; may be repeated")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args(arguments)
    options.bin = options.bin.resolve()
    keep_memory_from_the_system()
    start_worker()
    with tempfile.TemporaryDirectory() as directory:
        report = measure(options, pathlib.Path(directory))
    options.output.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
