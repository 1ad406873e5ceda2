#include "harness/divergence/against_float.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "harness/divergence/value_matching.h"
#include "harness/stages/stages.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/tensor_text.h"
#include "torch_ir/runtime/check_values.h"
#include "torch_ir/runtime/graph/graph_memory.h"
#include "torch_ir/verifier/compare.h"
#include "torch_ir/verifier/tensor_blocks.h"

namespace torch_ir {
namespace {

// Elements at the bounds, unless their dequantised value is 0. `dequantized` may be undefined.
int64_t count_saturated(const at::Tensor& quantized, const QuantizedRange& range,
                        const at::Tensor& dequantized) {
  int64_t count = 0;
  const at::Tensor& seen = dequantized.defined() ? dequantized : quantized;
  for_each_block({quantized, seen}, [&](c10::ArrayRef<at::Tensor> blocks, int64_t) {
    const at::Tensor numbers = blocks[0].to(at::kDouble);
    const at::Tensor others = blocks[1].to(at::kDouble);
    const auto* value = numbers.const_data_ptr<double>();
    const auto* other = others.const_data_ptr<double>();
    for (int64_t i = 0; i < numbers.numel(); ++i) {
      const bool is_bound = value[i] <= range.low || value[i] >= range.high;
      if (is_bound && (!dequantized.defined() || other[i] != 0)) ++count;
    }
    return true;
  });
  return count;
}

// Compares the matched values while the two graphs run.
class ValueComparison {
 public:
  explicit ValueComparison(const std::vector<ValueMatch>& matches)
      : matches_(matches), compared_(matches.size()), quantized_(matches.size()) {
    for (size_t i = 0; i < matches.size(); ++i) {
      floating_.emplace(matches[i].floating, i);
      dequantized_.emplace(matches[i].dequantized, i);
      if (!matches[i].quantized_to.empty()) quantized_to_.emplace(matches[i].quantized_to, i);
    }
  }

  void keep(const std::string& name, const at::Tensor& value, bool is_written) {
    if (!floating_.contains(name) || !value.defined()) return;
    kept_[name] = is_written ? value.clone() : value;
  }

  void compare(const std::string& name, const at::Tensor& value) {
    if (!value.defined()) return;
    if (const auto found = quantized_to_.find(name); found != quantized_to_.end()) {
      keep_quantized(found->second, value);
    }
    if (const auto found = dequantized_.find(name); found != dequantized_.end()) {
      compare_with_float(found->second, value);
    }
  }

  // Values that turned out to have different sizes are unmatched.
  void finish(const Program& graph, FloatComparison& result) {
    set_input_sqnr(graph);
    for (size_t i = 0; i < matches_.size(); ++i) {
      if (compared_[i]) {
        result.values.push_back(std::move(*compared_[i]));
      } else if (result.error.empty()) {
        result.unmatched.push_back(matches_[i].floating);
      }
    }
  }

 private:
  void keep_quantized(size_t index, const at::Tensor& value) {
    if (matches_[index].is_dequantized()) {
      quantized_[index] = value;
    } else if (compared_[index]) {
      compared_[index]->num_saturated = count_saturated(value, matches_[index].range, {});
    }
  }

  void compare_with_float(size_t index, const at::Tensor& value) {
    const ValueMatch& match = matches_[index];
    const auto kept = kept_.find(match.floating);
    if (kept == kept_.end()) return;
    const at::Tensor floating = std::move(kept->second);
    kept_.erase(kept);
    const at::Tensor quantized = std::exchange(quantized_[index], at::Tensor());
    const auto comparison = compare_tensors(value.to(floating.scalar_type()), floating);
    if (!comparison.mismatch.empty()) return;
    ComparedValue& result = compared_[index].emplace();
    result.op_type = match.op_type;
    result.module = match.module;
    result.floating = statistics(match.floating, floating);
    result.quantized = statistics(match.dequantized, value);
    result.sqnr = comparison.signal_to_noise;
    if (quantized.defined()) result.num_saturated = count_saturated(quantized, match.range, value);
  }

  // Carries the lowest SQNR through the values in between.
  void set_input_sqnr(const Program& graph) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::vector<double> lowest(graph.values.size(), kInfinity);
    std::unordered_map<std::string, size_t> matched;
    for (size_t i = 0; i < matches_.size(); ++i) matched.emplace(matches_[i].quantized, i);
    const auto set = [&](ValueId value, double inputs) {
      const auto match = matched.find(graph[value].name);
      const bool is_compared = match != matched.end() && compared_[match->second];
      if (is_compared) compared_[match->second]->input_sqnr = inputs;
      lowest[value] = is_compared ? compared_[match->second]->sqnr : inputs;
    };
    for (const ValueId input : graph.user_inputs()) set(input, kInfinity);
    for (const Node& node : graph.nodes) {
      double inputs = kInfinity;
      for (const ValueId input : node.inputs()) inputs = std::min(inputs, lowest[input]);
      for (const ValueId output : node.outputs) set(output, inputs);
    }
  }

  const std::vector<ValueMatch>& matches_;
  std::unordered_map<std::string, size_t> floating_;
  std::unordered_map<std::string, size_t> quantized_to_;
  std::unordered_map<std::string, size_t> dequantized_;
  std::unordered_map<std::string, at::Tensor> kept_;
  std::vector<std::optional<ComparedValue>> compared_;
  // Kept until they are dequantised.
  std::vector<at::Tensor> quantized_;
};

std::string input_text(const Value& input) {
  return fmt::format("{} {}", dtype_name(input.dtype), shape_list_text(input));
}

}  // namespace

FloatModel::FloatModel(const std::string& path, const RunSettings& settings)
    : files_(files_against(path)),
      settings_(settings),
      candidate_(make_candidate(files_, settings.seed)) {
  try {
    case_.program = std::make_shared<const Program>(resolve(candidate_->extract()));
    case_.weights = candidate_->weights();
  } catch (const std::exception& error) {
    throw InputError("--against: " + message_text(error));
  }
}

void FloatModel::check_inputs(const Program& quantized) const {
  const Program& floating = *case_.program;
  const std::vector<ValueId> inputs = quantized.user_inputs();
  const std::vector<ValueId> float_inputs = floating.user_inputs();
  const std::string beginning = "--against: " + files_.short_name();
  if (float_inputs.size() != inputs.size()) {
    throw InputError(fmt::format(
        "{} has a different number of inputs than the quantised model, {} instead of {}; "
        "give the float model that it was made from",
        beginning, float_inputs.size(), inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& input = floating[float_inputs[i]];
    const Value& other = quantized[inputs[i]];
    if (input.dtype == other.dtype && shapes_fit(input, other)) continue;
    throw InputError(fmt::format(
        "{} has input '{}' as {}, but the quantised model has '{}' as {}; give the float model "
        "that it was made from",
        beginning, input.name, input_text(input), other.name, input_text(other)));
  }
}

FloatComparison FloatModel::compare(Candidate& quantized, const Program& graph) {
  const Program& program = *case_.program;
  const std::vector<at::Tensor> inputs = quantized.inputs(0);
  ValueMatching matching = match_values(graph, program);
  FloatComparison result{.file = files_.short_name(),
                         .unmatched = std::move(matching.unmatched),
                         .num_folded = matching.num_folded};
  ValueComparison comparison(matching.matches);
  try {
    const std::vector<std::string> problems = input_problems(program, inputs);
    if (!problems.empty()) throw LoadError("the inputs do not fit the float model: " + problems[0]);
    const GraphMemory memory = memory_of(case_);
    at::manual_seed(settings_.seed);
    candidate_->observe(inputs, [&](const std::string& name, const at::Tensor& value) {
      const auto id = program.find(name);
      comparison.keep(name, value,
                      !id || memory.is_written(memory.of(*id), 0, program.nodes.size()));
    });
    at::manual_seed(settings_.seed);
    quantized.observe(inputs, [&](const std::string& name, const at::Tensor& value) {
      comparison.compare(name, value);
    });
  } catch (const std::exception& error) {
    result.error = message_text(error);
  }
  comparison.finish(graph, result);
  result.num_unmatched = std::ssize(result.unmatched);
  result.unmatched.resize(std::min(result.unmatched.size(), FloatComparison::kMaxUnmatched));
  return result;
}

FloatComparison FloatModel::unfinished() const {
  return {.file = files_.short_name(),
          .error = "the process ended before the comparison was complete"};
}

}  // namespace torch_ir
