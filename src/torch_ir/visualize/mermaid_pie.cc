#include <string_view>
#include <unordered_set>

#include "torch_ir/analysis/summary.h"
#include "torch_ir/visualize/labels.h"
#include "torch_ir/visualize/mermaid.h"
#include "torch_ir/visualize/mermaid_label.h"

namespace torch_ir {
namespace {

constexpr size_t kMaxOperators = 10;
constexpr std::string_view kOthers = "Others";

// Mermaid drops the second of two slices with one label.
class SliceLabels {
 public:
  // The short label of an operator, or its whole name where that is taken, or that with a number.
  std::string make(const std::string& op_type) {
    std::string label = mermaid_label(printable_name(operator_label(op_type)));
    if (taken_.insert(label).second) return label;
    const std::string whole = mermaid_label(printable_name(op_type));
    label = whole;
    for (int64_t i = 2; !taken_.insert(label).second; ++i) {
      label = whole + " (" + std::to_string(i) + ")";
    }
    return label;
  }

 private:
  std::unordered_set<std::string> taken_ = {std::string(kOthers)};
};

std::string slice(std::string_view label, int64_t count) {
  return "    \"" + std::string(label) + "\" : " + std::to_string(count) + "\n";
}

}  // namespace

std::string generate_op_distribution_pie(const IR& ir) {
  if (ir.nodes.empty()) return "pie showData title No operators\n";
  const IRSummary summary = summarize(ir);
  std::string text = "pie showData\n";
  SliceLabels labels;
  int64_t shown = 0;
  for (size_t i = 0; i < summary.op_distribution.size() && i < kMaxOperators; ++i) {
    const auto& [op_type, count] = summary.op_distribution[i];
    if (count * 100 < summary.num_nodes) break;
    text += slice(labels.make(op_type), count);
    shown += count;
  }
  if (shown < summary.num_nodes) text += slice(kOthers, summary.num_nodes - shown);
  return text;
}

}  // namespace torch_ir
