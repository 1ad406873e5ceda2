// torch-ir execute: runs a graph. torch-ir verify: also checks its outputs.

#include <ATen/Context.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <ostream>
#include <system_error>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/cli/command.h"
#include "torch_ir/cli/execution.h"
#include "torch_ir/cli/options.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/runtime/device.h"
#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/verifier/verify.h"
#include "torch_ir/weights/tensor_files.h"

namespace torch_ir {
namespace {

struct ExecuteArguments {
  ExecutionArguments execution;
  std::string outputs;
};

// The outputs are on the CPU.
std::vector<at::Tensor> run_once(const Case& content, const ExecutionArguments& arguments) {
  at::manual_seed(arguments.seed);
  const auto inputs = to_device(content.inputs, arguments.options.device);
  return to_device(compile(content, arguments.options).run_checked(inputs), c10::kCPU);
}

// Devices and pipes may have any name.
void check_outputs_name(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const bool is_file = !fs::exists(path, ignored) || fs::is_regular_file(path, ignored);
  if (path.ends_with(".safetensors") || path.starts_with("/dev/") || !is_file) return;
  throw Error("cannot write outputs to '" + path + "'; expected a name that ends in .safetensors");
}

int run_execute(const ExecuteArguments& arguments, Console& console) {
  const ExecutionArguments& inputs = arguments.execution;
  refuse_to_overwrite(arguments.outputs,
                      {inputs.file, inputs.weights.path, inputs.constants, inputs.inputs});
  check_outputs_name(arguments.outputs);
  IR ir;
  std::vector<at::Tensor> outputs;
  run_graph_file(inputs, console, [&](const GraphFile& file) {
    ir = file.ir;
    outputs = run_once(file.content, inputs);
  });
  write_outputs(arguments.outputs, ir, outputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    console.talk() << printable(ir.graph_outputs[i].name) << ": "
                   << dtype_name(outputs[i].scalar_type()) << " " << outputs[i].sizes() << '\n';
  }
  return kDone;
}

void declare_execute(CLI::App& parser, ExecuteArguments& arguments) {
  add_execution_arguments(parser, arguments.execution);
  add_run_options(parser, arguments.execution);
  add_file_option(parser, "-o,--output,--outputs", arguments.outputs,
                  "Write the outputs to this file: .safetensors")
      ->required();
}

struct VerifyArguments {
  ExecutionArguments execution;
  std::string expected;
  ToleranceRule tolerance;
  Criterion criterion;
};

VerificationReport verify(const VerifyArguments& arguments, const GraphFile& file) {
  const ExecutionArguments& execution = arguments.execution;
  const auto run_plan = [&](const Case& content) { return run_once(content, execution); };
  const std::vector<at::Tensor> outputs = run_plan(file.content);
  Case content = file.content;
  content.expected = read_expected(arguments.expected, file.ir);
  return judge_run(
      {.graph_case = content,
       .outputs = outputs,
       .rerun = run_plan,
       .run_eagerly = [&] { return at::manual_seed(execution.seed), eager_outputs(content); },
       .describe = [](const std::exception& error) { return headline(message_text(error)); }},
      arguments.tolerance, arguments.criterion);
}

int run_verify(const VerifyArguments& arguments, Console& console) {
  VerificationReport report;
  run_graph_file(arguments.execution, console,
                 [&](const GraphFile& file) { report = verify(arguments, file); });
  report.optimization = arguments.execution.options.optimization;
  console.talk() << report;
  return report.is_valid ? kDone : kDifferent;
}

void declare_verify(CLI::App& parser, VerifyArguments& arguments) {
  add_execution_arguments(parser, arguments.execution);
  add_run_options(parser, arguments.execution);
  add_file_option(parser, "--expected", arguments.expected,
                  "Expected outputs, by the graph's names: .safetensors")
      ->required();
  add_tolerance_options(parser, arguments.tolerance, &arguments.criterion);
}

}  // namespace

Command execute_command() {
  return {.name = "execute",
          .summary = "Run a graph and write its outputs",
          .examples =
              "  torch-ir execute model.json --weights weights.safetensors \\\n"
              "      --inputs inputs.safetensors -o outputs.safetensors\n"
              "  torch-ir execute model.pt2 --inputs inputs.safetensors -o outputs.safetensors\n",
          .declare = with_arguments(declare_execute, run_execute)};
}

Command verify_command() {
  return {.name = "verify",
          .summary = "Run a graph and compare its outputs with expected ones",
          .examples =
              "  torch-ir verify model.json --weights weights.safetensors \\\n"
              "      --inputs inputs.safetensors --expected expected.safetensors\n"
              "  torch-ir verify model.pt2 --inputs inputs.safetensors \\\n"
              "      --expected expected.safetensors --rtol 1e-4 --atol 1e-4\n",
          .declare = with_arguments(declare_verify, run_verify)};
}

}  // namespace torch_ir
