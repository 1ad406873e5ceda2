#include "torch_ir/operators/operator_facts.h"

#include <fmt/format.h>

#include <stdexcept>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "torch_ir/ir/binding.h"
#include "torch_ir/ir/field_list.h"

namespace torch_ir {

// The content of operator_facts.txt.
extern const std::string_view operator_facts_text;

namespace {

TORCH_IR_FIELDS(OperatorFacts, returns_new_tensor, shares_memory, is_composite, makes_empty,
                replaces_memory, uses_results_as_scratch, elementwise_unless, passes_on_input,
                updates_statistics, asks_about_metadata, depends_on_data, has_known_shape,
                takes_masks, refusal, shape_check, value_check, multiply_adds, is_reduction,
                discontinuous, rounded_output, rounds_to_float8, float64_obstacle, float64_operator,
                float32_without, quantization, property, meta_rule, replaces_composition,
                casts_under_autocast, runs_on_host)

// "is_reduction" or "multiply_adds=matrix_product".
void set_fact(OperatorFacts& facts, std::string_view fact) {
  const size_t equals = fact.find('=');
  const bool has_text = equals != fact.npos;
  bool is_known = false;
  const auto set = [&](std::string_view column, auto& value) {
    constexpr bool takes_text = !std::is_same_v<decltype(value), bool&>;
    if (column != fact.substr(0, equals) || has_text != takes_text) return;
    is_known = true;
    if constexpr (takes_text) {
      value = fact.substr(equals + 1);
    } else {
      value = true;
    }
  };
  fields(set, facts);
  if (!is_known) fail_unknown(fact);
}

// The part of `text` before `separator`, which it removes from `text`.
std::string_view cut(std::string_view& text, std::string_view separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + separator.size(), text.size()));
  return part;
}

class FactsTable {
 public:
  explicit FactsTable(std::string_view text) {
    std::vector<std::pair<std::string_view, std::string_view>> rows;
    while (!text.empty()) {
      std::string_view row = cut(text, "\n");
      if (row.empty() || row.starts_with('#')) continue;
      names_.push_back(cut(row, ": "));
      rows.emplace_back(names_.back(), row);
    }
    // A row begins with the facts of the shorter names that match it.
    std::ranges::stable_sort(rows, {}, [](const auto& row) {
      const bool is_exact = !row.first.ends_with('*');
      return std::pair(row.first.size() + (is_exact ? 1 : 0), is_exact);
    });
    for (auto [name, row] : rows) {
      OperatorFacts facts = find(name);
      while (!row.empty()) set_fact(facts, cut(row, " "));
      if (name.ends_with('*')) beginnings_.emplace(beginnings_.begin(), name, facts);
      facts_.emplace(name, facts);
    }
  }

  const OperatorFacts& find(std::string_view op_type) const {
    static const OperatorFacts none;
    for (const std::string_view name : {op_type, op_type.substr(0, op_type.rfind('.'))}) {
      if (const auto found = facts_.find(name); found != facts_.end()) return found->second;
    }
    for (const auto& [name, facts] : beginnings_) {
      if (op_type.starts_with(name.substr(0, name.size() - 1))) return facts;
    }
    return none;
  }

  const std::vector<std::string_view>& names() const { return names_; }

 private:
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, OperatorFacts> facts_;
  // The longest first.
  std::vector<std::pair<std::string_view, OperatorFacts>> beginnings_;
};

const FactsTable& table() {
  static const FactsTable instance(operator_facts_text);
  return instance;
}

}  // namespace

const OperatorFacts& facts_of(std::string_view op_type) { return table().find(op_type); }

const OperatorFacts& facts_of(const c10::OperatorHandle& op) {
  thread_local std::unordered_map<c10::OperatorName, const OperatorFacts*> known;
  const OperatorFacts*& facts = known[op.operator_name()];
  if (facts == nullptr) facts = &facts_of(op_type_name(op.operator_name()));
  return *facts;
}

void fail_unknown(std::string_view word) {
  throw std::logic_error(fmt::format("Unknown word '{}' in operator_facts.txt", word));
}

std::string out_of_place(std::string_view op_type) {
  const size_t end = std::min(op_type.rfind('.'), op_type.size());
  std::string_view name = op_type.substr(0, end);
  if (name.ends_with('_') && !name.ends_with("__")) name.remove_suffix(1);
  return std::string(name) + std::string(op_type.substr(end));
}

const std::vector<std::string_view>& rows_of_facts() { return table().names(); }

}  // namespace torch_ir
