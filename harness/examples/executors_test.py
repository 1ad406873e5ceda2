"""Tests of the executors here; the harness runs them as for a user.

    python harness/examples/executors_test.py HARNESS

Tests that need onnxruntime and onnxscript are skipped without them.
"""

import importlib.util
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

import torch

EXAMPLES = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(EXAMPLES))

import score_suite  # noqa: E402
import torch_executor  # noqa: E402

FILES = "{ir} {weights} {inputs} {outputs}"
SERVER = "--server"
HAS_ONNX_RUNTIME = bool(importlib.util.find_spec("onnxruntime") and
                        importlib.util.find_spec("onnxscript"))
HAS_OPENVINO = HAS_ONNX_RUNTIME and bool(importlib.util.find_spec("openvino"))

# Attention and layer norm; convolutions, batch norm and two outputs; two inputs; an embedding of
# integers; an index with None in a list; a constant.
MODELS = ["TransformerBlock", "MultiTaskHead", "CrossAttention", "WeightTying", "GatherWithIndex",
          "MaskedLinear"]

WRONG_EXECUTOR = f"""
import sys
sys.path.insert(0, {str(EXAMPLES)!r})
import torch, torch_executor
def gelu(x, approximate="none"):
    return torch.nn.functional.gelu(x, approximate="tanh") + 0.01
torch_executor.main(kernels={{"aten.gelu.default": gelu}})
"""

# Ties and indices; rounding; several inputs; a list; integers.
OPERATORS = ["aten.softmax", "aten.topk", "aten.sort", "aten.argmax", "aten.add", "aten.cat",
             "aten.bitwise_and", "aten.conv2d", "aten.positive"]
FLOAT8 = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")


def as_array(tensor):
    is_unknown_to_numpy = tensor.dtype == torch.bfloat16 or "float8" in str(tensor.dtype)
    return (tensor.float() if is_unknown_to_numpy else tensor).resolve_conj().numpy()


def torch_outputs(folder, kernels=None):
    """Torch's outputs for the case in `folder`."""
    weights = folder / "weights.safetensors"
    outputs = torch_executor.run(
        torch_executor.load_ir(folder / "ir.json"),
        torch_executor.read_safetensors(weights) if weights.exists() else {},
        torch_executor.read_safetensors(folder / "inputs.safetensors"), kernels)
    return {name: as_array(tensor) for name, tensor in outputs.items()}


def wrong_softmax(x, dim, dtype=None):
    return torch.softmax(x, dim, dtype) * 1.1


class ExecutorsTest(unittest.TestCase):

    harness = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        # A name that the shell would split.
        self.folder = pathlib.Path(folder.name) / "it's a folder"
        self.folder.mkdir()

    def run_harness(self, script, *flags, models=MODELS, files=FILES):
        """The exit status, the output, and the results by model."""
        command = f"{shlex.quote(sys.executable)} {shlex.quote(str(script))} {files}"
        reports = self.folder / "reports"
        run = subprocess.run(
            [self.harness, "--output", reports, "--executor", command,
             *(f"--model={model}" for model in models), *flags],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        results = json.loads((reports / "results.json").read_text()) if (
            reports / "results.json").exists() else {"models": []}
        return run.returncode, run.stdout, {m["name"]: m for m in results["models"]}

    def script(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def test_torch_computes_what_the_models_compute(self):
        status, printed, _ = self.run_harness(EXAMPLES / "torch_executor.py", "--trials=1")
        self.assertEqual(status, 0, printed)
        for model in MODELS:
            self.assertRegex(printed, rf"{model} +PASSED")

    def test_weights_lie_in_memory_as_in_the_archive(self):
        testdata = EXAMPLES.parents[1] / "src/torch_ir/exporter/pt2/testdata"
        archives = (f"--pt2={testdata / name}.pt2" for name in ("strides", "part"))
        status, printed, _ = self.run_harness(
            EXAMPLES / "torch_executor.py", "--trials=1", *archives, models=[])
        self.assertEqual(status, 1, printed)
        self.assertRegex(printed, r"strides +PASSED")
        self.assertIn("node 'as_strided' reads the storage of 'part', a part of a larger one; a file "
                      "of weights cannot store that", printed)

    def test_intermediates_are_compared(self):
        status, printed, results = self.run_harness(
            EXAMPLES / "torch_executor.py", "--trials=1",
            models=["TransformerBlock"], files=FILES + " {intermediates}")
        self.assertEqual(status, 0, printed)
        page = (self.folder / "reports" / "TransformerBlock.md").read_text()
        self.assertIn("layer_norm", page)
        self.assertEqual(results["TransformerBlock"]["status"], "passed")

    def test_torch_stays_for_all_trials_and_intermediates(self):
        status, printed, results = self.run_harness(
            EXAMPLES / "torch_executor.py", "--per-node",
            models=["TransformerBlock", "GatherWithIndex"], files=SERVER)
        self.assertEqual(status, 0, printed)
        result = results["TransformerBlock"]
        self.assertEqual(len(result["trials"]), 3)
        self.assertGreater(result["node_report"]["num_compared"], 3)

    def test_torch_stays_for_cases_and_fails_with_one(self):
        script = self.script("wrong.py", WRONG_EXECUTOR)
        command = f"{shlex.quote(sys.executable)} {shlex.quote(str(script))} --server"
        reports = self.folder / "reports"
        subprocess.run(
            [self.harness, "--output", reports, "--executor", command, "--suite", "operators",
             "--operator=aten.softmax", "--operator=aten.gelu", "--dtype=float32"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        cases = json.loads((reports / "results.json").read_text())["cases"]
        outcomes = {(case["call"]["op_type"], case["status"]) for case in cases}
        self.assertIn(("aten.gelu.default", "failed"), outcomes)
        self.assertIn(("aten.softmax.int", "passed"), outcomes)
        self.assertNotIn(("aten.softmax.int", "failed"), outcomes)

    def test_an_operator_that_is_wrong_is_reported_with_its_node(self):
        script = self.script("wrong.py", WRONG_EXECUTOR)
        status, printed, results = self.run_harness(
            script, "--trials=1",
            models=["TransformerBlock", "MaskedLinear"], files=FILES + " {intermediates}")
        self.assertEqual(status, 1, printed)
        self.assertRegex(printed, "MaskedLinear +PASSED")
        self.assertRegex(printed, "TransformerBlock +FAILED")
        result = results["TransformerBlock"]
        self.assertEqual(result["status"], "failed")
        self.assertIn("output mismatch", json.dumps(result["failure"]))
        self.assertEqual(result["node_report"]["first_divergence"]["op_type"],
                         "aten.gelu.default")

    def test_devices_are_right_for_their_dtype(self):
        for options in ("", " --fuse", " --steps", " --float-weights"):
            for dtype in ("float16", "bfloat16", "tf32"):
                status, printed, _ = self.run_harness(
                    EXAMPLES / "simulated_device.py", "--trials=1", "--per-node",
                    "--compute-dtype", dtype, models=["TransformerBlock", "MultiTaskHead"],
                    files=f"{SERVER} --dtype {dtype}{options}")
                self.assertEqual(status, 0, printed)
                self.assertRegex(printed, "TransformerBlock +PASSED .*right by its own error")

    def test_a_device_reports_places(self):
        status, printed, results = self.run_harness(
            EXAMPLES / "simulated_device.py", "--trials=2", models=["TransformerBlock"],
            files=SERVER + " --host aten.gelu.default")
        self.assertEqual(status, 0, printed)
        executor = results["TransformerBlock"]["executor"]
        on_host = [name for name, node in executor["nodes"].items() if node["place"] == "host"]
        self.assertEqual(on_host, ["gelu"])
        self.assertEqual(len(executor["nodes"]), executor["num_nodes"])
        for page in ("TransformerBlock.md", "SUMMARY.md"):
            self.assertRegex((self.folder / "reports" / page).read_text(),
                             r"\| host \| 1 \| gelu 1 \| `gelu` \|")

    def test_a_device_of_another_dtype_is_wrong(self):
        status, printed, _ = self.run_harness(
            EXAMPLES / "simulated_device.py", "--trials=1", "--compute-dtype", "float16",
            models=["TransformerBlock"], files=SERVER + " --dtype bfloat16")
        self.assertEqual(status, 1, printed)

    def test_faults_of_a_device_are_named(self):
        for fault, node in (("scale=gelu:1.01", "gelu"), ("scale=linear:1.002", "linear"),
                            ("epsilon=layer_norm:1e-3", "layer_norm"),
                            ("operator=gelu", "gelu")):
            status, printed, results = self.run_harness(
                EXAMPLES / "simulated_device.py", "--trials=1", "--per-node",
                "--compute-dtype=float16", models=["TransformerBlock"],
                files=f"{SERVER} --dtype float16 --fault {fault}")
            self.assertEqual(status, 1, printed)
            nodes = results["TransformerBlock"]["node_report"]
            self.assertEqual(nodes["first_divergence"]["node"], node, printed)
            self.assertEqual(nodes["num_mismatched"], 1, printed)

    def test_a_fault_in_a_group_of_a_device_is_named(self):
        status, printed, results = self.run_harness(
            EXAMPLES / "simulated_device.py", "--trials=1", "--per-node",
            "--compute-dtype=bfloat16", models=["TransformerBlock"],
            files=f"{SERVER} --dtype bfloat16 --fuse --fault scale=gelu:1.03")
        self.assertEqual(status, 1, printed)
        node = results["TransformerBlock"]["node_report"]["first_divergence"]
        self.assertIn("gelu", node["group"].split("+"), printed)

    def test_a_device_in_int8_is_right_up_to_rounding_steps(self):
        exports = EXAMPLES.parent / "testdata/exports"
        names = ("quantized_per_channel", "quantized_per_tensor", "against_pt2e")
        status, printed, results = self.run_harness(
            EXAMPLES / "simulated_device.py", "--trials=1", "--per-node",
            *(f"--pt2={exports / name}.pt2" for name in names), models=[],
            files=SERVER + " --dtype int8")
        self.assertEqual(status, 0, printed)
        for name in names:
            self.assertEqual(len(results[name]["node_report"]["groups"]), 5, printed)
            self.assertGreater(results[name]["node_report"]["num_inside"], 10, printed)

    def test_planted_faults_are_counted(self):
        self.run_harness(EXAMPLES / "torch_executor.py", "--trials=1", "--save-tensors",
                         models=["TransformerBlock"], files=SERVER)
        reports, folder = self.folder / "reports", self.folder / "block"
        folder.mkdir()
        (reports / "ir/TransformerBlock.json").rename(folder / "ir.json")
        for tensors in ("weights", "inputs"):
            (reports / f"tensors/TransformerBlock.{tensors}.safetensors").rename(
                folder / f"{tensors}.safetensors")

        def rows(*flags):
            run = subprocess.run([sys.executable, EXAMPLES / "plant_faults.py", self.harness,
                                  folder, *flags], stdout=subprocess.PIPE, text=True, check=True)
            return [line.strip("| ").split(" | ") for line in run.stdout.splitlines()[2:]]

        # Each fault changes what its node returns, which fails the model, and so all calls run.
        self.assertEqual(rows("--faults=3", "--dtype=float16", "--mode=split", "--mode=values"), [
            ["block", "float16", "split", "3", "3", "3", "0", "3", "3"],
            ["block", "float16", "values", "3", "3", "3", "0", "3", "3"]])
        self.assertEqual(rows("--right", "--seeds=1", "--dtype=float16"),
                         [["block", "float16", "6", "0"]])

    def test_an_executor_that_fails_says_why(self):
        script = self.script("fails.py", "raise SystemExit('no license found')")
        status, printed, _ = self.run_harness(script, "--trials=1", models=["MaskedLinear"])
        self.assertEqual(status, 1, printed)
        self.assertIn("The executor exited with status 1; it printed: no license found", printed)

    def test_a_command_without_its_files_is_refused(self):
        status, printed, _ = self.run_harness("sim.py", files="{ir} {inputs} {outputs}")
        self.assertEqual(status, 2, printed)
        self.assertIn("missing {weights}", printed)
        self.assertFalse((self.folder / "reports").exists())

    def export_suite(self, *flags):
        suite = self.folder / "suite"
        run = subprocess.run(
            [self.harness, "--suite", "operators", "--export-suite", suite, *flags],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout)
        return suite

    def test_scores_of_torch_and_of_an_operator_that_is_wrong(self):
        suite = self.export_suite(*(f"--operator={name}" for name in OPERATORS))
        right = score_suite.score(suite, torch_outputs)
        operators = {operator.rsplit(".", 1)[0] for operator, _ in right}
        self.assertEqual(operators, set(OPERATORS))
        self.assertEqual({status for _, status in right}, {"passed"}, right)
        dtypes = {json.loads(path.read_text())["dtype"] for path in suite.glob("cases/**/case.json")}
        self.assertLessEqual({"float32", "bfloat16", "float16", "int64", "bool", *FLOAT8}, dtypes)
        wrong = score_suite.score(
            suite, lambda folder: torch_outputs(folder, {"aten.softmax.int": wrong_softmax}))
        self.assertGreater(wrong["aten.softmax.int", "differs"], 0)
        differing = {operator for operator, status in wrong if status != "passed"}
        self.assertEqual(differing, {"aten.softmax.int"})

    def test_scores_of_commands(self):
        suite = self.export_suite("--operator=aten.softmax", "--dtype=float32")

        def score(script):
            command = f"{shlex.quote(sys.executable)} {shlex.quote(str(script))} {FILES}"
            run = subprocess.run([sys.executable, EXAMPLES / "score_suite.py", suite, command],
                                 stdout=subprocess.PIPE, text=True, check=False)
            return run.returncode, run.stdout.splitlines()[-1]

        count = len(list(suite.glob("cases/**/case.json")))
        self.assertEqual(score(EXAMPLES / "torch_executor.py"), (0, f"{count} passed"))
        self.assertEqual(score(self.script("no.py", "raise SystemExit(3)")),
                         (0, f"{count} unsupported"))
        self.assertEqual(score(self.script("fails.py", "raise SystemExit('no license found')")),
                         (1, f"{count} failed"))

    @unittest.skipUnless(HAS_ONNX_RUNTIME, "onnxruntime is not installed")
    def test_onnx_runtime_computes_what_the_models_compute(self):
        status, printed, _ = self.run_harness(
            EXAMPLES / "onnxruntime_executor.py", "--trials=1",
            models=["TransformerBlock", "WeightTying"], files=FILES + " {intermediates}")
        self.assertEqual(status, 0, printed)
        for files in (FILES, SERVER):
            status, printed, _ = self.run_harness(
                EXAMPLES / "onnxruntime_executor.py", "--trials=1", models=["MultiTaskHead"],
                files=files)
            self.assertEqual(status, 0, printed)

    @unittest.skipUnless(HAS_ONNX_RUNTIME, "onnxruntime is not installed")
    def test_a_fault_in_a_fused_group_of_onnx_runtime_is_found_by_name(self):
        flags = ["--trials=1", "--split"]
        status, printed, results = self.run_harness(
            EXAMPLES / "onnxruntime_executor.py", *flags, models=["MultiTaskHead"],
            files=SERVER + " --fault FusedGemm")
        self.assertEqual(status, 1, printed)
        group = "FusedGemm_relu_2"
        self.assertRegex(printed, rf"node \d+, relu_2 of the group {group}.*: 1 % too large")
        nodes = results["MultiTaskHead"]["node_report"]
        self.assertEqual(nodes["first_divergence"]["group"], group)
        self.assertEqual((nodes["num_not_handed_back"], nodes["unknown"]["values"]), (0, []))
        reproducer = results["MultiTaskHead"]["reproducer"]
        self.assertEqual((reproducer["first_node"], reproducer["last_node"]), ("linear", "relu_2"))
        cases = json.loads((self.folder / "reports" / "results.json").read_text())["cases"]
        self.assertEqual({case["call"]["op_type"] for case in cases if case["status"] == "failed"},
                         {"aten.linear.default+aten.relu.default"})

    @unittest.skipUnless(HAS_OPENVINO, "openvino is not installed")
    def test_openvino_computes_what_the_models_compute(self):
        status, printed, results = self.run_harness(
            EXAMPLES / "openvino_executor.py", "--per-node",
            models=["TransformerBlock", "WeightTying"], files=SERVER)
        self.assertEqual(status, 0, printed)
        self.assertTrue(results["TransformerBlock"]["node_report"]["groups"])

    def test_groups_that_cannot_be_fail_their_model_only(self):
        cyclic = {"groups": [{"name": "fused", "nodes": ["linear", "softmax"]}]}
        script = self.script("cyclic.py", f"""
import json, pathlib, sys
sys.path.insert(0, {str(EXAMPLES)!r})
import torch_executor
groups = sys.argv.pop(5)
if "softmax" in pathlib.Path(sys.argv[1]).read_text():
    pathlib.Path(groups).write_text(json.dumps({cyclic}))
torch_executor.main()
""")
        status, printed, _ = self.run_harness(
            script, "--trials=1", models=["TransformerBlock", "MaskedLinear"],
            files=FILES + " {groups}")
        self.assertEqual(status, 1, printed)
        self.assertRegex(printed, "TransformerBlock +FAILED +load failed in execute: group 'fused': it "
                                  "has a cycle: it needs the node '.*', which needs the group's results")
        self.assertRegex(printed, "MaskedLinear +PASSED")


if __name__ == "__main__":
    ExecutorsTest.harness = str(pathlib.Path(sys.argv.pop(1)).absolute())
    unittest.main()
