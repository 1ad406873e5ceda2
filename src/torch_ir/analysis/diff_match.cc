#include "torch_ir/analysis/diff_match.h"

#include <c10/util/hash.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace torch_ir {
namespace {

// One for each node.
using Labels = std::vector<size_t>;

// How far a neighbourhood reaches: from any operator of an attention block to one with weights.
constexpr int kRadius = 4;
// How often the same labels are looked at.
constexpr int kMaxRounds = 4;
// Gaps with more pairs of nodes than this are not searched by operator alone.
constexpr size_t kMaxTableSize = size_t{1} << 22;

template <class... T>
size_t label_of(const T&... parts) {
  return c10::get_hash(parts...);
}

// The node that makes each of the values that nodes, or the graph as its outputs, read.
using Makers = std::vector<std::vector<std::optional<size_t>>>;

struct LabelledGraph {
  const Graph& graph;
  // One for each node, then one for the outputs of the graph.
  Makers makers = {};
  Labels operators = {};
  // The operator with the weights and graph inputs that it reads.
  Labels calls = {};
  // The call with those around it, up to kRadius steps away.
  Labels neighbourhoods = {};
  // The same with the name of what is made.
  Labels named_calls = {};
  Labels named_neighbourhoods = {};
};

Makers find_makers(const Graph& graph) {
  std::unordered_map<std::string_view, size_t> nodes;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const TensorMeta& output : graph.nodes[i].outputs) nodes.try_emplace(output.name, i);
  }
  Makers makers;
  const auto add = [&](const std::vector<TensorMeta>& values) {
    auto& made_by = makers.emplace_back();
    for (const TensorMeta& value : values) {
      const auto node = nodes.find(value.name);
      made_by.push_back(node == nodes.end() ? std::nullopt : std::optional(node->second));
    }
  };
  for (const OpNode& node : graph.nodes) add(node.inputs);
  add(graph.graph_outputs);
  return makers;
}

// The neighbourhoods with one step more.
Labels refined(const Makers& makers, const Labels& labels) {
  Labels result = labels;
  // Sums, as readers have no order.
  Labels readers(labels.size());
  for (size_t i = 0; i < makers.size(); ++i) {
    for (const auto& maker : makers[i]) {
      if (!maker) continue;
      const bool is_output = i == labels.size();
      readers[*maker] += is_output ? 1 : labels[i];
      if (!is_output) result[i] = c10::hash_combine(result[i], labels[*maker]);
    }
  }
  for (size_t i = 0; i < labels.size(); ++i) result[i] = c10::hash_combine(result[i], readers[i]);
  return result;
}

LabelledGraph label(const Graph& graph, const ExternalName& external) {
  LabelledGraph labelled{.graph = graph, .makers = find_makers(graph)};
  for (const OpNode& node : graph.nodes) {
    size_t call = label_of(node.op_type);
    labelled.operators.push_back(call);
    for (const TensorMeta& input : node.inputs) {
      call = c10::hash_combine(call, label_of(external(input.name)));
    }
    labelled.calls.push_back(call);
  }
  labelled.neighbourhoods = labelled.calls;
  for (int step = 0; step < kRadius; ++step) {
    labelled.neighbourhoods = refined(labelled.makers, labelled.neighbourhoods);
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const OpNode& node = graph.nodes[i];
    const size_t name = label_of(node.outputs.empty() ? node.name : node.outputs[0].name);
    labelled.named_calls.push_back(c10::hash_combine(labelled.calls[i], name));
    labelled.named_neighbourhoods.push_back(c10::hash_combine(labelled.neighbourhoods[i], name));
  }
  return labelled;
}

struct NodePair {
  size_t old;
  size_t now;
};

// Between two pairs: the nodes that have no partner yet.
struct Gap {
  std::vector<size_t> old;
  std::vector<size_t> now;
};

// The pairs of nodes whose label nothing else in the gap has, in the order of the old ones.
std::vector<NodePair> unique_pairs(const Gap& gap, const Labels& old, const Labels& now) {
  struct Place {
    size_t num_old = 0;
    size_t num_new = 0;
    size_t now = 0;
  };
  std::unordered_map<size_t, Place> places;
  for (const size_t node : gap.old) ++places[old[node]].num_old;
  for (const size_t node : gap.now) {
    Place& place = places[now[node]];
    ++place.num_new;
    place.now = node;
  }
  std::vector<NodePair> pairs;
  for (const size_t node : gap.old) {
    const Place& place = places[old[node]];
    if (place.num_old == 1 && place.num_new == 1) pairs.push_back({node, place.now});
  }
  return pairs;
}

// The longest part of `pairs` that is in the order of the new nodes as well.
std::vector<NodePair> in_order(const std::vector<NodePair>& pairs) {
  // For each length the chain that ends lowest, by its last pair; and the pair before each.
  std::vector<size_t> ends;
  std::vector<size_t> before(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto end = std::ranges::lower_bound(ends, pairs[i].now, {},
                                              [&](size_t last) { return pairs[last].now; });
    before[i] = end == ends.begin() ? i : *(end - 1);
    if (end == ends.end()) {
      ends.push_back(i);
    } else {
      *end = i;
    }
  }
  std::vector<NodePair> chain(ends.size());
  size_t last = ends.empty() ? 0 : ends.back();
  for (size_t i = chain.size(); i-- > 0; last = before[last]) chain[i] = pairs[last];
  return chain;
}

// The longest common subsequence of the labels, by the table of all suffixes.
std::vector<NodePair> common_subsequence(const Gap& gap, const Labels& old, const Labels& now) {
  const size_t width = gap.now.size() + 1;
  if (gap.old.size() * width > kMaxTableSize) return {};
  std::vector<uint32_t> lengths((gap.old.size() + 1) * width);
  const auto is_equal = [&](size_t i, size_t j) { return old[gap.old[i]] == now[gap.now[j]]; };
  const auto length = [&](size_t i, size_t j) -> uint32_t& { return lengths[i * width + j]; };
  for (size_t i = gap.old.size(); i-- > 0;) {
    for (size_t j = gap.now.size(); j-- > 0;) {
      length(i, j) =
          is_equal(i, j) ? length(i + 1, j + 1) + 1 : std::max(length(i + 1, j), length(i, j + 1));
    }
  }
  std::vector<NodePair> pairs;
  for (size_t i = 0, j = 0; i < gap.old.size() && j < gap.now.size();) {
    if (is_equal(i, j)) {
      pairs.push_back({gap.old[i++], gap.now[j++]});
    } else {
      ++(length(i + 1, j) >= length(i, j + 1) ? i : j);
    }
  }
  return pairs;
}

using Ladder = std::vector<Labels LabelledGraph::*>;

class Matcher {
 public:
  Matcher(const LabelledGraph& old, const LabelledGraph& now) : old_(old), new_(now) {
    match_.old_of_new.resize(now.graph.nodes.size());
    match_.new_of_old.resize(old.graph.nodes.size());
    match_.is_moved.resize(now.graph.nodes.size());
  }

  NodeMatch run(const Ladder& ladder) && {
    for (const auto labels : ladder) {
      // What is not unique may be so between the pairs that were found.
      for (int round = 0; round < kMaxRounds; ++round) {
        size_t num_pairs = 0;
        for (const Gap& gap : gaps()) {
          num_pairs += pair(in_order(unique_pairs(gap, old_.*labels, new_.*labels)));
        }
        if (num_pairs == 0) break;
      }
    }
    for (const Gap& gap : gaps()) pair(common_subsequence(gap, old_.operators, new_.operators));
    pair_moved();
    for (const Gap& gap : gaps()) pair_replaced(gap);
    return std::move(match_);
  }

 private:
  size_t pair(const std::vector<NodePair>& pairs) {
    for (const auto& [old, now] : pairs) {
      match_.new_of_old[old] = now;
      match_.old_of_new[now] = old;
    }
    return pairs.size();
  }

  std::vector<Gap> gaps() const {
    std::vector<Gap> gaps;
    Gap gap;
    size_t next_old = 0;
    const auto close = [&](size_t end) {
      for (; next_old < end; ++next_old) {
        if (!match_.new_of_old[next_old]) gap.old.push_back(next_old);
      }
      if (!gap.old.empty() && !gap.now.empty()) gaps.push_back(gap);
      gap = {};
    };
    for (size_t i = 0; i < new_.graph.nodes.size(); ++i) {
      if (!match_.old_of_new[i]) {
        gap.now.push_back(i);
      } else if (!match_.is_moved[i]) {
        close(*match_.old_of_new[i]);
      }
    }
    close(old_.graph.nodes.size());
    return gaps;
  }

  // What is left on both sides with the same neighbourhood, wherever it is.
  void pair_moved() {
    Gap left;
    for (size_t i = 0; i < old_.graph.nodes.size(); ++i) {
      if (!match_.new_of_old[i]) left.old.push_back(i);
    }
    for (size_t i = 0; i < new_.graph.nodes.size(); ++i) {
      if (!match_.old_of_new[i]) left.now.push_back(i);
    }
    const auto pairs = unique_pairs(left, old_.neighbourhoods, new_.neighbourhoods);
    for (const NodePair& both : pairs) match_.is_moved[both.now] = true;
    pair(pairs);
  }

  // Where as many nodes went as came.
  void pair_replaced(const Gap& gap) {
    if (gap.old.size() != gap.now.size()) return;
    std::vector<NodePair> pairs;
    for (size_t i = 0; i < gap.old.size(); ++i) {
      if (old_.graph.nodes[gap.old[i]].outputs.size() !=
          new_.graph.nodes[gap.now[i]].outputs.size())
        return;
      pairs.push_back({gap.old[i], gap.now[i]});
    }
    pair(pairs);
  }

  const LabelledGraph& old_;
  const LabelledGraph& new_;
  NodeMatch match_;
};

// How many operators are the same calls, and read what the partners of others make.
size_t agreement(const LabelledGraph& old, const LabelledGraph& now, const NodeMatch& match) {
  size_t count = 0;
  const auto count_makers = [&](const auto& before, const auto& after) {
    for (size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
      if (before[i] && after[i] && match.new_of_old[*before[i]] == after[i]) ++count;
    }
  };
  for (size_t i = 0; i < match.new_of_old.size(); ++i) {
    const auto& partner = match.new_of_old[i];
    if (!partner) continue;
    if (old.calls[i] == now.calls[*partner]) ++count;
    count_makers(old.makers[i], now.makers[*partner]);
  }
  count_makers(old.makers.back(), now.makers.back());
  return count;
}

}  // namespace

NodeMatch match_nodes(const Graph& old, const Graph& now, const ExternalName& old_external,
                      const ExternalName& new_external) {
  const LabelledGraph before = label(old, old_external);
  const LabelledGraph after = label(now, new_external);
  // Names tell much, unless they have shifted.
  NodeMatch by_name = Matcher(before, after)
                          .run({&LabelledGraph::named_neighbourhoods, &LabelledGraph::named_calls,
                                &LabelledGraph::neighbourhoods, &LabelledGraph::calls});
  NodeMatch by_structure = Matcher(before, after)
                               .run({&LabelledGraph::neighbourhoods, &LabelledGraph::calls,
                                     &LabelledGraph::named_calls});
  const bool have_shifted =
      agreement(before, after, by_structure) > agreement(before, after, by_name);
  return have_shifted ? by_structure : by_name;
}

}  // namespace torch_ir
