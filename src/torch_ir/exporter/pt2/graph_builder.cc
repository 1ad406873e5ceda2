#include "torch_ir/exporter/pt2/graph_builder.h"

#include <fmt/format.h>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

// A number is what no operator changes.
constexpr const char* kIdentityOfNumbers = "_operator.pos";

c10::ScalarType dtype_of_number(const Attribute& value) {
  if (value.get_if<bool>() != nullptr) return c10::ScalarType::Bool;
  if (value.get_if<double>() != nullptr) return c10::ScalarType::Double;
  if (value.get_if<int64_t>() != nullptr) return c10::ScalarType::Long;
  throw ExportError(
      kNotSupported,
      "a control flow operator is given a value that is neither a tensor nor a number");
}

}  // namespace

std::string GraphBuilder::new_name(const std::string& wanted) {
  if (taken_.insert(wanted).second) return wanted;
  int& number = next_number_[wanted];
  for (;;) {
    std::string name = fmt::format("{}_{}", wanted, ++number);
    if (taken_.insert(name).second) return name;
  }
}

ValueId GraphBuilder::add_input(InputKind kind, ExportedValue value, const std::string& target) {
  producers_.insert(value.name);
  const ValueId id = define(std::move(value));
  graph_.inputs.push_back({kind, id, target});
  return id;
}

std::vector<ValueId> GraphBuilder::add_node(ExportedNode node, std::vector<ExportedValue> outputs) {
  for (ExportedValue& output : outputs) node.outputs.push_back(define(std::move(output)));
  if (!producers_.insert(node.name).second) {
    throw ExportError(
        fmt::format("there are two nodes or inputs called '{}'", printable(node.name)));
  }
  node.origin = origin_;
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back().outputs;
}

ValueId GraphBuilder::add_value(const std::string& target, std::vector<ExportedArgument> arguments,
                                ExportedValue output) {
  return add_node({output.name, target, std::move(arguments)}, {output})[0];
}

ValueId GraphBuilder::add_number(const std::string& wanted, const Attribute& value) {
  return add_value(
      kIdentityOfNumbers, {{"a", value}},
      {.shape = {}, .dtype = dtype_of_number(value), .is_scalar = true, .name = new_name(wanted)});
}

void GraphBuilder::add_output(const Attribute& value) {
  const size_t index = graph_.outputs.size() + graph_.constant_outputs.size();
  graph_.constant_outputs.push_back({static_cast<int64_t>(index), value});
}

std::optional<ValueId> GraphBuilder::find(const std::string& name) const {
  const auto value = values_.find(name);
  return value == values_.end() ? std::nullopt : std::optional(value->second);
}

ValueId GraphBuilder::define(ExportedValue value) {
  taken_.insert(value.name);
  if (values_.contains(value.name)) {
    throw ExportError(fmt::format("there are two values called '{}'", printable(value.name)));
  }
  const std::string name = value.name;
  return values_[name] = graph_.add_value(std::move(value));
}

}  // namespace torch_ir
