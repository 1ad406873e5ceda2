#include <fmt/format.h>

#include <algorithm>

#include "harness/report/page_text.h"
#include "harness/report/run_text.h"

namespace torch_ir {
namespace {

std::string file_list(std::vector<std::string> files) {
  std::ranges::transform(files, files.begin(), file_name);
  return code_list(files, ", ");
}

std::string inputs_text(const Result& result, const RunContext& context) {
  if (!result.origin) {
    return fmt::format("weights and inputs from seed {}", context.settings.seed);
  }
  std::string weights =
      result.origin->is_graph() ? "the weights beside the graph" : "the archive's weights";
  if (!result.origin->weights.empty()) {
    weights = "the weights in " + code_span(file_name(result.origin->weights));
  }
  if (result.origin->inputs.empty()) {
    const bool is_own = result.origin->weights.empty();
    return weights + (is_own ? " and example inputs" : " and the archive's example inputs");
  }
  return weights + " and the inputs in " + file_list(result.origin->inputs);
}

std::string maximum_difference(const Result& result) {
  const std::string difference = max_diff_text(result);
  return difference.empty() ? "" : " Max abs. error: " + difference;
}

std::string verdict(const Result& result, const RunContext& context) {
  const std::string mark(status_mark(result.status()));
  switch (result.status()) {
    case Status::kPassed:
      if (!result.nothing_compared().empty()) {
        return mark + " **PASSED**, but nothing was compared: " + result.nothing_compared() + ".";
      }
      return mark + " **PASSED**" + host_text(result, ", but ") + ": the outputs match " +
             reference_of(result).outputs + "." + maximum_difference(result);
    case Status::kNotHeld:
      return mark + " **NOT HELD**: " + result.lost_text(code_span) + "." +
             (result.arithmetic()->has_executor ? " The executor is right up to there." : "");
    case Status::kExtracted:
      return mark +
             " **EXTRACTED**, not run: the graph was captured without weights, written, and read "
             "back. No outputs were compared.";
    case Status::kUnexpectedPass:
      return mark + " **UNEXPECTED PASS**: the model passes but is expected to fail (" +
             escape_markdown(expectation_text(*result.expected_failure)) +
             "). Remove the expectation from " + expectation_place(result, context, code_span) +
             "." + maximum_difference(result);
    case Status::kExpectedFailure:
      return fmt::format("{} **EXPECTED FAILURE**: {} in the stage **{}**. Reason: {}", mark,
                         failure_kind_name(result.failure->kind), stage_name(result.failure->stage),
                         escape_markdown(result.expected_failure->reason));
    case Status::kUnsupported:
      return mark +
             " **UNSUPPORTED** by the executor: " + escape_markdown(as_sentence(result.reason()));
    case Status::kFailed:
      break;
  }
  std::string text = mark + " **FAILED**: " + escape_markdown(finding_of(result).text());
  if (result.expected_failure) {
    text += ". Expected a different failure (" +
            escape_markdown(expectation_text(*result.expected_failure)) + ").";
  }
  return text;
}

std::string described_model(const Result& result) {
  if (!result.origin) return escape_markdown(result.description);
  if (result.origin->is_graph())
    return "The graph of " + code_span(result.origin->short_name()) + ".";
  std::string text = "Imported from " + code_span(result.origin->short_name());
  if (result.graph) {
    text += ", exported by PyTorch " + escape_markdown(result.graph->pytorch_version) + " from " +
            code_span(result.graph->model_name);
  }
  return text + ".";
}

std::string failure_section(const Failure& failure) {
  const std::string output = failure.output.empty() ? "" : code_block(failure.output);
  return section(fmt::format("The message of the stage **{}** ({}):", stage_name(failure.stage),
                             failure_kind_name(failure.kind)),
                 {code_block(failure.message), section("Last lines of its output:", {output})});
}

std::string verified_text(const Result& result) {
  if (!result.nothing_compared().empty()) {
    return "nothing compared: " + result.nothing_compared();
  }
  const auto outputs = std::ssize(result.worst_trial()->verification.output_details);
  std::string text = counted(outputs, "output") + " compared with " + reference_of(result).outputs;
  if (result.trials.size() > 1) {
    text += " in " + counted(static_cast<int64_t>(result.trials.size()), "trial");
  }
  return fmt::format("{}, all {}", text, basis_text(result.passed_by));
}

std::string source_of(const Result& result) {
  if (!result.origin) return ", captured on the meta device, with no weights in memory";
  if (result.origin->is_graph()) return ", read from the file";
  return ", read from the archive without executing anything in it";
}

std::string stage_detail(Stage stage, const Result& result, const RunContext& context) {
  switch (stage) {
    case Stage::kExtract:
      return counted(static_cast<int64_t>(result.graph->nodes.size()), "node") + source_of(result);
    case Stage::kSerialize:
      return "written, read back, validated, and equal to the original";
    case Stage::kExecute:
      return "the graph as read back, with " + table_cell(inputs_text(result, context));
    case Stage::kVerify:
      return table_cell(verified_text(result));
  }
  __builtin_unreachable();
}

std::string stages_table(const Result& result, const RunContext& context) {
  Table table("lll", {"Stage", "Result", ""});
  for (size_t i = 0; i < kStages.size(); ++i) {
    const bool passed = i < result.num_passed_stages;
    const bool failed = i == result.num_passed_stages && result.failure;
    table.add({stage_name(kStages[i]),
               passed   ? "✅ passed"
               : failed ? "❌ failed"
                        : "not run",
               passed   ? stage_detail(kStages[i], result, context)
               : failed ? std::string(failure_kind_name(result.failure->kind))
                        : ""});
  }
  return table.without_empty_columns().markdown();
}

std::string replay_command(const Result& result, const RunContext& context) {
  const RunSettings& settings = context.settings;
  const std::string& name = result.name;
  const ToleranceRule& rule = result.trials.front().verification.tolerance;
  const std::string flags =
      !rule.by_dtype ? fmt::format(" --rtol {} --atol {}", rule.fixed.rtol, rule.fixed.atol)
      : settings.criterion.reference == ReferenceKind::kModel ? " --tolerance dtype"
                                                              : "";
  std::vector<std::string> libraries;
  for (const std::string& path : context.libraries) libraries.push_back(file_name(path));
  std::string command;
  for (const auto& [output, tolerance] : rule.outputs) {
    command += fmt::format("# the harness compares output {} with rtol {}, atol {}\n", output,
                           tolerance.rtol, tolerance.atol);
  }
  command += fmt::format(
      "torch-ir verify{2} ir/{0}.json --weights tensors/{0}.weights.safetensors \\\n"
      "    --inputs tensors/{0}.inputs.safetensors --expected tensors/{0}.expected.safetensors{1}",
      name, flags, library_flags(libraries));
  return command + plan_flags(settings) + "\n";
}

}  // namespace

Reference reference_of(const Result& result) {
  if (!result.origin) {
    return {.outputs = "the model's",
            .worst = "the model gives",
            .explanation =
                "Expected outputs are those of the model itself, run eagerly with the same weights "
                "on the same inputs."};
  }
  if (result.origin->expected.empty()) {
    return {
        .outputs = "those of its operators run one by one",
        .worst = "expected",
        .explanation =
            "No file gives expected outputs. Expected outputs are those of the model's "
            "operators, each called eagerly " +
            std::string(result.origin->is_graph()
                            ? "by the dispatcher, "
                            : "on the imported program, before it was converted and written, ") +
            "with the same weights on the same inputs."};
  }
  const std::string file = file_list(result.origin->expected);
  return {.outputs = "those in " + file,
          .worst = "expected",
          .explanation = "Expected outputs are those in " + file + "."};
}

std::string render_model_page(const Result& result, const RunContext& context,
                              const GraphPicture& picture, const std::vector<Result>& cases) {
  const std::string calls = calls_section(result, cases);
  Coverage coverage = coverage_of(result);
  coverage.is_split = !calls.empty();
  const bool by_tolerance = context.settings.criterion.reference != ReferenceKind::kFloat64;
  const bool can_replay =
      by_tolerance && context.settings.save_tensors && result.worst_trial() != nullptr;
  constexpr size_t kWithTrials = 6;
  const std::string page = section(
      "# " + escape_markdown(result.name),
      {verdict(result, context), result.failure ? failure_section(*result.failure) : "",
       described_model(result), "Categories: " + code_list(result.categories, ", "),
       reproducer_section(result, context), values_section(result), verification_section(result),
       node_section(result), calls, graph_summary_section(result),
       section("## Stages", {stages_table(result, context)}), places_section(result),
       arithmetic_section(result), float_section(result), graph_section(result, picture),
       reproduce_section(
           coverage, context, num_trials({&result, 1}, context.settings), kWithTrials,
           section("To repeat only the verification, with the tensors of the first trial, run this "
                   "in the folder of this page:",
                   {can_replay ? code_block(replay_command(result, context), "sh") : ""}))});
  return page + "\n";
}

}  // namespace torch_ir
