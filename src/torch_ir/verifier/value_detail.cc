#include "torch_ir/verifier/value_detail.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"

namespace torch_ir {
namespace {

// By ReferenceKind, and by Basis.
constexpr std::string_view kReferenceNames[] = {"auto", "model", "float64"};
constexpr std::string_view kBasisNames[] = {"tolerance", "own error", "none"};
constexpr std::string_view kBasisTexts[] = {"within the tolerance", "right by its own error", ""};

}  // namespace

std::string_view reference_name(ReferenceKind reference) {
  return kReferenceNames[static_cast<size_t>(reference)];
}

std::string_view basis_name(Basis basis) { return kBasisNames[static_cast<size_t>(basis)]; }

std::string_view basis_text(Basis basis) { return kBasisTexts[static_cast<size_t>(basis)]; }

std::string short_operator(const std::string& op_type) {
  const size_t start = op_type.find('.') + 1;
  return op_type.substr(start, op_type.find('.', start) - start);
}

std::string first_clause(const std::string& text) {
  return std::string(trimmed(text.substr(0, text.find_first_of("(;"))));
}

ValueDetail place_of(const Graph& graph, ValueId id) {
  ValueDetail detail{.value = graph[id].name};
  if (const auto producer = graph[id].producer) {
    detail.index = *producer;
    detail.node = graph.nodes[*producer].name;
    detail.op_type = graph.nodes[*producer].target;
  }
  return detail;
}

std::string place_text(const ValueDetail& value) {
  const std::string op = short_operator(value.op_type);
  std::string text = fmt::format("node {}, {}", *value.index, value.node);
  // Most nodes are named after their operator.
  if (!value.node.starts_with(op)) text += " (" + op + ")";
  if (value.value != value.node) text += ", its value " + value.value;
  if (!value.group.empty()) text += " of the group " + value.group;
  return value.module.empty() ? text : text + " in " + value.module;
}

std::string doubt_of(const ValueDetail& value) {
  return value.problem.substr(std::min(value.problem.find(kToleranceAlone), value.problem.size()));
}

std::string cause_text(const ValueDetail& value) {
  const TensorComparison& c = value.comparison;
  if (!c.mismatch.empty()) return c.mismatch;
  if (!std::isfinite(c.max_diff)) return c.worst_actual + ", expected " + c.worst_expected;
  const std::string systematic = value.own_error ? systematic_text(*value.own_error) : "";
  // A wrong scale shows in steps of any number.
  if (value.steps && (systematic.empty() || value.steps->num_off_by_more == 0)) {
    const int64_t num_more = value.steps->num_off_by_more;
    const std::string text =
        fmt::format("{} of {} off", with_thousands_separators(value.steps->num_off()),
                    counted(c.num_elements, "element"));
    return num_more == 0 ? text + " by one step"
                         : fmt::format("{}, {} by more than one step", text, num_more);
  }
  if (!systematic.empty()) return systematic;
  if (c.num_mismatched > 0) {
    return fmt::format("{} of {} wrong, by at most {:.3g}{}",
                       with_thousands_separators(c.num_mismatched),
                       counted(c.num_elements, "element"), c.max_diff, doubt_of(value));
  }
  return first_clause(value.own_error ? value.own_error->problem : value.problem);
}

}  // namespace torch_ir
