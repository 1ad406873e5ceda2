#include "torch_ir/exporter/pt2/targets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <unordered_map>
#include <variant>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/builtin_operators.h"

namespace torch_ir {
namespace {

constexpr std::string_view kOperatorPrefix = "torch.ops.";
constexpr std::string_view kHigherOrderPrefix = "torch.ops.higher_order.";

const std::unordered_map<std::string_view, TargetKind>& special_targets() {
  static const std::unordered_map<std::string_view, TargetKind> table = {
      {"torch.ops.higher_order.wrap_with_set_grad_enabled", TargetKind::kSetGradEnabled},
      {"torch.ops.higher_order.wrap_with_autocast", TargetKind::kAutocast},
      {"torch.ops.higher_order.with_effects", TargetKind::kWithEffects},
      {"torch.ops.higher_order.cond", TargetKind::kCondition},
      {"torch.ops.higher_order.while_loop", TargetKind::kLoop},
      {"torch._C._set_grad_enabled", TargetKind::kNothing},
  };
  return table;
}

using NodesByTarget = std::map<std::string, std::vector<std::string>>;

// In the order of the graph: what is outside comes first.
void find_unsupported(const SerializedGraph& graph, NodesByTarget& unsupported) {
  for (const SerializedNode& node : graph.nodes) {
    if (kind_of_target(node.target) == TargetKind::kUnsupported) {
      unsupported[node.target].push_back("'" + printable(node.name) + "'");
      continue;
    }
    for (const SerializedArgument& argument : node.arguments) {
      if (const auto* inner = std::get_if<SerializedGraphPointer>(&argument.value)) {
        find_unsupported(**inner, unsupported);
      }
    }
  }
}

const char* advice(const std::string& target) {
  return target.starts_with(kHigherOrderPrefix)
             ? "of the higher-order operators only cond and while_loop are"
             : "ExportedProgram.run_decompositions() before torch.export.save may replace it";
}

}  // namespace

TargetKind kind_of_target(std::string_view target) {
  const auto special = special_targets().find(target);
  if (special != special_targets().end()) return special->second;
  if (target.starts_with(kHigherOrderPrefix)) return TargetKind::kUnsupported;
  if (target.starts_with(kOperatorPrefix)) return TargetKind::kOperator;
  return find_builtin_schema(target) == nullptr ? TargetKind::kUnsupported : TargetKind::kOperator;
}

std::string op_type_of_target(std::string_view target) {
  if (target.starts_with(kOperatorPrefix)) target.remove_prefix(kOperatorPrefix.size());
  return std::string(target);
}

void check_targets(const SerializedGraph& graph) {
  NodesByTarget unsupported;
  find_unsupported(graph, unsupported);
  if (unsupported.empty()) return;
  constexpr size_t kMaxNames = 5;
  const auto& [target, nodes] = *unsupported.begin();
  const size_t shown = std::min(kMaxNames, nodes.size());
  throw ExportError(
      kNotSupported,
      fmt::format(
          "the operator {} is not supported: node {}{}; {}", printable(op_type_of_target(target)),
          fmt::join(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
          nodes.size() > shown ? fmt::format(" and {} more", nodes.size() - shown) : "",
          advice(target)));
}

}  // namespace torch_ir
