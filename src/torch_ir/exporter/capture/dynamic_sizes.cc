#include "torch_ir/exporter/capture/dynamic_sizes.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "torch_ir/base/characters.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/capture/python_form.h"
#include "torch_ir/ir/strided_copy.h"

namespace torch_ir {
namespace {

// The model is recorded at all combinations of two sizes of each.
constexpr size_t kMaxSymbols = 4;

std::string range_text(int64_t min, const std::optional<int64_t>& max) {
  return max ? fmt::format("from {} to {}", min, *max) : fmt::format("at least {}", min);
}

// The names that `graph`, which has none yet, is going to have.
std::string name_of_node(Graph graph, size_t node) {
  name_graph(graph);
  return graph.nodes[node].name;
}

// Attributes cannot be changed in place.
Attribute with_item(const Attribute& attribute, c10::ArrayRef<size_t> path, const ValueRef& item) {
  if (path.empty()) return Attribute(item);
  Attribute::List list = *attribute.get_if<Attribute::List>();
  list[path[0]] = with_item(list[path[0]], path.slice(1), item);
  return Attribute(std::move(list));
}

}  // namespace

DynamicSizes::DynamicSizes(const std::vector<DynamicSize>& sizes,
                           const std::vector<std::string>& names,
                           const std::vector<at::Tensor>& inputs)
    : inputs_(inputs) {
  for (const DynamicSize& size : sizes) {
    const auto input = std::ranges::find(names, size.input);
    if (input == names.end()) {
      throw ExportError(fmt::format("dynamic size '{}' is of input '{}', but the inputs are '{}'",
                                    printable(size.symbol), printable(size.input),
                                    printable(fmt::format("{}", fmt::join(names, "', '")))));
    }
    const auto index = static_cast<size_t>(input - names.begin());
    add_symbol(size, index, inputs[index]);
  }
  if (symbols_.size() > kMaxSymbols) {
    throw ExportError(fmt::format("{} different dynamic sizes, but at most {} can be told apart",
                                  symbols_.size(), kMaxSymbols));
  }
  choose_points();
}

void DynamicSizes::add_symbol(const DynamicSize& size, size_t input, const at::Tensor& tensor) {
  const auto fail = [&](const std::string& problem) {
    throw ExportError(fmt::format("dynamic size '{}': {}", printable(size.symbol), problem));
  };
  const bool is_name = !size.symbol.empty() && !is_digit(size.symbol[0]) &&
                       std::ranges::all_of(size.symbol, is_name_part);
  if (!is_name) fail("its name must have letters, digits and '_' only");
  if (size.dim < 0 || size.dim >= tensor.dim()) {
    fail(fmt::format("input '{}' has no dimension {}, only {} of them", printable(size.input),
                     size.dim, tensor.dim()));
  }
  if (size.min < 0 || (size.max && *size.max <= size.min)) {
    fail(fmt::format("it is {}, which leaves no choice", range_text(size.min, size.max)));
  }
  const int64_t example = tensor.size(size.dim);
  if (example < size.min || (size.max && example > *size.max)) {
    fail(fmt::format("it is {}, but dimension {} of input '{}' is {}",
                     range_text(size.min, size.max), size.dim, printable(size.input), example));
  }
  const auto known = std::ranges::find(symbols_, size.symbol, &Symbol::name);
  if (known == symbols_.end()) {
    symbols_.push_back({size.symbol, example, size.min, size.max, {{input, size.dim}}});
    return;
  }
  if (known->example != example) {
    fail(fmt::format("it is {} in one input and {} in '{}'", known->example, example,
                     printable(size.input)));
  }
  if (known->min != size.min || known->max != size.max) {
    fail(fmt::format("it is {} in one input and {} in '{}'", range_text(known->min, known->max),
                     range_text(size.min, size.max), printable(size.input)));
  }
  known->places.emplace_back(input, size.dim);
}

// A size near the example, so that it costs as much. Not 1 if it can be helped, as operators
// broadcast that.
int64_t DynamicSizes::other_size(const Symbol& symbol, int64_t avoided) const {
  const auto fits = [&](int64_t size) {
    return size >= std::max<int64_t>(symbol.min, 2) && (!symbol.max || size <= *symbol.max) &&
           size != symbol.example && size != avoided;
  };
  for (int64_t distance = 1; distance <= 3; ++distance) {
    for (const int64_t size : {symbol.example + distance, symbol.example - distance}) {
      if (fits(size)) return size;
    }
  }
  return symbol.example == symbol.min ? *symbol.max : symbol.min;
}

void DynamicSizes::choose_points() {
  Point example;
  Point near;
  Point other;
  Point smallest;
  for (const Symbol& symbol : symbols_) {
    example.push_back(symbol.example);
    near.push_back(other_size(symbol, -1));
    other.push_back(other_size(symbol, near.back()));
    smallest.push_back(symbol.min);
  }
  for (size_t corner = 0; corner < num_corners(); ++corner) {
    Point& point = points_.emplace_back(example);
    for (const size_t symbol : symbols_of(corner)) point[symbol] = near[symbol];
  }
  for (const Point& point : {other, smallest}) {
    if (std::ranges::find(points_, point) == points_.end()) points_.push_back(point);
  }
}

// Repeats the items of the example, which stay valid as indices.
std::vector<at::Tensor> DynamicSizes::inputs_at(const Point& point) const {
  std::vector<at::Tensor> inputs = inputs_;
  for (size_t i = 0; i < symbols_.size(); ++i) {
    for (const auto& [input, dim] : symbols_[i].places) {
      at::Tensor& tensor = inputs[input];
      if (tensor.is_meta() || tensor.size(dim) == 0) {
        std::vector<int64_t> sizes = tensor.sizes().vec();
        sizes[static_cast<size_t>(dim)] = point[i];
        tensor = at::zeros(sizes, tensor.options());
        continue;
      }
      const at::Tensor items = at::arange(point[i], tensor.options().dtype(at::kLong));
      tensor = tensor.index_select(dim, items.remainder(tensor.size(dim)));
    }
  }
  return inputs;
}

std::string DynamicSizes::text_at(size_t point) const {
  std::vector<std::string> sizes;
  for (size_t i = 0; i < symbols_.size(); ++i) {
    sizes.push_back(fmt::format("{} = {}", symbols_[i].name, points_[point][i]));
  }
  return fmt::format("{}", fmt::join(sizes, ", "));
}

void DynamicSizes::find_expressions(const Recording& example, const RecordModel& record) {
  std::vector<Recording> recordings = {example};
  for (size_t point = 1; point < points_.size(); ++point) {
    try {
      recordings.push_back(record(inputs_at(points_[point])));
    } catch (const ExportError& error) {
      throw ExportError(error, fmt::format("at {}: {}", text_at(point), error.what()));
    }
  }
  compare_calls(recordings);
  compare_constants(recordings);
  const Graph& graph = example.graph;
  for (size_t node = 0; node < graph.nodes.size(); ++node) {
    for (size_t argument = 0; argument < graph.nodes[node].arguments.size(); ++argument) {
      std::vector<const Attribute*> attributes;
      for (const Recording& recording : recordings) {
        attributes.push_back(
            std::get_if<Attribute>(&recording.graph.nodes[node].arguments[argument].value));
      }
      std::vector<size_t> path;
      if (attributes[0] != nullptr) {
        compare_attributes(recordings, node, argument, std::move(attributes), path);
      }
    }
    for (const ValueId value : graph.nodes[node].outputs) {
      for (size_t d = 0; d < graph[value].shape.size(); ++d) {
        std::vector<int64_t> numbers;
        for (const Recording& it : recordings) numbers.push_back(it.graph[value].shape[d]);
        const auto other =
            std::ranges::find_if(numbers, [&](int64_t number) { return number != numbers[0]; });
        if (other == numbers.end()) continue;
        const auto expression = fit(numbers);
        if (!expression) {
          const auto point = static_cast<size_t>(other - numbers.begin());
          throw ExportError(
              kNotSupported,
              fmt::format(
                  "node '{}': dimension {} of its output is {} at {} and {} at {}, which is "
                  "no sum of products of the sizes",
                  printable(name_of_node(graph, node)), d, numbers[0], text_at(0), *other,
                  text_at(point)));
        }
        dimensions_.push_back({value, d, *expression});
      }
    }
  }
}

// Whether the recordings have the same nodes, which read the same values.
void DynamicSizes::compare_calls(const std::vector<Recording>& recordings) const {
  const auto is_same = [](const Argument& a, const Argument& b) {
    if (a.value.index() != b.value.index()) return false;
    return std::holds_alternative<Attribute>(a.value) || a.value == b.value;
  };
  const auto is_same_call = [&](const Node& a, const Node& b) {
    return a.target == b.target && a.outputs == b.outputs &&
           std::ranges::equal(a.arguments, b.arguments, is_same);
  };
  const std::vector<Node>& nodes = recordings[0].graph.nodes;
  for (size_t point = 1; point < recordings.size(); ++point) {
    const std::vector<Node>& others = recordings[point].graph.nodes;
    const auto [node, other] = std::ranges::mismatch(nodes, others, is_same_call);
    const bool is_end = node == nodes.end() && other == others.end();
    const bool has_same_shapes =
        is_end && std::ranges::equal(recordings[0].graph.values, recordings[point].graph.values,
                                     [](const Value& a, const Value& b) {
                                       return a.shape.size() == b.shape.size() &&
                                              a.dtype == b.dtype;
                                     });
    if (has_same_shapes && recordings[0].graph.outputs == recordings[point].graph.outputs) continue;
    const auto text = [](const auto& call, const std::vector<Node>& all) {
      return call == all.end() ? std::string("nothing more") : call->target;
    };
    throw ExportError(
        kNotSupported,
        fmt::format("at {} the model makes other calls than at {}: call {} is {} and not {}",
                    text_at(point), text_at(0), node - nodes.begin(), text(other, others),
                    text(node, nodes)));
  }
}

void DynamicSizes::compare_constants(const std::vector<Recording>& recordings) const {
  for (size_t point = 1; point < recordings.size(); ++point) {
    for (const auto& constant : recordings[0].constants) {
      const at::Tensor* other = recordings[point].constants.find(constant.key());
      if (other != nullptr && same_elements(constant.value(), *other)) continue;
      throw ExportError(
          kNotSupported,
          fmt::format("constant '{}' differs between {} and {}: make it from sizes with operators "
                      "that take them, such as torch::arange and torch::full",
                      printable(constant.key()), text_at(0), text_at(point)));
    }
  }
}

void DynamicSizes::compare_attributes(const std::vector<Recording>& recordings, size_t node,
                                      size_t argument, std::vector<const Attribute*> attributes,
                                      std::vector<size_t>& path) {
  const auto* list = attributes[0]->get_if<Attribute::List>();
  const auto has_same_form = [&](const Attribute* other) {
    const auto* items = other->get_if<Attribute::List>();
    return list == nullptr ? items == nullptr : items != nullptr && items->size() == list->size();
  };
  if (list != nullptr && std::ranges::all_of(attributes, has_same_form)) {
    for (size_t i = 0; i < list->size(); ++i) {
      std::vector<const Attribute*> items;
      for (const Attribute* attribute : attributes) {
        items.push_back(&(*attribute->get_if<Attribute::List>())[i]);
      }
      path.push_back(i);
      compare_attributes(recordings, node, argument, std::move(items), path);
      path.pop_back();
    }
    return;
  }
  const auto other = std::ranges::find_if(
      attributes, [&](const Attribute* attribute) { return !(*attribute == *attributes[0]); });
  if (other == attributes.end()) return;
  std::vector<int64_t> numbers;
  for (const Attribute* attribute : attributes) {
    if (const auto* number = attribute->get_if<int64_t>()) numbers.push_back(*number);
  }
  const auto expression =
      numbers.size() == attributes.size() ? fit(numbers) : std::optional<Expression>();
  const Graph& graph = recordings[0].graph;
  const std::string& name = graph.nodes[node].arguments[argument].name;
  if (expression) {
    items_.push_back({node, name, path, *expression});
    return;
  }
  const auto point = static_cast<size_t>(other - attributes.begin());
  throw ExportError(
      kNotSupported,
      fmt::format("node '{}' ({}): argument '{}' is {} at {} and {} at {}, which is no sum of "
                  "products of the sizes",
                  printable(name_of_node(graph, node)), graph.nodes[node].target, printable(name),
                  attribute_text(*attributes[0]), text_at(0), attribute_text(**other),
                  text_at(point)));
}

// At each point, one symbol after the other: what is u where it has its example and v where it has
// its other size is a*symbol + b.
std::optional<DynamicSizes::Expression> DynamicSizes::fit(std::vector<int64_t> numbers) const {
  Expression factors(numbers.begin(), numbers.begin() + num_corners());
  for (size_t i = 0; i < symbols_.size(); ++i) {
    const size_t bit = size_t{1} << i;
    const int64_t example = points_[0][i];
    const int64_t distance = points_[bit][i] - example;
    for (size_t corner = 0; corner < factors.size(); ++corner) {
      if ((corner & bit) != 0) continue;
      const int64_t difference = factors[corner | bit] - factors[corner];
      if (difference % distance != 0) return std::nullopt;
      factors[corner | bit] = difference / distance;
      factors[corner] -= difference / distance * example;
    }
  }
  for (size_t point = 0; point < points_.size(); ++point) {
    if (evaluate(factors, points_[point]) != numbers[point]) return std::nullopt;
  }
  return factors;
}

int64_t DynamicSizes::evaluate(const Expression& factors, const Point& point) const {
  int64_t sum = 0;
  for (size_t term = 0; term < factors.size(); ++term) {
    int64_t product = factors[term];
    for (const size_t symbol : symbols_of(term)) product *= point[symbol];
    sum += product;
  }
  return sum;
}

// The symbols of a term, or those whose size differs in a corner.
std::vector<size_t> DynamicSizes::symbols_of(size_t term) const {
  std::vector<size_t> symbols;
  for (size_t i = 0; i < symbols_.size(); ++i) {
    if ((term >> i & 1) != 0) symbols.push_back(i);
  }
  return symbols;
}

std::string DynamicSizes::text_of(int64_t factor, size_t term) const {
  std::vector<std::string> factors;
  if (factor != 1 || term == 0) factors.push_back(std::to_string(factor));
  for (const size_t symbol : symbols_of(term)) factors.push_back(symbols_[symbol].name);
  return fmt::format("{}", fmt::join(factors, "*"));
}

// The terms with the most symbols come first, the constant last: "2*batch*length + batch + 1".
std::string DynamicSizes::text_of(const Expression& factors) const {
  std::vector<std::string> terms;
  for (size_t term = factors.size(); term-- > 0;) {
    if (factors[term] != 0) terms.push_back(text_of(factors[term], term));
  }
  return fmt::format("{}", fmt::join(terms, " + "));
}

// Makes the numbers that attributes read, each once, in nodes for the begin of the graph.
class DynamicSizes::NumberNodes {
 public:
  NumberNodes(const DynamicSizes& sizes, Graph& graph) : sizes_(sizes), graph_(graph) {
    for (const Value& value : graph.values) names_.insert(value.name);
    for (const Node& node : graph.nodes) names_.insert(node.name);
  }

  ValueRef number(const Expression& factors) {
    std::optional<ValueRef> sum;
    Expression part(factors.size());
    for (size_t term = factors.size(); term-- > 1;) {
      if (factors[term] == 0) continue;
      const ValueRef next = product(factors[term], term);
      part[term] = factors[term];
      sum = sum ? add_node("_operator.add", *sum, next, sizes_.text_of(part)) : next;
    }
    if (factors[0] == 0) return *sum;
    return add_node("_operator.add", *sum, factors[0], sizes_.text_of(factors));
  }

  // Returns the nodes. Call it last.
  std::vector<Node> take_nodes() { return std::move(nodes_); }

 private:
  ValueRef product(int64_t factor, size_t term) {
    std::optional<ValueRef> product;
    size_t part = 0;
    for (const size_t symbol : sizes_.symbols_of(term)) {
      part |= size_t{1} << symbol;
      const ValueRef next = size(symbol);
      product = product ? add_node("_operator.mul", *product, next, sizes_.text_of(1, part)) : next;
    }
    if (factor == 1) return *product;
    return add_node("_operator.mul", *product, factor, sizes_.text_of(factor, term));
  }

  ValueRef size(size_t symbol) {
    const Symbol& known = sizes_.symbols_[symbol];
    const auto [input, dim] = known.places[0];
    return add_node("aten.sym_size.int",
                    {{"self", graph_.user_inputs()[input]}, {"dim", Attribute(dim)}}, known.name);
  }

  ValueRef add_node(const char* target, Attribute a, Attribute b, const std::string& expression) {
    return add_node(target, {{"a", std::move(a)}, {"b", std::move(b)}}, expression);
  }

  ValueRef add_node(const char* target, std::vector<Argument> arguments,
                    const std::string& expression) {
    const auto [known, is_new] = by_expression_.try_emplace(expression);
    if (!is_new) return known->second;
    const bool is_size = std::string_view(target) == "aten.sym_size.int";
    const std::string base = is_size ? "sym_size_int" : std::string(target).substr(10);
    std::string name = base;
    for (int count = 1; !names_.insert(name).second; ++count) {
      name = fmt::format("{}_{}", base, count);
    }
    const ValueId value = graph_.add_value({.shape = {},
                                            .dtype = at::kLong,
                                            .is_scalar = true,
                                            .expression = expression,
                                            .name = name});
    nodes_.push_back({name, target, std::move(arguments), {value}});
    return known->second = ValueRef{name};
  }

  const DynamicSizes& sizes_;
  Graph& graph_;
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, ValueRef> by_expression_;
  std::vector<Node> nodes_;
};

void DynamicSizes::apply(Program& program) const {
  const auto set_size = [&](ValueId id, size_t dimension, const std::string& expression) {
    Value& value = program[id];
    value.shape[dimension] = kDynamicSize;
    value.symbolic_shape.resize(value.shape.size());
    value.symbolic_shape[dimension] = expression;
  };
  const std::vector<ValueId> inputs = program.user_inputs();
  for (const Symbol& symbol : symbols_) {
    for (const auto& [input, dim] : symbol.places) {
      set_size(inputs[input], static_cast<size_t>(dim), symbol.name);
    }
    program.range_constraints.push_back({symbol.name, symbol.min, symbol.max});
  }
  for (const Dimension& size : dimensions_) {
    set_size(size.value, size.dimension, text_of(size.expression));
  }
  NumberNodes numbers(*this, program);
  for (const Item& item : items_) {
    std::vector<Argument>& arguments = program.nodes[item.node].arguments;
    const auto argument = std::ranges::find(arguments, item.argument, &Argument::name);
    if (argument == arguments.end()) {
      throw ExportError(kNotSupported,
                        fmt::format("node '{}': argument '{}' is at its default at {}: take "
                                    "another example",
                                    printable(program.nodes[item.node].name),
                                    printable(item.argument), text_at(0)));
    }
    auto* attribute = &std::get<Attribute>(argument->value);
    *attribute = with_item(*attribute, item.path, numbers.number(item.expression));
  }
  std::vector<Node> nodes = numbers.take_nodes();
  program.nodes.insert(program.nodes.begin(), std::make_move_iterator(nodes.begin()),
                       std::make_move_iterator(nodes.end()));
  set_uses(program);
}

}  // namespace torch_ir
