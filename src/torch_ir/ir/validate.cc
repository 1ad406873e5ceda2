#include "torch_ir/ir/validate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/graph_validator.h"
#include "torch_ir/ir/sym_expr.h"

namespace torch_ir {
namespace {

class Validator {
 public:
  explicit Validator(const IR& ir) : ir_(ir), graph_(ir, "", problems_) {}

  std::vector<std::string> find_problems() {
    graph_.check_inputs();
    check_weights();
    check_placeholders();
    check_constants();
    check_ranges();
    graph_.check_nodes_and_outputs();
    return std::move(problems_);
  }

 private:
  template <class... Args>
  void report(fmt::format_string<Args...> format, Args&&... args) {
    graph_.report(format, std::forward<Args>(args)...);
  }

  void check_weights() {
    for (const TensorMeta& weight : ir_.weights) {
      graph_.check_meta(weight, [&] { return fmt::format("weight '{}'", weight.name); });
      if (is_dynamic(weight) || weight.is_scalar) {
        report("weight '{}' must be a tensor whose sizes are known", weight.name);
      }
      if (!graph_.declare_weight(weight)) {
        report("weight '{}' has the name of another weight", weight.name);
      }
      weights_.emplace(weight.name, &weight);
    }
  }

  void check_placeholders() {
    for (const auto& item : ir_.weight_name_mapping) {
      const auto weight = weights_.find(item.value());
      if (weight == weights_.end()) {
        report(
            "weight_name_mapping: placeholder '{}' stands for '{}', which is not among the "
            "weights",
            item.key(), item.value());
        // Known all the same, so that each use of it is not reported again.
        graph_.declare(item.key(), nullptr);
      } else if (!graph_.declare(item.key(), weight->second)) {
        report("weight_name_mapping: placeholder '{}' has the name of a graph input", item.key());
      }
    }
  }

  void check_constants() {
    for (const auto& item : ir_.constants) {
      const auto weight = weights_.find(item.key());
      if (weight == weights_.end()) {
        report("constant '{}' is not among the weights", item.key());
        continue;
      }
      if (!item.value().defined()) {
        report("constant '{}' is undefined", item.key());
        continue;
      }
      TensorMeta constant;
      constant.shape = item.value().sizes().vec();
      constant.dtype = dtype_name(item.value().scalar_type());
      if (const auto what = disagreement(constant, *weight->second)) {
        report("constant '{}' {} among the weights", item.key(), *what);
      }
    }
  }

  void check_ranges() {
    for (const SymbolRange& range : ir_.range_constraints) {
      try {
        SymExpr::parse(range.expression);
      } catch (const ValidationError& error) {
        report("range_constraints: {}", error.what());
      }
      if (range.min && range.max && *range.min > *range.max) {
        report("range_constraints: '{}' is at least {} and at most {}", range.expression,
               *range.min, *range.max);
      }
    }
  }

  const IR& ir_;
  std::vector<std::string> problems_;
  GraphValidator graph_;
  std::unordered_map<std::string_view, const TensorMeta*> weights_;
};

}  // namespace

std::vector<std::string> find_problems(const IR& ir) { return Validator(ir).find_problems(); }

void validate_ir(const IR& ir) {
  const std::vector<std::string> problems = find_problems(ir);
  if (problems.empty()) return;
  throw ValidationError(fmt::format("the IR '{}' is not well formed:\n  {}",
                                    printable(ir.model_name), fmt::join(problems, "\n  ")));
}

}  // namespace torch_ir
