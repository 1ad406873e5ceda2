// for_each_weight: visits the weights of a graph. Several placeholders may stand for one weight.
#pragma once

#include <string_view>
#include <unordered_map>

#include "torch_ir/ir/program.h"

namespace torch_ir {

// Calls `visit` with each placeholder (a GraphInput) and the first one of the same weight.
template <class Visit>
void for_each_placeholder(const Graph& graph, const Visit& visit) {
  std::unordered_map<std::string_view, ValueId> firsts;
  for (const GraphInput& input : graph.inputs) {
    if (input.kind == InputKind::kUserInput) continue;
    visit(input, firsts.try_emplace(input.target, input.value).first->second);
  }
}

// Calls `visit` once for each weight, with its first placeholder.
template <class Visit>
void for_each_weight(const Graph& graph, const Visit& visit) {
  for_each_placeholder(graph, [&](const GraphInput& input, ValueId first) {
    if (input.value == first) visit(input);
  });
}

}  // namespace torch_ir
