#include "torch_ir/analysis/diff_tables.h"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "torch_ir/analysis/diff_values.h"

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

// Placeholders of weights that are there before and after.
void compare_mappings(const IR& old, const IR& now, GraphDiff& diff) {
  const auto weights_of = [](const IR& ir) {
    std::unordered_set<std::string_view> names;
    for (const TensorMeta& weight : ir.weights) names.insert(weight.name);
    return names;
  };
  const auto old_weights = weights_of(old);
  const auto new_weights = weights_of(now);
  const auto add = [&](const std::string& placeholder, const std::string& before,
                       const std::string& after) {
    diff.changes.push_back({.kind = ChangeKind::kWeightMapping,
                            .name = placeholder,
                            .before = before,
                            .after = after});
  };
  for (const auto& item : now.weight_name_mapping) {
    const std::string* before = old.weight_name_mapping.find(item.key());
    if (before == nullptr) {
      if (old_weights.contains(item.value())) add(item.key(), "", item.value());
    } else if (*before != item.value()) {
      add(item.key(), *before, item.value());
    }
  }
  for (const auto& item : old.weight_name_mapping) {
    if (now.weight_name_mapping.contains(item.key())) continue;
    if (new_weights.contains(item.value())) add(item.key(), item.value(), "");
  }
}

void compare_constants(const IR& old, const IR& now, GraphDiff& diff) {
  for (const auto& item : now.constants) {
    const at::Tensor* before = old.constants.find(item.key());
    const std::string form = form_text(item.value());
    if (before == nullptr) {
      diff.changes.push_back(
          {.kind = ChangeKind::kConstantAdded, .name = item.key(), .after = form});
    } else if (!is_same_constant(*before, item.value())) {
      const bool has_same_form = form_text(*before) == form;
      diff.changes.push_back({.kind = ChangeKind::kConstantChanged,
                              .name = item.key(),
                              .property = has_same_form ? "values" : "",
                              .before = has_same_form ? "" : form_text(*before),
                              .after = has_same_form ? "" : form});
    }
  }
  for (const auto& item : old.constants) {
    if (now.constants.contains(item.key())) continue;
    diff.changes.push_back({.kind = ChangeKind::kConstantRemoved,
                            .name = item.key(),
                            .before = form_text(item.value())});
  }
}

}  // namespace

void compare_tables(const IR& old, const IR& now, GraphDiff& diff) {
  const auto always = [](ChangeKind kind) { return Kinds{kind, kind, kind}; };
  compare_items(items_of(old.constant_inputs), items_of(now.constant_inputs),
                always(ChangeKind::kConstantInput), diff);
  compare_items(items_of(old.range_constraints), items_of(now.range_constraints),
                always(ChangeKind::kRange), diff);
  compare_items(items_of(old.weights), items_of(now.weights),
                {ChangeKind::kWeightAdded, ChangeKind::kWeightRemoved, ChangeKind::kWeightChanged},
                diff);
  compare_mappings(old, now, diff);
  compare_constants(old, now, diff);
}

}  // namespace torch_ir
