#include <cmath>
#include <unordered_map>

#include "harness/report/page_text.h"
#include "harness/report/sections.h"
#include "torch_ir/analysis/module_costs.h"

namespace torch_ir {
namespace {

// Errors by node index.
using ErrorMap = std::unordered_map<int64_t, double>;

std::string max_diff_of(const ModuleCost& module, const ErrorMap& errors) {
  std::optional<double> worst;
  for (const size_t index : module.nodes) {
    const auto error = errors.find(static_cast<int64_t>(index));
    if (error == errors.end()) continue;
    const bool is_worse = !worst || error->second > *worst || std::isnan(error->second);
    if (is_worse) worst = error->second;
  }
  return worst ? short_number(*worst) : "–";
}

}  // namespace

SectionData modules_section(const ModelPage& page) {
  const Result& result = page.result;
  if (!result.graph) return std::nullopt;
  Table table("lrrrr", {"Module", "Nodes", "Multiply-adds", "Parameters", "Max abs. error"});
  ErrorMap errors;
  if (result.nodes) {
    for (const NodeError& error : result.nodes->errors) errors[error.index] = error.max_diff;
  }
  for (const ModuleCost& module : costs_by_module(result.program(), result.cost())) {
    table.add({module.path.empty() ? "other nodes" : code_cell(module.path),
               std::ssize(module.nodes), at_least_text(module.multiply_adds, module.is_counted),
               module.parameters, errors.empty() ? "" : max_diff_of(module, errors)});
  }
  // A graph without modules has no rows.
  return table.num_rows() == 0 ? SectionData() : table.without_empty_columns().markdown();
}

}  // namespace torch_ir
