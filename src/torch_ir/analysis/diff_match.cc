#include "torch_ir/analysis/diff_match.h"

#include <c10/util/hash.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace torch_ir {
namespace {

// How often calls are looked at that become unique between the pairs that were found.
constexpr int kMaxRounds = 4;
// Gaps with more pairs of nodes than this are not aligned: nodes of one name are paired before.
constexpr size_t kMaxTableSize = size_t{1} << 22;

// One for each node.
using Labels = std::vector<size_t>;

struct GraphLabels {
  Labels operators = {};
  // The operator with the weights and graph inputs that it reads.
  Labels calls = {};
  // The call with the name of what it makes.
  Labels named_calls = {};
};

GraphLabels labels_of(const Graph& graph, const ExternalName& external) {
  const std::hash<std::string> hash;
  GraphLabels labels;
  for (const OpNode& node : graph.nodes) {
    size_t call = hash(node.op_type);
    labels.operators.push_back(call);
    for (const TensorMeta& input : node.inputs) {
      call = c10::hash_combine(call, hash(external(input.name)));
    }
    labels.calls.push_back(call);
    const std::string& name = node.outputs.empty() ? node.name : node.outputs[0].name;
    labels.named_calls.push_back(c10::hash_combine(call, hash(name)));
  }
  return labels;
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

// The pairs of the gap that agree most, in order, by the table of all suffixes.
std::vector<NodePair> aligned(const Gap& gap, const GraphLabels& old, const GraphLabels& now) {
  const auto agreement = [&](size_t i, size_t j) -> uint32_t {
    const size_t a = gap.old[i];
    const size_t b = gap.now[j];
    if (old.operators[a] != now.operators[b]) return 0;
    if (old.calls[a] != now.calls[b]) return 4;
    return old.named_calls[a] == now.named_calls[b] ? 7 : 6;
  };
  const size_t width = gap.now.size() + 1;
  std::vector<uint32_t> sums((gap.old.size() + 1) * width);
  const auto sum = [&](size_t i, size_t j) -> uint32_t& { return sums[i * width + j]; };
  for (size_t i = gap.old.size(); i-- > 0;) {
    for (size_t j = gap.now.size(); j-- > 0;) {
      const uint32_t own = agreement(i, j);
      sum(i, j) = std::max(sum(i + 1, j), sum(i, j + 1));
      if (own > 0) sum(i, j) = std::max(sum(i, j), own + sum(i + 1, j + 1));
    }
  }
  std::vector<NodePair> pairs;
  for (size_t i = 0, j = 0; i < gap.old.size() && j < gap.now.size();) {
    const uint32_t own = agreement(i, j);
    if (own > 0 && sum(i, j) == own + sum(i + 1, j + 1)) {
      pairs.push_back({gap.old[i++], gap.now[j++]});
    } else {
      ++(sum(i + 1, j) >= sum(i, j + 1) ? i : j);
    }
  }
  return pairs;
}

bool is_large(const Gap& gap) { return gap.old.size() * (gap.now.size() + 1) > kMaxTableSize; }

class Matcher {
 public:
  Matcher(const Values& old, const Values& now, GraphLabels old_labels, GraphLabels new_labels)
      : old_(old),
        new_(now),
        old_labels_(std::move(old_labels)),
        new_labels_(std::move(new_labels)) {
    match_.old_of_new.resize(new_nodes().size());
    match_.new_of_old.resize(old_nodes().size());
    match_.is_moved.resize(new_nodes().size());
  }

  NodeMatch run() && {
    for (int round = 0; round < kMaxRounds; ++round) {
      for (const Gap& gap : gaps()) {
        pair(in_order(unique_pairs(gap, old_labels_.calls, new_labels_.calls)));
      }
    }
    for (const Gap& gap : gaps()) {
      if (!is_large(gap)) continue;
      pair(in_order(unique_pairs(gap, old_labels_.named_calls, new_labels_.named_calls)));
    }
    for (const Gap& gap : gaps()) {
      if (!is_large(gap)) pair(aligned(gap, old_labels_, new_labels_));
    }
    pair_moved();
    for (const Gap& gap : gaps()) pair_replaced(gap);
    return std::move(match_);
  }

 private:
  const std::vector<OpNode>& old_nodes() const { return old_.graph().nodes; }
  const std::vector<OpNode>& new_nodes() const { return new_.graph().nodes; }

  void pair(const std::vector<NodePair>& pairs) {
    for (const auto& [old, now] : pairs) {
      match_.new_of_old[old] = now;
      match_.old_of_new[now] = old;
    }
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
    for (size_t i = 0; i < match_.old_of_new.size(); ++i) {
      if (!match_.old_of_new[i]) {
        gap.now.push_back(i);
      } else if (!match_.is_moved[i]) {
        close(*match_.old_of_new[i]);
      }
    }
    close(match_.new_of_old.size());
    return gaps;
  }

  // What is left on both sides and is the same call of what partners make, wherever it is.
  void pair_moved() {
    Gap left;
    for (size_t i = 0; i < old_nodes().size(); ++i) {
      if (!match_.new_of_old[i]) left.old.push_back(i);
    }
    for (size_t i = 0; i < new_nodes().size(); ++i) {
      if (!match_.old_of_new[i]) left.now.push_back(i);
    }
    for (const NodePair& both : unique_pairs(left, old_labels_.calls, new_labels_.calls)) {
      if (!reads_partners(both)) continue;
      match_.is_moved[both.now] = true;
      pair({both});
    }
  }

  bool reads_partners(const NodePair& both) const {
    const std::vector<TensorMeta>& old = old_nodes()[both.old].inputs;
    const std::vector<TensorMeta>& now = new_nodes()[both.now].inputs;
    return std::ranges::equal(old, now, [&](const TensorMeta& before, const TensorMeta& after) {
      const Values::Producer* old_maker = old_.producer(before.name);
      const Values::Producer* new_maker = new_.producer(after.name);
      if (old_maker == nullptr || new_maker == nullptr) return old_maker == new_maker;
      return match_.new_of_old[old_maker->node] == new_maker->node &&
             old_maker->output == new_maker->output;
    });
  }

  // Where as many nodes went as came.
  void pair_replaced(const Gap& gap) {
    if (gap.old.size() != gap.now.size()) return;
    std::vector<NodePair> pairs;
    for (size_t i = 0; i < gap.old.size(); ++i) {
      if (old_nodes()[gap.old[i]].outputs.size() !=
          new_nodes()[gap.now[i]].outputs.size())
        return;
      pairs.push_back({gap.old[i], gap.now[i]});
    }
    pair(pairs);
  }

  const Values& old_;
  const Values& new_;
  const GraphLabels old_labels_;
  const GraphLabels new_labels_;
  NodeMatch match_;
};

}  // namespace

NodeMatch match_nodes(const Values& old, const Values& now, const ExternalName& old_external,
                      const ExternalName& new_external) {
  return Matcher(old, now, labels_of(old.graph(), old_external),
                 labels_of(now.graph(), new_external))
      .run();
}

}  // namespace torch_ir
