// torch-ir verify: does a graph compute what was expected?

#include "torch_ir/verifier/verify.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

#include "torch_ir/cli/commands.h"
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
  std::vector<at::Tensor> compared_outputs;
  std::vector<at::Tensor> compared_expected;
  std::vector<std::string> names;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!expected[i].defined()) continue;
    compared_outputs.push_back(outputs[i]);
    compared_expected.push_back(expected[i]);
    names.push_back(ir.graph_outputs[i].name);
  }
  VerificationReport report =
      compare_outputs(compared_outputs, compared_expected, names, arguments.tolerance);
  report.optimization = arguments.execution.options.optimization;
  console.talk() << report;
  return report.is_valid ? kDone : kDifferent;
}

Command::Action declare_verify(CLI::App& parser) {
  const auto arguments = std::make_shared<VerifyArguments>();
  add_execution_arguments(parser, arguments->execution);
  add_inputs_option(parser, arguments->execution);
  parser
      .add_option("--expected", arguments->expected,
                  "The outputs that it should have: .safetensors, by the graph's names")
      ->required()
      ->type_name("FILE");
  add_tolerance_options(parser, arguments->tolerance);
  return [arguments](Console& console) { return run_verify(*arguments, console); };
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
          .declare = declare_verify};
}

}  // namespace torch_ir
