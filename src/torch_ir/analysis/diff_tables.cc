#include "torch_ir/analysis/diff_tables.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "torch_ir/ir/dtype.h"

namespace torch_ir {
namespace {

// As the equality of IRs has it: bit for bit, but a NaN is a NaN.
bool is_same_constant(const at::Tensor& a, const at::Tensor& b) {
  IR left;
  IR right;
  left.constants.insert("", a);
  right.constants.insert("", b);
  return left == right;
}

std::string form_text(const at::Tensor& tensor) {
  return torch_ir::form_text(TensorMeta{
      .name = {}, .shape = tensor.sizes().vec(), .dtype = dtype_name(tensor.scalar_type())});
}

// Kinds for what comes, goes and changes.
struct Kinds {
  ChangeKind added;
  ChangeKind removed;
  ChangeKind changed;
};

// Items with a name and a text each, by name, in the order of the new ones.
using Items = std::vector<std::pair<std::string, std::string>>;

void compare_items(const Items& old, const Items& now, const Kinds& kinds, GraphDiff& diff) {
  const std::unordered_map<std::string, std::string> before(old.begin(), old.end());
  std::unordered_set<std::string_view> names;
  for (const auto& [name, text] : now) {
    names.insert(name);
    const auto found = before.find(name);
    if (found == before.end()) {
      diff.changes.push_back({.kind = kinds.added, .name = name, .after = text});
    } else if (found->second != text) {
      diff.changes.push_back(
          {.kind = kinds.changed, .name = name, .before = found->second, .after = text});
    }
  }
  for (const auto& [name, text] : old) {
    if (names.contains(name)) continue;
    diff.changes.push_back({.kind = kinds.removed, .name = name, .before = text});
  }
}

Items items_of(const AttributeMap& attributes) {
  Items items;
  for (const auto& [name, value] : attributes) items.emplace_back(name, text_of(value));
  return items;
}

Items items_of(const std::vector<SymbolRange>& ranges) {
  const auto limit = [](const std::optional<int64_t>& value) {
    return value ? std::to_string(*value) : "any";
  };
  Items items;
  for (const SymbolRange& range : ranges) {
    items.emplace_back(range.expression, limit(range.min) + " to " + limit(range.max));
  }
  return items;
}

Items items_of(const std::vector<TensorMeta>& weights) {
  Items items;
  for (const TensorMeta& weight : weights) items.emplace_back(weight.name, form_text(weight));
  return items;
}

// The placeholders of `ir` that `other` has too, or whose weight it has: what comes and goes with a
// weight is told with the weight.
Items mapped_items(const IR& ir, const IR& other) {
  Items items;
  for (const auto& item : ir.weight_name_mapping) {
    const bool is_known =
        other.weight_name_mapping.contains(item.key()) ||
        std::ranges::find(other.weights, item.value(), &TensorMeta::name) != other.weights.end();
    if (is_known) items.emplace_back(item.key(), item.value());
  }
  return items;
}

Items items_of(const StateDict& constants) {
  Items items;
  for (const auto& item : constants) items.emplace_back(item.key(), form_text(item.value()));
  return items;
}

// Those of the same form.
void compare_constant_values(const IR& old, const IR& now, GraphDiff& diff) {
  for (const auto& item : now.constants) {
    const at::Tensor* before = old.constants.find(item.key());
    if (before == nullptr || form_text(*before) != form_text(item.value())) continue;
    if (is_same_constant(*before, item.value())) continue;
    diff.changes.push_back(
        {.kind = ChangeKind::kConstantChanged, .name = item.key(), .property = "values"});
  }
}

}  // namespace

std::string form_text(const TensorMeta& value) {
  if (!value.is_scalar) return value.dtype + " " + shape_list_text(value);
  return shape_text(value) + (value.expression.empty() ? "" : " " + value.expression);
}

std::string text_of(const Attribute& attribute) {
  std::ostringstream text;
  text << attribute;
  return text.str();
}

void compare_tables(const IR& old, const IR& now, GraphDiff& diff) {
  const auto always = [](ChangeKind kind) { return Kinds{kind, kind, kind}; };
  compare_items(items_of(old.constant_inputs), items_of(now.constant_inputs),
                always(ChangeKind::kConstantInput), diff);
  compare_items(items_of(old.range_constraints), items_of(now.range_constraints),
                always(ChangeKind::kRange), diff);
  compare_items(items_of(old.weights), items_of(now.weights),
                {ChangeKind::kWeightAdded, ChangeKind::kWeightRemoved, ChangeKind::kWeightChanged},
                diff);
  compare_items(mapped_items(old, now), mapped_items(now, old), always(ChangeKind::kWeightMapping),
                diff);
  compare_items(
      items_of(old.constants), items_of(now.constants),
      {ChangeKind::kConstantAdded, ChangeKind::kConstantRemoved, ChangeKind::kConstantChanged},
      diff);
  compare_constant_values(old, now, diff);
}

}  // namespace torch_ir
