// torch-ir execute: runs a graph. torch-ir verify: also checks its outputs.

#include <ATen/Context.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <ostream>
#include <system_error>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/cli/command.h"
#include "torch_ir/cli/execution.h"
#include "torch_ir/cli/options.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/runtime/device.h"
#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/runtime/graph/state.h"
#include "torch_ir/verifier/judge_run.h"
#include "torch_ir/weights/safetensors.h"
#include "torch_ir/weights/tensor_files.h"

namespace torch_ir {
namespace {

struct ExecuteArguments {
  ExecutionArguments execution;
  std::string outputs;
};

// The outputs are on the CPU.
std::vector<at::Tensor> run(const ExecutionPlan& plan, const std::vector<at::Tensor>& inputs,
                            const ExecutionArguments& arguments) {
  at::manual_seed(arguments.seed);
  return to_device(plan.run_checked(to_device(inputs, arguments.options.device)), c10::kCPU);
}

std::vector<at::Tensor> run_once(const Case& content, const ExecutionArguments& arguments) {
  return run(compile(content, arguments.options), content.inputs, arguments);
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
  std::shared_ptr<const Program> program;
  std::vector<at::Tensor> outputs;
  run_graph_file(inputs, console, [&](const RunnableGraph& file) {
    program = file.content.program;
    outputs = run_once(file.content, inputs);
  });
  save_weights_safetensors(outputs_by_name(*program, outputs), arguments.outputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    console.talk() << printable((*program)[program->outputs[i]].name) << ": "
                   << dtype_and_shape(outputs[i]) << '\n';
  }
  return kDone;
}

void declare_execute(CLI::App& parser, ExecuteArguments& arguments) {
  add_execution_arguments(parser, arguments.execution);
  add_file_option(parser, "--inputs", arguments.execution.inputs,
                  "Inputs, by the graph's names: .safetensors")
      ->required();
  add_seed_option(parser, arguments.execution);
  add_file_option(parser, "-o,--output,--outputs", arguments.outputs,
                  "Write the outputs to this file: .safetensors")
      ->required();
}

struct VerifyArguments {
  ExecutionArguments execution;
  std::vector<std::string> inputs;
  std::vector<std::string> expected;
  int64_t steps = 1;
  std::vector<std::string> carry;
  ToleranceRule tolerance;
  Criterion criterion;
};

// The model's steps go on with its own state, those of the plan with what it returned.
VerificationReport verify(const VerifyArguments& arguments, const GraphFile& file) {
  const ExecutionArguments& execution = arguments.execution;
  const auto run_plan = [&](const Case& content) { return run_once(content, execution); };
  const std::vector<Mutation> carried = carried_values(*file.content.program, arguments.carry);
  Case model = file.content;
  Case ours = arguments.steps > 1 ? with_carried_inputs(carried, model) : model;
  const ExecutionPlan plan = compile(ours, execution.options);
  const auto run_eagerly = [&] {
    at::manual_seed(execution.seed);
    return eager_outputs(model);
  };
  for (size_t step = 0;;) {
    const std::vector<at::Tensor> outputs = run(plan, ours.inputs, execution);
    if (step < arguments.expected.size()) {
      model.expected = read_expected(arguments.expected[step], *model.program);
      add_expected_state(model);
    } else {
      model.expected = run_eagerly();
    }
    VerificationReport report = judge_run(
        {.graph_case = model,
         .outputs = outputs,
         .rerun = run_plan,
         .run_eagerly = run_eagerly,
         .describe = [](const std::exception& error) { return headline(message_text(error)); }},
        arguments.tolerance, arguments.criterion);
    ++step;
    if (!report.is_valid && arguments.steps > 1) {
      report.error_message = fmt::format("step {}, {}", step, report.error_message);
    }
    if (!report.is_valid || std::cmp_equal(step, arguments.steps)) return report;
    const std::string& path = arguments.inputs[step % arguments.inputs.size()];
    for (Case* next : {&model, &ours}) {
      std::ranges::copy(read_inputs(path, file.ir), next->inputs.begin());
    }
    carry(carried, model.expected, model);
    carry(carried, outputs, ours);
  }
}

int run_verify(const VerifyArguments& arguments, Console& console) {
  for (const auto& [flag, files] :
       {std::pair("--inputs", &arguments.inputs), std::pair("--expected", &arguments.expected)}) {
    if (std::cmp_less_equal(files->size(), arguments.steps)) continue;
    throw Error(fmt::format("{} is given {} times; --steps says how many runs there are, {}", flag,
                            files->size(), arguments.steps));
  }
  VerificationReport report;
  ExecutionArguments execution = arguments.execution;
  execution.inputs = arguments.inputs.front();
  run_graph_file(execution, console,
                 [&](const RunnableGraph& file) { report = verify(arguments, file); });
  report.optimization = arguments.execution.options.optimization;
  console.talk() << report;
  return report.is_valid ? kDone : kDifferent;
}

void declare_verify(CLI::App& parser, VerifyArguments& arguments) {
  add_execution_arguments(parser, arguments.execution);
  add_seed_option(parser, arguments.execution);
  const auto add_files = [&](const char* flag, std::vector<std::string>& files, const char* text) {
    parser.add_option(flag, files, text)->type_name("FILE")->required()->allow_extra_args(false);
  };
  add_files("--inputs", arguments.inputs, "Inputs, by the graph's names: .safetensors");
  add_files("--expected", arguments.expected,
            "Expected outputs, by the graph's names: .safetensors");
  add_count_option(parser, "--steps", arguments.steps,
                   "Runs on one state: --inputs in turn, --expected of the first steps");
  parser
      .add_option("--carry", arguments.carry,
                  "With --steps: hand an output to an input of the next step")
      ->type_name("OUT=IN")
      ->allow_extra_args(false);
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
