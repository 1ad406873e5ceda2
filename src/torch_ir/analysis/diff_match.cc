#include "torch_ir/analysis/diff_match.h"

#include <c10/util/hash.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace torch_ir {
namespace {

// More pairs of nodes than this are not aligned: only nodes of one name are paired.
constexpr size_t kMaxTableSize = size_t{1} << 26;

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

// How much the nodes have in common; 0 for different operators.
uint32_t agreement(const GraphLabels& old, size_t i, const GraphLabels& now, size_t j) {
  if (old.operators[i] != now.operators[j]) return 0;
  if (old.calls[i] != now.calls[j]) return 4;
  return old.named_calls[i] == now.named_calls[j] ? 7 : 6;
}

class Matcher {
 public:
  Matcher(const Values& old, const Values& now, GraphLabels old_labels, GraphLabels new_labels)
      : old_(old),
        new_(now),
        old_labels_(std::move(old_labels)),
        new_labels_(std::move(new_labels)),
        old_end_(old_nodes().size()),
        new_end_(new_nodes().size()) {
    match_.old_of_new.resize(new_end_);
    match_.new_of_old.resize(old_end_);
    match_.is_moved.resize(new_end_);
  }

  NodeMatch run() && {
    pair_ends();
    const size_t num_old = old_end_ - begin_;
    const size_t num_new = new_end_ - begin_;
    if (num_old == 0 || num_new <= kMaxTableSize / num_old) {
      align(num_old, num_new);
    } else {
      pair_names();
    }
    pair_moved();
    pair_replaced();
    return std::move(match_);
  }

 private:
  const std::vector<OpNode>& old_nodes() const { return old_.graph().nodes; }
  const std::vector<OpNode>& new_nodes() const { return new_.graph().nodes; }

  void pair(size_t old, size_t now) {
    match_.new_of_old[old] = now;
    match_.old_of_new[now] = old;
  }

  bool is_same(size_t old, size_t now) const {
    return old_labels_.named_calls[old] == new_labels_.named_calls[now];
  }

  // What both graphs begin and end with: mostly nearly all of them.
  void pair_ends() {
    while (begin_ < old_end_ && begin_ < new_end_ && is_same(begin_, begin_)) {
      pair(begin_, begin_);
      ++begin_;
    }
    while (old_end_ > begin_ && new_end_ > begin_ && is_same(old_end_ - 1, new_end_ - 1)) {
      pair(--old_end_, --new_end_);
    }
  }

  // Pairs what agrees most in the order of both graphs, by a table of the best steps from each pair
  // of nodes on.
  void align(size_t num_old, size_t num_new) {
    enum class Step : uint8_t { kPair, kSkipOld, kSkipNew };
    std::vector<Step> steps(num_old * num_new);
    std::vector<uint32_t> sums(num_new + 1);
    std::vector<uint32_t> below(num_new + 1);
    for (size_t i = num_old; i-- > 0;) {
      std::swap(sums, below);
      for (size_t j = num_new; j-- > 0;) {
        const uint32_t own = agreement(old_labels_, begin_ + i, new_labels_, begin_ + j);
        Step& step = steps[i * num_new + j];
        step = below[j] >= sums[j + 1] ? Step::kSkipOld : Step::kSkipNew;
        sums[j] = std::max(below[j], sums[j + 1]);
        if (own == 0 || own + below[j + 1] < sums[j]) continue;
        step = Step::kPair;
        sums[j] = own + below[j + 1];
      }
    }
    for (size_t i = 0, j = 0; i < num_old && j < num_new;) {
      const Step step = steps[i * num_new + j];
      if (step == Step::kPair) pair(begin_ + i, begin_ + j);
      i += step == Step::kSkipNew ? 0 : 1;
      j += step == Step::kSkipOld ? 0 : 1;
    }
  }

  void pair_names() {
    std::unordered_map<size_t, size_t> old_by_name;
    for (size_t i = begin_; i < old_end_; ++i) old_by_name.emplace(old_labels_.named_calls[i], i);
    size_t next = begin_;
    for (size_t j = begin_; j < new_end_; ++j) {
      const auto found = old_by_name.find(new_labels_.named_calls[j]);
      if (found == old_by_name.end() || found->second < next) continue;
      pair(found->second, j);
      next = found->second + 1;
    }
  }

  // What is left on both sides and is the same call of what partners make, wherever it is.
  void pair_moved() {
    struct Left {
      std::vector<size_t> old;
      std::vector<size_t> now;
    };
    std::unordered_map<size_t, Left> by_call;
    for (size_t i = begin_; i < old_end_; ++i) {
      if (!match_.new_of_old[i]) by_call[old_labels_.calls[i]].old.push_back(i);
    }
    for (size_t i = begin_; i < new_end_; ++i) {
      if (!match_.old_of_new[i]) by_call[new_labels_.calls[i]].now.push_back(i);
    }
    // In order: what moved may read what moved.
    for (size_t i = begin_; i < old_end_; ++i) {
      const auto left = by_call.find(old_labels_.calls[i]);
      const bool is_unique =
          !match_.new_of_old[i] && left->second.old.size() == 1 && left->second.now.size() == 1;
      if (!is_unique || !reads_partners(i, left->second.now[0])) continue;
      match_.is_moved[left->second.now[0]] = true;
      pair(i, left->second.now[0]);
    }
  }

  bool reads_partners(size_t old, size_t now) const {
    const auto is_partner = [&](const TensorMeta& before, const TensorMeta& after) {
      const Values::Producer* old_maker = old_.producer(before.name);
      const Values::Producer* new_maker = new_.producer(after.name);
      if (old_maker == nullptr || new_maker == nullptr) return old_maker == new_maker;
      return match_.new_of_old[old_maker->node] == new_maker->node &&
             old_maker->output == new_maker->output;
    };
    return std::ranges::equal(old_nodes()[old].inputs, new_nodes()[now].inputs, is_partner);
  }

  // Between two pairs, where as many nodes went as came.
  void pair_replaced() {
    size_t old_begin = begin_;
    size_t new_begin = begin_;
    for (size_t i = begin_; i <= new_end_; ++i) {
      const bool is_end = i == new_end_;
      if (!is_end && (!match_.old_of_new[i] || match_.is_moved[i])) continue;
      const size_t old_end = is_end ? old_end_ : *match_.old_of_new[i];
      pair_replaced(unmatched(match_.new_of_old, old_begin, old_end),
                    unmatched(match_.old_of_new, new_begin, i));
      old_begin = old_end + 1;
      new_begin = i + 1;
    }
  }

  static std::vector<size_t> unmatched(const std::vector<std::optional<size_t>>& partners,
                                       size_t begin, size_t end) {
    std::vector<size_t> nodes;
    for (size_t i = begin; i < end; ++i) {
      if (!partners[i]) nodes.push_back(i);
    }
    return nodes;
  }

  void pair_replaced(const std::vector<size_t>& old, const std::vector<size_t>& now) {
    const auto is_alike = [&](size_t i, size_t j) {
      return old_nodes()[i].outputs.size() == new_nodes()[j].outputs.size();
    };
    if (!std::ranges::equal(old, now, is_alike)) return;
    for (size_t i = 0; i < old.size(); ++i) pair(old[i], now[i]);
  }

  const Values& old_;
  const Values& new_;
  const GraphLabels old_labels_;
  const GraphLabels new_labels_;
  // What is not in the common beginning and end.
  size_t begin_ = 0;
  size_t old_end_;
  size_t new_end_;
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
