#include "harness/suite/run_case.h"

#include <ATen/Context.h>
#include <ATen/ops/empty_strided.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "harness/backend/command_backend.h"
#include "harness/stages/stages.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/cases/case_files.h"
#include "torch_ir/cases/graph_case.h"
#include "torch_ir/converter/extract.h"
#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/stack.h"
#include "torch_ir/operators/call_recording.h"
#include "torch_ir/verifier/verify.h"

namespace torch_ir {
namespace {

// A case that can not be taken as far as to be executed.
class CaseProblem : public Error {
 public:
  using Error::Error;
};

// --- Extract ---

// The arguments of the call in a case's only node, with `inputs` for its graph inputs.
torch::jit::Stack arguments_of_call(const GraphCase& graph_case,
                                    const std::vector<at::Tensor>& inputs) {
  const OpNode& node = graph_case.ir.nodes.front();
  const c10::FunctionSchema* schema = find_schema(node.op_type);
  if (schema == nullptr) throw CaseProblem("LibTorch has no operator " + node.op_type);
  return make_stack(node, *schema, [&](const std::string& name) -> c10::IValue {
    const std::vector<TensorMeta>& metas = graph_case.ir.graph_inputs;
    const auto meta = std::ranges::find(metas, name, &TensorMeta::name);
    if (meta != metas.end()) return inputs.at(static_cast<size_t>(meta - metas.begin()));
    const std::string* key = graph_case.ir.weight_name_mapping.find(name);
    return key == nullptr ? at::Tensor() : graph_case.weights[*key];
  });
}

std::vector<at::Tensor> meta_inputs(const std::vector<at::Tensor>& inputs) {
  std::vector<at::Tensor> metas;
  for (const at::Tensor& input : inputs) {
    metas.push_back(
        at::empty_strided(input.sizes(), input.strides(), input.options().device(at::kMeta)));
  }
  return metas;
}

// "float32[1x3], int64[2]"
std::string outputs_text(const std::vector<TensorMeta>& outputs) {
  std::string text;
  for (const TensorMeta& output : outputs) {
    text += fmt::format("{}{}[{}]", text.empty() ? "" : ", ", output.dtype, shape_text(output));
  }
  return text;
}

// Whether it is a call of a model: on tensors, and making some.
bool can_be_captured(const GraphCase& graph_case) {
  const auto is_number = [](const TensorMeta& meta) { return meta.is_scalar; };
  return !graph_case.inputs.empty() && std::ranges::none_of(graph_case.ir.graph_outputs, is_number);
}

// The graph that capture gives: on meta, or on real tensors where the operator needs data. Nothing
// where capture refuses the call, as it does what is for training; archives may have it all the
// same.
std::optional<IR> capture_call(const Model& call, const GraphCase& graph_case) {
  ExtractOptions options{.model_name = graph_case.info.name};
  for (const TensorMeta& input : graph_case.ir.graph_inputs) {
    options.input_names.push_back(input.name);
  }
  for (const auto& inputs : {meta_inputs(graph_case.inputs), graph_case.inputs}) {
    try {
      return extract_ir(call, inputs, options);
    } catch (const ExportError& error) {
      if (!error.is_unsupported()) throw;
    }
  }
  return std::nullopt;
}

// What is wrong with the graph that capture gives; empty where its outputs are those of the call.
// Its node may be another form of the same (add.Scalar is add.Tensor in Python).
std::string capture_problem(const GraphCase& graph_case) {
  const auto op = find_operator(graph_case.info.op_type);
  if (!op || !can_be_captured(graph_case)) return {};
  const ModelFn call = [&](const std::vector<at::Tensor>& inputs) {
    torch::jit::Stack stack = arguments_of_call(graph_case, inputs);
    op->callBoxed(stack);
    return tensors_of(stack);
  };
  const std::optional<IR> ir = capture_call(Model(call), graph_case);
  const auto is_alike = [](const TensorMeta& a, const TensorMeta& b) {
    return a.shape == b.shape && a.dtype == b.dtype;
  };
  if (!ir || std::ranges::equal(ir->graph_outputs, graph_case.ir.graph_outputs, is_alike))
    return {};
  return fmt::format("captured it returns {}, and eager {}", outputs_text(ir->graph_outputs),
                     outputs_text(graph_case.ir.graph_outputs));
}

GraphCase load_case(const CaseSource& source) {
  if (!source.folder.empty()) return read_case(source.folder);
  return make_graph_case(find_operator_case(source.info.name));
}

// --- Verify ---

// What is compared of the outputs, see CaseProperty.
std::vector<at::Tensor> judged_values(const GraphCase& graph_case,
                                      const std::vector<at::Tensor>& outputs) {
  const CaseProperty property = graph_case.info.property;
  if (property == CaseProperty::kValues) return outputs;
  const OperatorCase call{.op_type = graph_case.info.op_type, .property = property};
  return compared_values(call, arguments_of_call(graph_case, graph_case.inputs), outputs);
}

VerificationReport compare(const GraphCase& graph_case, const std::vector<at::Tensor>& outputs,
                           const RunSettings& settings) {
  const ToleranceRule rule =
      settings.tolerance_wins ? settings.tolerance : tolerance_of(graph_case.info);
  const auto is_alike = [](const at::Tensor& a, const at::Tensor& b) {
    return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type();
  };
  // A property is one of outputs of the right shapes.
  const bool is_mapped = graph_case.info.property != CaseProperty::kValues &&
                         std::ranges::equal(outputs, graph_case.expected, is_alike);
  return compare_known_outputs(
      graph_case.ir, is_mapped ? judged_values(graph_case, outputs) : outputs,
      is_mapped ? judged_values(graph_case, graph_case.expected) : graph_case.expected, rule);
}

void add_figures(const VerificationReport& report, CaseResult& result) {
  if (report.output_details.empty()) return;
  result.max_diff = std::max(result.max_diff.value_or(0), report.max_diff);
  result.smallest_passing_tolerance =
      std::max(result.smallest_passing_tolerance.value_or(0), report.smallest_passing_tolerance());
}

// How far the outputs are from the same call in float64. Sets the verdict where that is the
// reference.
void add_opinion(const GraphCase& graph_case, const std::vector<at::Tensor>& outputs,
                 const RunSettings& settings, VerificationReport& report, CaseResult& result) {
  if (graph_case.info.property != CaseProperty::kValues) return;
  std::vector<SecondOpinion> opinions = second_opinions(
      graph_case.ir, graph_case.weights, graph_case.inputs, outputs, graph_case.expected);
  for (const SecondOpinion& it : opinions) {
    const bool is_worse =
        !result.second_opinion || !it.reason.empty() ||
        (result.second_opinion->reason.empty() && it.factor > result.second_opinion->factor);
    if (is_worse) result.second_opinion = it;
  }
  if (!result.second_opinion || !result.second_opinion->reason.empty()) return;
  add_second_opinions(report, std::move(opinions), error_factor(settings));
}

void execute_and_compare(const GraphCase& graph_case, Backend& backend, const RunSettings& settings,
                         CaseResult& result) {
  // A plan traces in its first run, and replays from then on.
  for (int run = 0; run < (runs_plans(settings) ? 2 : 1) && result.passed(); ++run) {
    at::manual_seed(0);
    const std::vector<at::Tensor> outputs =
        backend.run(graph_case.ir, graph_case.weights, graph_case.inputs);
    VerificationReport report = compare(graph_case, outputs, settings);
    if (run == 0) add_opinion(graph_case, outputs, settings, report, result);
    add_figures(report, result);
    if (report.is_valid) continue;
    result.status = CaseStatus::kDiffers;
    result.message = (run == 0 ? "" : "in its second run: ") + headline(report.error_message);
  }
}

CaseStatus status_of(const std::exception& exception) {
  const auto* failure = dynamic_cast<const CommandFailure*>(&exception);
  if (failure != nullptr && failure->end().has_crashed) return CaseStatus::kCrashed;
  if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr) return CaseStatus::kOutOfMemory;
  const auto* error = dynamic_cast<const Error*>(&exception);
  const bool is_unsupported = error != nullptr && error->is_unsupported();
  return is_unsupported ? CaseStatus::kUnsupported : CaseStatus::kFailed;
}

}  // namespace

CaseResult run_case(const CaseSource& source, Backend& backend, const RunSettings& settings) {
  CaseResult result;
  try {
    const GraphCase graph_case = load_case(source);
    if (runs_plans(settings) && source.folder.empty()) {
      result.message = capture_problem(graph_case);
      if (result.message.empty() && !(IR::from_json(graph_case.ir.to_json()) == graph_case.ir)) {
        result.message = "the IR that was read is not the one that was written";
      }
      if (!result.message.empty()) {
        result.status = CaseStatus::kFailed;
        return result;
      }
    }
    execute_and_compare(graph_case, backend, settings, result);
  } catch (const OutputError&) {
    throw;
  } catch (const c10::Error& error) {
    result.status = CaseStatus::kFailed;
    result.message = headline(error.what_without_backtrace());
  } catch (const std::exception& error) {
    result.status = status_of(error);
    result.message = headline(error.what());
  }
  return result;
}

}  // namespace torch_ir
