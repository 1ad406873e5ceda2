#include "torch_ir/visualize/fold.h"

#include <c10/core/ScalarType.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "torch_ir/base/characters.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/suggestion.h"
#include "torch_ir/ir/module_paths.h"
#include "torch_ir/visualize/labels.h"

namespace torch_ir {
namespace {

// Deeper modules are folded into the one at this depth.
constexpr size_t kMaxDepth = 64;
// The longest repeat, in children; the search takes time in proportion to it.
constexpr size_t kMaxPeriod = 256;
// A repeat that saves fewer nodes is not worth a box.
constexpr size_t kFewestSavedNodes = 4;
constexpr size_t kFewestNodesOfRun = 3;
constexpr size_t kMaxOperatorsInTitle = 3;
// Stand for the node that makes a value, if there is none.
constexpr size_t kGraphInput = std::numeric_limits<size_t>::max();
constexpr size_t kWeight = kGraphInput - 1;

// The first name of `path` below `module`, with the numbers after it: "layers.0" for
// "encoder.layers.0.mlp" in "encoder", since a list of modules is not called itself. Empty for the
// same path.
std::string_view next_name(std::string_view path, std::string_view module) {
  if (path.size() == module.size()) return {};
  path.remove_prefix(module.empty() ? 0 : module.size() + 1);
  size_t end = path.find('.');
  while (end < path.size()) {
    const size_t next = std::min(path.find('.', end + 1), path.size());
    const std::string_view name = path.substr(end + 1, next - end - 1);
    if (name.empty() || !std::ranges::all_of(name, is_digit)) break;
    end = next;
  }
  return path.substr(0, end);
}

std::string without_digits(std::string text) {
  std::erase_if(text, is_digit);
  return text;
}

std::vector<Part> taken(std::span<Part> parts) {
  return {std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end())};
}

class Folder {
 public:
  Folder(const Program& graph, const std::vector<std::string>& traits)
      : graph_(graph), paths_(module_paths(graph, /*fills_gaps=*/true)) {
    std::unordered_set<ValueId> weights;
    for (const GraphInput& input : graph.inputs) {
      if (input.kind != InputKind::kUserInput) weights.insert(input.value);
    }
    std::unordered_map<std::string, size_t> calls;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      std::vector<size_t>& read = makers_.emplace_back();
      for (const ValueId input : graph.nodes[i].inputs()) {
        const std::optional<uint32_t>& producer = graph[input].producer;
        read.push_back(producer ? *producer : weights.contains(input) ? kWeight : kGraphInput);
      }
      const std::string text = call_text(graph.nodes[i], i) + (traits.empty() ? "" : traits[i]);
      calls_.push_back(calls.try_emplace(text, i).first->second);
    }
  }

  Part fold(const std::string& module) const {
    const auto inside = [&](const std::string& path) {
      return enclosing_module(path, module) == module;
    };
    const auto begin = std::ranges::find_if(paths_, inside);
    if (begin == paths_.end() && !paths_.empty()) fail_unknown(module);
    const auto end = std::find_if_not(begin, paths_.end(), inside);
    const auto at = [&](auto place) { return static_cast<size_t>(place - paths_.begin()); };
    Part part = module_part(at(begin), at(end), module, /*title=*/"", /*depth=*/0);
    set_shifts(part);
    return part;
  }

 private:
  [[noreturn]] void fail_unknown(const std::string& module) const {
    std::set<std::string> known;
    for (const std::string& path : paths_) {
      for (size_t end = 0; end < path.size();) {
        end = std::min(path.find('.', end + 1), path.size());
        known.insert(path.substr(0, end));
      }
    }
    if (known.empty()) throw Error("unknown module '" + module + "': the graph names no modules");
    throw Error("unknown module '" + module + "'" + suggest(module, {known.begin(), known.end()}));
  }

  // Equal for nodes of the same operator, attributes, shapes and dtypes.
  std::string call_text(const Node& node, size_t index) const {
    std::string text = node.target;
    const auto add_form = [&](ValueId id) {
      text += fmt::format(" {} {}", shape_text(graph_[id]), c10::toString(graph_[id].dtype));
    };
    // Graphs of control flow are not compared.
    if (!node.graphs.empty()) text += std::to_string(index);
    for (const Argument& argument : node.arguments) {
      text += '\n' + argument.name;
      for_each_value(argument, add_form);
      if (const auto* list = std::get_if<ValueList>(&argument.value)) {
        for (const auto& item : *list) text += item ? '+' : '-';
      }
      const auto* attribute = std::get_if<Attribute>(&argument.value);
      if (attribute != nullptr && argument.numbers.empty()) text += attribute_text(*attribute);
    }
    text += '\n';
    std::ranges::for_each(node.outputs, add_form);
    return text;
  }

  // Whether the nodes from `a` and from `b` are equal, with equal arrows among them.
  bool are_equal_nodes(size_t a, size_t b, size_t length) const {
    const auto source = [&](size_t maker, size_t begin) {
      if (maker == kWeight) return maker;
      return maker >= begin && maker < begin + length ? maker - begin : kGraphInput;
    };
    for (size_t i = 0; i < length; ++i) {
      const auto is_same = [&](size_t of_a, size_t of_b) {
        return source(of_a, a) == source(of_b, b);
      };
      if (calls_[a + i] != calls_[b + i]) return false;
      if (!std::ranges::equal(makers_[a + i], makers_[b + i], is_same)) return false;
    }
    return true;
  }

  // Modules are equal only if their names differ only in numbers.
  bool are_equal(std::span<const Part> a, std::span<const Part> b) const {
    const auto are_alike = [&](const Part& x, const Part& y) {
      return x.num_nodes() == y.num_nodes() && x.copies == y.copies &&
             without_digits(x.title) == without_digits(y.title);
    };
    return calls_[a[0].begin] == calls_[b[0].begin] && std::ranges::equal(a, b, are_alike) &&
           are_equal_nodes(a[0].begin, b[0].begin, a.back().end - a[0].begin);
  }

  Part module_part(size_t begin, size_t end, const std::string& path, const std::string& title,
                   size_t depth) const {
    std::vector<Part> children;
    for (size_t i = begin; i < end;) {
      const size_t first = i++;
      const std::string name(depth < kMaxDepth ? next_name(paths_[first], path) : "");
      if (name.empty()) {
        children.push_back({.begin = first, .end = i});
        continue;
      }
      while (i < end && next_name(paths_[i], path) == name) ++i;
      const std::string inner = path.empty() ? name : path + "." + name;
      children.push_back(module_part(first, i, inner, name, depth + 1));
    }
    children = grouped(fold_repeats(std::move(children)));
    // A module that is all of another takes its place: drawings then show how often it is called.
    const bool is_whole =
        depth == 0 && children.size() == 1 && (children[0].is_node() || children[0].copies > 1);
    if (children.size() == 1 && !is_whole && (children[0].is_module || children[0].is_node())) {
      Part only = std::move(children[0]);
      if (!title.empty()) only.title = only.title.empty() ? title : title + "." + only.title;
      only.is_module = true;
      return only;
    }
    return {.begin = begin,
            .end = end,
            .title = title,
            .is_module = true,
            .children = std::move(children)};
  }

  // A sequence at the start of some parts that repeats in a row.
  struct Repeat {
    size_t period = 1;
    size_t copies = 1;
    size_t saved_nodes = kFewestSavedNodes - 1;
  };

  // The one that saves the most nodes.
  Repeat find_repeat(std::span<const Part> parts) const {
    Repeat best;
    for (size_t period = 1; period <= std::min(parts.size() / 2, kMaxPeriod); ++period) {
      size_t end = period;
      while (end + period <= parts.size() &&
             are_equal(parts.first(period), parts.subspan(end, period))) {
        end += period;
      }
      const size_t saved = parts[end - 1].end - parts[period - 1].end;
      if (saved > best.saved_nodes) best = {period, end / period, saved};
    }
    return best;
  }

  std::vector<Part> fold_repeats(std::vector<Part> parts) const {
    std::vector<Part> result;
    for (size_t i = 0; i < parts.size();) {
      const auto [period, copies, saved] = find_repeat(std::span(parts).subspan(i));
      if (copies == 1) {
        result.push_back(std::move(parts[i++]));
        continue;
      }
      result.push_back(repeat_part(std::span(parts).subspan(i, period * copies), period, copies));
      i += period * copies;
    }
    return result;
  }

  Part repeat_part(std::span<Part> parts, size_t period, size_t copies) const {
    const auto first = std::ranges::find_if(parts, &Part::is_module);
    const auto last = std::find_if(parts.rbegin(), parts.rend(), std::mem_fn(&Part::is_module));
    Part part{.begin = parts.front().begin, .end = parts.back().end, .copies = copies};
    part.is_module = first != parts.end();
    part.title = part.is_module ? title_of_range(first->title, last->title)
                                : operators_of(part.begin, part.end_of_first_copy());
    Part& front = parts.front();
    part.children = period == 1 && front.copies == 1 && !front.is_node()
                        ? std::move(front.children)
                        : grouped(fold_repeats(taken(parts.first(period))));
    return part;
  }

  // "relu, add.Tensor, ..."
  std::string operators_of(size_t begin, size_t end) const {
    std::vector<std::string> names;
    for (size_t i = begin; i < end; ++i) {
      std::string name = operator_label(graph_.nodes[i].target);
      if (std::ranges::find(names, name) != names.end()) continue;
      names.push_back(names.size() < kMaxOperatorsInTitle ? std::move(name) : "...");
      if (names.size() > kMaxOperatorsInTitle) break;
    }
    return fmt::format("{}", fmt::join(names, ", "));
  }

  // Adds the parts as one if there are enough of them.
  void add_run(std::span<Part> run, size_t fewest, std::vector<Part>& result) const {
    if (run.size() < fewest) {
      std::ranges::move(run, std::back_inserter(result));
      return;
    }
    const size_t begin = run.front().begin;
    const size_t end = run.back().end;
    const bool are_modules = std::ranges::all_of(run, &Part::is_module);
    result.push_back({.begin = begin,
                      .end = end,
                      .title = are_modules ? title_of_range(run.front().title, run.back().title)
                                           : operators_of(begin, end),
                      .children = grouped(taken(run))});
  }

  // Joins each run of nodes between modules into one part, then joins neighbours, until few are
  // left.
  std::vector<Part> grouped(std::vector<Part> parts) const {
    if (parts.size() <= kMaxChildren) return parts;
    const auto is_plain = [](const Part& part) { return part.is_node() && !part.is_module; };
    if (!std::ranges::all_of(parts, is_plain)) {
      std::vector<Part> runs;
      for (auto part = parts.begin(); part != parts.end();) {
        const auto begin = part++;
        if (is_plain(*begin)) part = std::find_if_not(part, parts.end(), is_plain);
        add_run({begin, part}, kFewestNodesOfRun, runs);
      }
      parts = std::move(runs);
    }
    while (parts.size() > kMaxChildren) {
      const auto root = static_cast<size_t>(std::sqrt(static_cast<double>(parts.size())));
      const size_t length = std::min(root + 1, kMaxChildren);
      std::vector<Part> groups;
      for (size_t i = 0; i < parts.size(); i += length) {
        add_run(std::span(parts).subspan(i, std::min(length, parts.size() - i)), 2, groups);
      }
      parts = std::move(groups);
    }
    return parts;
  }

  static void set_shifts(Part& part) {
    const size_t length = part.end_of_first_copy() - part.begin;
    std::vector<size_t> shifts;
    for (const size_t shift : part.shifts) {
      for (size_t copy = 0; copy < part.copies; ++copy) shifts.push_back(shift + copy * length);
    }
    for (Part& child : part.children) {
      child.shifts = shifts;
      set_shifts(child);
    }
  }

  const Graph& graph_;
  const std::vector<std::string> paths_;
  // For each input of each node, the node that makes it.
  std::vector<std::vector<size_t>> makers_;
  // The first node with the same call.
  std::vector<size_t> calls_;
};

}  // namespace

std::vector<size_t> Part::equal_nodes() const {
  std::vector<size_t> nodes;
  for (const size_t shift : shifts) {
    for (size_t i = begin; i < end; ++i) nodes.push_back(i + shift);
  }
  return nodes;
}

Part fold_graph(const Program& graph, const std::string& module,
                const std::vector<std::string>& traits) {
  return Folder(graph, traits).fold(module);
}

std::string title_of_range(const std::string& first, const std::string& last) {
  if (first == last) return first;
  const auto [a, b] = std::ranges::mismatch(first, last);
  auto begin = static_cast<size_t>(a - first.begin());
  while (begin > 0 && is_digit(first[begin - 1])) --begin;
  const auto end_of_number = [begin](const std::string& text) {
    const size_t end = text.find_first_not_of("0123456789", begin);
    return std::min(end, text.size());
  };
  const size_t first_end = end_of_number(first);
  const size_t last_end = end_of_number(last);
  const bool are_numbers = first_end > begin && last_end > begin;
  if (!are_numbers || first.substr(first_end) != last.substr(last_end)) {
    return first + " ... " + last;
  }
  return first.substr(0, first_end) + "-" + last.substr(begin);
}

}  // namespace torch_ir
