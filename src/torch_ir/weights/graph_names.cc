#include "torch_ir/weights/graph_names.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"
#include "torch_ir/ir/strided_copy.h"

namespace torch_ir {
namespace {

using Names = std::unordered_set<std::string_view>;

// A prefix, and whether the graph has it, not the weights.
using Prefix = std::pair<std::string, bool>;

// Counts the `names` that are among `others` without a prefix, by that prefix, which ends in a dot.
void count_prefixes(const Names& names, const Names& others, bool are_of_graph,
                    std::map<Prefix, size_t>& counts) {
  for (const std::string_view name : names) {
    for (size_t dot = name.find('.'); dot != name.npos; dot = name.find('.', dot + 1)) {
      if (!others.contains(name.substr(dot + 1))) continue;
      ++counts[{std::string(name.substr(0, dot + 1)), are_of_graph}];
    }
  }
}

// The prefix with which the most names fit, if they are at least half of the graph's and more than
// the `num_fitting` without, and no other prefix is as good; otherwise empty.
Prefix find_prefix(const Names& given, const Names& graph, size_t num_fitting) {
  std::map<Prefix, size_t> counts;
  count_prefixes(given, graph, false, counts);
  count_prefixes(graph, given, true, counts);
  Prefix best;
  size_t most = num_fitting;
  for (const auto& [prefix, count] : counts) {
    if (count < most || count * 2 < graph.size()) continue;
    best = count > most ? prefix : Prefix();
    most = count;
  }
  return best;
}

// Names that the graph has stay.
StateDict apply(const Prefix& prefix, const Names& graph, const StateDict& weights) {
  const auto& [text, is_of_graph] = prefix;
  TORCH_WARN("The names of the ", is_of_graph ? "graph" : "weights", " begin with '",
             printable(text), "', those of the ", is_of_graph ? "weights" : "graph",
             " do not; it is ", is_of_graph ? "added" : "left out");
  StateDict renamed;
  for (const auto& item : weights) {
    std::string name = item.key();
    if (graph.contains(name)) {
      // It fits.
    } else if (is_of_graph) {
      name.insert(0, text);
    } else if (name.starts_with(text)) {
      name.erase(0, text.size());
    }
    if (!renamed.contains(name)) renamed.insert(name, item.value());
  }
  return renamed;
}

// Modules around another that torch.compile, FSDP and activation checkpoints add to its path.
constexpr std::string_view kWrappers[] = {"_orig_mod.", "_fsdp_wrapped_module.",
                                          "_checkpoint_wrapped_module."};

std::string without_wrappers(std::string name) {
  for (const std::string_view wrapper : kWrappers) {
    for (size_t at = name.find(wrapper); at != name.npos; at = name.find(wrapper, at + 1)) {
      if (at == 0 || name[at - 1] == '.') name.erase(at--, wrapper.size());
    }
  }
  return name;
}

// Gives weights whose names differ from the graph's only by wrappers those of the graph.
StateDict with_wrappers_of(const Names& graph, const StateDict& weights) {
  std::unordered_map<std::string, std::string_view> names;
  for (const std::string_view name : graph)
    names.emplace(without_wrappers(std::string(name)), name);
  StateDict renamed;
  int64_t num_renamed = 0;
  for (const auto& item : weights) {
    const auto known = names.find(without_wrappers(item.key()));
    const bool fits = known == names.end() || graph.contains(item.key());
    const std::string name(fits ? item.key() : known->second);
    const bool stays = weights.contains(name) || renamed.contains(name);
    renamed.insert(stays ? item.key() : name, item.value());
    if (!stays) ++num_renamed;
  }
  if (num_renamed > 0) {
    TORCH_WARN("The names of ", counted(num_renamed, "weight"),
               " differ from the graph's by wrappers such as '_orig_mod'; they fit without");
  }
  return renamed;
}

}  // namespace

TiedWeights tied_names(const StateDict& tensors) {
  using View = std::tuple<const c10::StorageImpl*, c10::ScalarType, int64_t, std::vector<int64_t>,
                          std::vector<int64_t>>;
  std::map<View, size_t> known;
  TiedWeights ties;
  for (const auto& item : tensors) {
    const at::Tensor& tensor = item.value();
    if (!tensor.has_storage() || tensor.numel() == 0) continue;
    const View view = {tensor.storage().unsafeGetStorageImpl(), tensor.scalar_type(),
                       tensor.storage_offset(), tensor.sizes().vec(), tensor.strides().vec()};
    const auto [place, is_new] = known.try_emplace(view, ties.size());
    if (is_new) ties.emplace_back();
    ties[place->second].push_back(item.key());
  }
  std::erase_if(ties, [](const auto& names) { return names.size() == 1; });
  return ties;
}

StateDict with_tied_names(StateDict weights, const TiedWeights& ties) {
  for (const std::vector<std::string>& names : ties) {
    const auto first = std::ranges::find_if(
        names, [&](const std::string& name) { return weights.contains(name); });
    if (first == names.end()) continue;
    // A copy, as an insertion moves the tensors.
    const at::Tensor value = weights[*first];
    for (const std::string& name : names) {
      at::Tensor* known = weights.find(name);
      if (known == nullptr) {
        weights.insert(name, value);
      } else if (same_elements(*known, value)) {
        *known = value;
      }
    }
  }
  return weights;
}

StateDict with_graph_names(const StateDict& weights, const Program& program) {
  Names given;
  for (const auto& item : weights) given.insert(item.key());
  // By target, as several placeholders may stand for one weight.
  Names needed;
  Names fitting;
  for (const GraphInput& input : program.inputs) {
    if (input.kind == InputKind::kUserInput || program.constants.contains(input.target)) continue;
    needed.insert(input.target);
    const bool fits = given.contains(input.target) || given.contains(program[input.value].name);
    if (fits) fitting.insert(input.target);
  }
  if (fitting.size() == needed.size()) return with_tied_names(weights, program.tied_weights);
  const Prefix prefix = find_prefix(given, needed, fitting.size());
  const StateDict renamed = prefix.first.empty() ? weights : apply(prefix, needed, weights);
  return with_tied_names(with_wrappers_of(needed, renamed), program.tied_weights);
}

}  // namespace torch_ir
