#include "torch_ir/analysis/diff_match.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "torch_ir/analysis/diff_alignment.h"

namespace torch_ir {
namespace {

using Numbers = std::vector<uint32_t>;
using Partners = std::vector<std::optional<size_t>>;

// Equal numbers for equal texts.
class TextNumbers {
 public:
  uint32_t operator()(const std::string& text) {
    return numbers_.try_emplace(text, static_cast<uint32_t>(numbers_.size())).first->second;
  }

 private:
  std::unordered_map<std::string, uint32_t> numbers_;
};

// The operator with the weights and graph inputs that it reads.
std::string call_text(const OpNode& node, const ExternalName& external) {
  std::string text = node.op_type;
  for (const TensorMeta& input : node.inputs) {
    const std::string name = external(input.name);
    text += '\0';
    text += name;
  }
  return text;
}

bool is_same_value(const TensorMeta& a, const TensorMeta& b) {
  return a.shape == b.shape && a.dtype == b.dtype && a.symbolic_shape == b.symbolic_shape &&
         a.is_scalar == b.is_scalar && a.expression == b.expression;
}

// Whether both call the same with results of the same form, whatever their names are.
bool is_same_call(const OpNode& a, const OpNode& b) {
  const auto same_attribute = [&](const AttributeMap::Item& item) {
    const Attribute* other = b.attrs.find(item.first);
    const auto unnamed = [](const Attribute& value) {
      return with_values(value, [](const ValueRef&) { return ValueRef{}; });
    };
    return other != nullptr && unnamed(item.second) == unnamed(*other);
  };
  return a.op_type == b.op_type && a.inputs.size() == b.inputs.size() &&
         a.attrs.size() == b.attrs.size() && std::ranges::all_of(a.attrs, same_attribute) &&
         std::ranges::equal(a.outputs, b.outputs, is_same_value);
}

// How often the results of each node are read.
std::vector<size_t> count_uses(const Graph& graph) {
  std::unordered_map<std::string_view, size_t> uses;
  for (const OpNode& node : graph.nodes) {
    for (const TensorMeta& input : node.inputs) ++uses[input.name];
  }
  for (const TensorMeta& output : graph.graph_outputs) ++uses[output.name];
  std::vector<size_t> counts(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const TensorMeta& output : graph.nodes[i].outputs) {
      const auto found = uses.find(output.name);
      if (found != uses.end()) counts[i] += found->second;
    }
  }
  return counts;
}

class Matcher {
 public:
  Matcher(const Graph& old, const Graph& now, const ExternalName& old_external,
          const ExternalName& new_external)
      : old_(old), new_(now), old_external_(old_external), new_external_(new_external) {
    match_.old_of_new.resize(now.nodes.size());
    match_.new_of_old.resize(old.nodes.size());
    match_.is_moved.resize(now.nodes.size());
  }

  NodeMatch run() {
    align_calls();
    for_each_gap([&](AlignedPair begin, AlignedPair end) { align_operators(begin, end); });
    find_moved();
    for_each_gap([&](AlignedPair begin, AlignedPair end) { pair_replaced(begin, end); });
    slide_rows();
    return std::move(match_);
  }

 private:
  void pair(size_t old, size_t now) {
    match_.new_of_old[old] = now;
    match_.old_of_new[now] = old;
  }

  void align_calls() {
    TextNumbers call;
    TextNumbers operation;
    for (const OpNode& node : old_.nodes) {
      old_calls_.push_back(call(call_text(node, old_external_)));
      old_operators_.push_back(operation(node.op_type));
    }
    for (const OpNode& node : new_.nodes) {
      new_calls_.push_back(call(call_text(node, new_external_)));
      new_operators_.push_back(operation(node.op_type));
    }
    for (const AlignedPair& both : align(old_calls_, new_calls_)) pair(both.a, both.b);
  }

  void slide_rows() {
    const std::vector<size_t> old_uses = count_uses(old_);
    const std::vector<size_t> new_uses = count_uses(new_);
    // How much speaks for two nodes being the same, what they are before what they are called.
    const auto score = [&](size_t old, size_t now) {
      const OpNode& a = old_.nodes[old];
      const OpNode& b = new_.nodes[now];
      return 8 * int{old_calls_[old] == new_calls_[now]} + 4 * int{is_same_call(a, b)} +
             2 * int{old_uses[old] == new_uses[now]} + int{a.name == b.name};
    };
    std::vector<bool> old_moved(old_.nodes.size());
    for (size_t i = 0; i < new_.nodes.size(); ++i) {
      if (match_.is_moved[i]) old_moved[*match_.old_of_new[i]] = true;
    }
    slide(new_operators_, match_.old_of_new, match_.new_of_old, match_.is_moved,
          [&](size_t now, size_t old) { return score(old, now); });
    slide(old_operators_, match_.new_of_old, match_.old_of_new, old_moved, score);
  }

  // Moves each row of nodes without a partner up or down to where, of all places that are as good,
  // most partners agree: where the node behind the row equals the first in it, or the one before it
  // the last in it, the partner of one may as well be that of the other.
  static void slide(const Numbers& operators, Partners& partners, Partners& back,
                    const std::vector<bool>& is_moved,
                    const std::function<int(size_t, size_t)>& score) {
    const auto may_slide = [&](size_t i) { return partners[i] && !is_moved[i]; };
    const auto hand_over = [&](size_t from, size_t to) {
      partners[to] = partners[from];
      partners[from].reset();
      back[*partners[to]] = to;
    };
    for (size_t begin = 0; begin < operators.size(); ++begin) {
      if (partners[begin]) continue;
      size_t end = begin;
      while (end < operators.size() && !partners[end]) ++end;
      for (; begin > 0 && may_slide(begin - 1) && operators[begin - 1] == operators[end - 1];
           --begin, --end) {
        hand_over(begin - 1, end - 1);
      }
      // All the way down, then back up to the best place; of equals the last.
      int total = 0;
      int best = 0;
      size_t best_begin = begin;
      for (; end < operators.size() && may_slide(end) && operators[end] == operators[begin];
           ++begin, ++end) {
        total += score(begin, *partners[end]) - score(end, *partners[end]);
        hand_over(end, begin);
        if (total < best) continue;
        best = total;
        best_begin = begin + 1;
      }
      for (size_t first = begin; first > best_begin; --first) {
        hand_over(first - 1, first - 1 + (end - begin));
      }
      begin = end - (begin - best_begin);
      if (begin > 0) --begin;
    }
  }

  // Visits the parts between pairs in order, where both graphs have nodes left.
  template <class Visit>
  void for_each_gap(Visit visit) const {
    std::vector<AlignedPair> ends;
    for (size_t i = 0; i < new_.nodes.size(); ++i) {
      if (match_.old_of_new[i] && !match_.is_moved[i]) ends.push_back({*match_.old_of_new[i], i});
    }
    ends.push_back({old_.nodes.size(), new_.nodes.size()});
    AlignedPair begin;
    for (const AlignedPair& end : ends) {
      if (begin.a < end.a && begin.b < end.b) visit(begin, end);
      begin = {end.a + 1, end.b + 1};
    }
  }

  void align_operators(AlignedPair begin, AlignedPair end) {
    const auto part = [](const Numbers& numbers, size_t first, size_t last) {
      return std::span(numbers).subspan(first, last - first);
    };
    for (const AlignedPair& both :
         align(part(old_operators_, begin.a, end.a), part(new_operators_, begin.b, end.b))) {
      pair(begin.a + both.a, begin.b + both.b);
    }
  }

  // What a value is, in names of the new graph; nothing for one that only the old graph has.
  std::optional<std::string> in_new_names(
      const std::string& value,
      const std::unordered_map<std::string_view, AlignedPair>& old_producers) const {
    const auto producer = old_producers.find(value);
    if (producer == old_producers.end()) return old_external_(value);
    const auto [node, output] = producer->second;
    const auto& partner = match_.new_of_old[node];
    if (!partner || output >= new_.nodes[*partner].outputs.size()) return std::nullopt;
    return new_.nodes[*partner].outputs[output].name;
  }

  // Pairs equal calls on the same values, wherever they are.
  void find_moved() {
    std::unordered_map<std::string_view, AlignedPair> old_producers;
    for (size_t i = 0; i < old_.nodes.size(); ++i) {
      for (size_t output = 0; output < old_.nodes[i].outputs.size(); ++output) {
        old_producers[old_.nodes[i].outputs[output].name] = {i, output};
      }
    }
    // By call, first to last.
    std::unordered_map<uint32_t, std::vector<size_t>> left;
    for (size_t i = 0; i < old_.nodes.size(); ++i) {
      if (!match_.new_of_old[i]) left[old_calls_[i]].push_back(i);
    }
    for (size_t i = 0; i < new_.nodes.size(); ++i) {
      if (match_.old_of_new[i]) continue;
      std::vector<size_t>& candidates = left[new_calls_[i]];
      const OpNode& node = new_.nodes[i];
      const auto is_same = [&](size_t candidate) {
        const OpNode& old = old_.nodes[candidate];
        return is_same_call(old, node) &&
               std::ranges::equal(old.inputs, node.inputs,
                                  [&](const TensorMeta& a, const TensorMeta& b) {
                                    const std::string external = new_external_(b.name);
                                    return in_new_names(a.name, old_producers) ==
                                           (external.empty() ? b.name : external);
                                  });
      };
      const auto few = std::min(candidates.size(), kMaxCandidates);
      const auto found = std::find_if(candidates.begin(),
                                      candidates.begin() + static_cast<ptrdiff_t>(few), is_same);
      if (found == candidates.begin() + static_cast<ptrdiff_t>(few)) continue;
      pair(*found, i);
      match_.is_moved[i] = true;
      candidates.erase(found);
    }
  }

  // Where as many nodes went as came.
  void pair_replaced(AlignedPair begin, AlignedPair end) {
    std::vector<size_t> gone;
    std::vector<size_t> come;
    for (size_t i = begin.a; i < end.a; ++i) {
      if (!match_.new_of_old[i]) gone.push_back(i);
    }
    for (size_t i = begin.b; i < end.b; ++i) {
      if (!match_.old_of_new[i]) come.push_back(i);
    }
    if (gone.size() != come.size()) return;
    for (size_t i = 0; i < gone.size(); ++i) {
      if (old_.nodes[gone[i]].outputs.size() != new_.nodes[come[i]].outputs.size()) return;
    }
    for (size_t i = 0; i < gone.size(); ++i) pair(gone[i], come[i]);
  }

  // So that a graph of nothing but equal calls takes no longer than another.
  static constexpr size_t kMaxCandidates = 64;

  const Graph& old_;
  const Graph& new_;
  const ExternalName& old_external_;
  const ExternalName& new_external_;
  Numbers old_calls_;
  Numbers new_calls_;
  Numbers old_operators_;
  Numbers new_operators_;
  NodeMatch match_;
};

}  // namespace

NodeMatch match_nodes(const Graph& old, const Graph& now, const ExternalName& old_external,
                      const ExternalName& new_external) {
  return Matcher(old, now, old_external, new_external).run();
}

}  // namespace torch_ir
