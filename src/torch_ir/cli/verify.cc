// torch-ir verify: does a graph compute what was expected?

#include "torch_ir/verifier/verify.h"

#include <CLI/CLI.hpp>
#include <ostream>

#include "torch_ir/cli/command.h"
#include "torch_ir/cli/execution.h"
#include "torch_ir/cli/options.h"
#include "torch_ir/weights/tensor_files.h"

namespace torch_ir {
namespace {

struct VerifyArguments {
  ExecutionArguments execution;
  std::string expected;
  ToleranceRule tolerance;
};

int run_verify(const VerifyArguments& arguments, Console& console) {
  const auto [ir, outputs] = execute_graph_file(arguments.execution);
  const std::vector<at::Tensor> expected = read_expected(arguments.expected, ir);
  VerificationReport report = compare_known_outputs(ir, outputs, expected, arguments.tolerance);
  report.optimization = arguments.execution.options.optimization;
  console.talk() << report;
  return report.is_valid ? kDone : kDifferent;
}

void declare_verify(CLI::App& parser, VerifyArguments& arguments) {
  add_execution_arguments(parser, arguments.execution);
  add_inputs_option(parser, arguments.execution);
  add_file_option(parser, "--expected", arguments.expected,
                  "The outputs that it should have: .safetensors, by the graph's names")
      ->required();
  add_tolerance_options(parser, arguments.tolerance);
}

}  // namespace

Command verify_command() {
  return {.name = "verify",
          .summary = "Run a graph and compare its outputs with expected ones",
          .examples =
              "  torch-ir verify model.json --weights weights.safetensors \\\n"
              "      --inputs inputs.safetensors --expected expected.safetensors\n"
              "  torch-ir verify model.pt2 --inputs inputs.safetensors --expected "
              "expected.safetensors --tolerance dtype\n",
          .declare = with_arguments(declare_verify, run_verify)};
}

}  // namespace torch_ir
