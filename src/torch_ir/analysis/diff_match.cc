#include "torch_ir/analysis/diff_match.h"

#include <c10/util/hash.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "torch_ir/operators/operator_facts.h"

namespace torch_ir {
namespace {

// Beyond this many pairs of nodes, only nodes of the same name are paired.
constexpr size_t kMaxTableSize = size_t{1} << 26;

// The identity of a node, as hashes.
struct Label {
  size_t op = 0;
  // The operator with the weights and graph inputs that it reads.
  size_t call = 0;
  // The call with the names of its outputs.
  size_t named_call = 0;
  size_t module = 0;
  size_t num_outputs = 0;
};

std::vector<Label> labels_of(const Graph& graph, const Origins& origins) {
  const std::hash<std::string> hash;
  std::vector<Label> labels;
  for (const Node& node : graph.nodes) {
    Label label{.op = hash(out_of_place(node.target)),
                .module = hash(node.origin.module),
                .num_outputs = node.outputs.size()};
    label.call = label.op;
    for (const ValueId input : node.inputs()) {
      label.call = c10::hash_combine(label.call, hash(origins[input]));
    }
    const std::string& name = node.outputs.empty() ? node.name : graph[node.outputs[0]].name;
    label.named_call = c10::hash_combine(label.call, hash(name));
    labels.push_back(label);
  }
  return labels;
}

// Scores a pair of nodes. Another operator in the same place counts, but less than any number of
// matching ones.
uint32_t agreement(const Label& old, const Label& now) {
  if (old.op != now.op) return old.num_outputs == now.num_outputs ? 1 : 0;
  const uint32_t module = old.module == now.module ? 0x800 : 0;
  if (old.call != now.call) return module + 0x4000;
  return module + (old.named_call == now.named_call ? 0x7000 : 0x6000);
}

class Matcher {
 public:
  Matcher(const Graph& old, const Graph& now, Origins& old_origins, Origins& new_origins)
      : old_(old.nodes),
        new_(now.nodes),
        old_origins_(old_origins),
        new_origins_(new_origins),
        old_labels_(labels_of(old, old_origins)),
        new_labels_(labels_of(now, new_origins)),
        old_end_(old_.size()),
        new_end_(new_.size()) {
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
    for (const auto& [old, now] : replaced_) {
      if (!match_.new_of_old[old] && !match_.old_of_new[now]) pair(old, now);
    }
    return std::move(match_);
  }

 private:
  void pair(size_t old, size_t now) {
    match_.new_of_old[old] = now;
    match_.old_of_new[now] = old;
    const auto set_origins = [&](const std::vector<ValueId>& outputs, Origins& origins) {
      for (size_t i = 0; i < outputs.size(); ++i) {
        origins[outputs[i]] = "node " + std::to_string(now) + " " + std::to_string(i);
      }
    };
    set_origins(old_[old].outputs, old_origins_);
    set_origins(new_[now].outputs, new_origins_);
  }

  bool is_same(size_t old, size_t now) const {
    return old_labels_[old].named_call == new_labels_[now].named_call;
  }

  // Pairs the common beginning and end, which are usually nearly everything.
  void pair_ends() {
    for (; begin_ < old_end_ && begin_ < new_end_ && is_same(begin_, begin_); ++begin_) {
      pair(begin_, begin_);
    }
    while (old_end_ > begin_ && new_end_ > begin_ && is_same(old_end_ - 1, new_end_ - 1)) {
      pair(--old_end_, --new_end_);
    }
  }

  // Pairs the nodes that agree most, keeping the order of both graphs, by dynamic programming.
  void align(size_t num_old, size_t num_new) {
    enum class Step : uint8_t { kPair, kSkipOld, kSkipNew };
    std::vector<Step> steps(num_old * num_new);
    std::vector<uint32_t> sums(num_new + 1);
    std::vector<uint32_t> below(num_new + 1);
    for (size_t i = num_old; i-- > 0;) {
      std::swap(sums, below);
      for (size_t j = num_new; j-- > 0;) {
        const uint32_t own = agreement(old_labels_[begin_ + i], new_labels_[begin_ + j]);
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
      if (step == Step::kPair && old_labels_[begin_ + i].op == new_labels_[begin_ + j].op) {
        pair(begin_ + i, begin_ + j);
      } else if (step == Step::kPair) {
        replaced_.emplace_back(begin_ + i, begin_ + j);
      }
      i += step == Step::kSkipNew ? 0 : 1;
      j += step == Step::kSkipOld ? 0 : 1;
    }
  }

  void pair_names() {
    std::unordered_map<size_t, size_t> old_by_name;
    for (size_t i = begin_; i < old_end_; ++i) old_by_name.emplace(old_labels_[i].named_call, i);
    size_t next = begin_;
    for (size_t j = begin_; j < new_end_; ++j) {
      const auto found = old_by_name.find(new_labels_[j].named_call);
      if (found == old_by_name.end() || found->second < next) continue;
      pair(found->second, j);
      next = found->second + 1;
    }
  }

  // Pairs remaining nodes that make the same call on partners' values, wherever they are.
  void pair_moved() {
    struct Left {
      std::vector<size_t> old;
      std::vector<size_t> now;
    };
    std::unordered_map<size_t, Left> by_call;
    for (const size_t i : unmatched(match_.new_of_old, begin_, old_end_)) {
      by_call[old_labels_[i].call].old.push_back(i);
    }
    for (const size_t i : unmatched(match_.old_of_new, begin_, new_end_)) {
      by_call[new_labels_[i].call].now.push_back(i);
    }
    // In order, since a moved node may read another.
    for (const size_t i : unmatched(match_.new_of_old, begin_, old_end_)) {
      const auto& [old, now] = by_call[old_labels_[i].call];
      if (old.size() != 1 || now.size() != 1) continue;
      const auto is_partner = [&](ValueId before, ValueId after) {
        return is_same_origin(old_origins_[before], new_origins_[after]);
      };
      if (!std::ranges::equal(old_[i].inputs(), new_[now[0]].inputs(), is_partner)) continue;
      match_.is_moved[now[0]] = true;
      pair(i, now[0]);
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

  const std::vector<Node>& old_;
  const std::vector<Node>& new_;
  Origins& old_origins_;
  Origins& new_origins_;
  const std::vector<Label> old_labels_;
  const std::vector<Label> new_labels_;
  // Excludes the common beginning and end.
  size_t begin_ = 0;
  size_t old_end_;
  size_t new_end_;
  // Places where an operator may have been replaced.
  std::vector<std::pair<size_t, size_t>> replaced_;
  NodeMatch match_;
};

}  // namespace

bool is_same_origin(const std::string& old, const std::string& now) {
  return !old.empty() && old == now;
}

NodeMatch match_nodes(const Graph& old, const Graph& now, Origins& old_origins,
                      Origins& new_origins) {
  return Matcher(old, now, old_origins, new_origins).run();
}

}  // namespace torch_ir
