#include "torch_ir/ir/binding.h"

#include <ATen/core/jit_type.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/builtin_operators.h"

namespace torch_ir {
namespace {

constexpr std::string_view kListSizes = "_tensor_list_sizes";
constexpr std::string_view kListNoneMasks = "_tensor_list_none_masks";

constinit DefineOperators define_operators = nullptr;

enum class ArgumentKind { kTensor, kTensorList, kOther };

struct ArgumentType {
  ArgumentKind kind;
  bool is_optional;
  bool holds_none;
};

ArgumentType classify(const c10::Argument& argument) {
  c10::TypePtr type = argument.type();
  bool is_optional = false;
  if (const auto optional = type->cast<c10::OptionalType>()) {
    is_optional = true;
    type = optional->getElementType();
  }
  if (type->kind() == c10::TypeKind::TensorType) {
    return {ArgumentKind::kTensor, is_optional, false};
  }
  if (const auto list = type->cast<c10::ListType>()) {
    c10::TypePtr element = list->getElementType();
    const auto optional = element->cast<c10::OptionalType>();
    if (optional != nullptr) element = optional->getElementType();
    if (element->kind() == c10::TypeKind::TensorType) {
      return {ArgumentKind::kTensorList, is_optional, optional != nullptr};
    }
  }
  return {ArgumentKind::kOther, is_optional, false};
}

}  // namespace

class OperatorBinder::Binder {
 public:
  explicit Binder(const c10::FunctionSchema& schema) : schema_(schema) {
    for (const c10::Argument& argument : schema.arguments()) {
      const ArgumentType type = classify(argument);
      parameters_.push_back({argument, type, type.is_optional || argument.default_value()});
    }
  }

  std::vector<Argument> bind(const OpNode& node, const std::vector<ValueId>& inputs) {
    start(node, inputs);
    choose_optional_arguments();
    std::vector<Argument> arguments;
    for (const Parameter& parameter : parameters_) {
      if (auto value = bind(parameter)) arguments.emplace_back(parameter.name(), std::move(*value));
    }
    check_nothing_is_left();
    return arguments;
  }

 private:
  struct Parameter {
    const c10::Argument& argument;
    ArgumentType type;
    bool may_be_absent;

    const std::string& name() const { return argument.name(); }
    bool is(ArgumentKind kind) const { return type.kind == kind; }
  };
  using Parameters = std::vector<const Parameter*>;

  void start(const OpNode& node, const std::vector<ValueId>& inputs) {
    node_ = &node;
    inputs_ = inputs;
    positional_.clear();
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i].arg.empty()) positional_.push_back(i);
    }
    given_.clear();
    next_positional_ = next_list_ = next_mask_ = num_named_used_ = num_attributes_used_ = 0;
    counts_.clear();
    for (const Attribute& item : list_attribute(kListSizes, "counts")) {
      const auto* count = item.get_if<int64_t>();
      if (count == nullptr || *count < 0) fail_list(kListSizes, "counts");
      counts_.push_back(static_cast<size_t>(*count));
    }
    masks_ = list_attribute(kListNoneMasks, "masks");
  }

  [[noreturn]] void fail_list(std::string_view name, const char* what) const {
    fail("attribute '" + std::string(name) + "' must be a list of " + what);
  }

  // The items of an attribute that must be a list of `what`; empty if it is absent.
  std::span<const Attribute> list_attribute(std::string_view name, const char* what) const {
    const Attribute* attribute = node_->attrs.find(name);
    if (attribute == nullptr) return {};
    const auto* list = attribute->get_if<Attribute::List>();
    if (list == nullptr) fail_list(name, what);
    return *list;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw ValidationError("node '" + printable(node_->name) + "' (" + printable(node_->op_type) +
                          "): " + what);
  }

  Parameters open_arguments() const {
    Parameters open;
    for (const Parameter& parameter : parameters_) {
      const bool is_candidate = parameter.is(ArgumentKind::kTensor) && parameter.may_be_absent &&
                                !is_given_by_name(parameter.name());
      if (is_candidate) open.push_back(&parameter);
    }
    return open;
  }

  bool is_given_by_name(const std::string& name) const {
    return node_->attrs.find(name) != nullptr ||
           std::ranges::find(node_->inputs, name, &TensorMeta::arg) != node_->inputs.end();
  }

  // The number of positional inputs that required arguments take.
  size_t num_inputs_of_others() const {
    size_t count = 0;
    size_t num_named_in_lists = 0;
    for (const Parameter& parameter : parameters_) {
      count += parameter.is(ArgumentKind::kTensor) && !parameter.may_be_absent &&
               !is_given_by_name(parameter.name());
      if (!parameter.is(ArgumentKind::kTensorList)) continue;
      num_named_in_lists += static_cast<size_t>(
          std::ranges::count(node_->inputs, parameter.name(), &TensorMeta::arg));
    }
    count = std::accumulate(counts_.begin(), counts_.end(), count);
    return count - std::min(count, num_named_in_lists);
  }

  // Decides which optional tensors the positional inputs are: all or none is unambiguous, otherwise
  // the names of the inputs decide.
  void choose_optional_arguments() {
    const Parameters open = open_arguments();
    if (open.empty()) return;
    const size_t num_others = num_inputs_of_others();
    const size_t num_given = positional_.size() - std::min(positional_.size(), num_others);
    if (num_given >= open.size()) {
      given_.assign(open.begin(), open.end());
      return;
    }
    if (num_given == 0) return;
    std::vector<bool> is_chosen(open.size(), false);
    std::fill_n(is_chosen.begin(), num_given, true);
    size_t num_choices = 0;
    do {
      Parameters chosen;
      for (size_t i = 0; i < open.size(); ++i) {
        if (is_chosen[i]) chosen.push_back(open[i]);
      }
      if (!agrees_with_names(chosen, open)) continue;
      if (num_choices++ == 0) given_ = std::move(chosen);
    } while (std::prev_permutation(is_chosen.begin(), is_chosen.end()));
    if (num_choices != 1) fail_for_open_arguments(open, num_given);
  }

  // Whether each weight bound to an argument of `open` is bound to the one it is named after.
  bool agrees_with_names(const Parameters& chosen, const Parameters& open) const {
    size_t position = 0;
    size_t list = 0;
    for (const Parameter& parameter : parameters_) {
      if (is_given_by_name(parameter.name())) continue;
      if (parameter.is(ArgumentKind::kTensorList) && list < counts_.size()) {
        position += counts_[list++];
      }
      if (!parameter.is(ArgumentKind::kTensor)) continue;
      const bool is_chosen = std::ranges::find(chosen, &parameter) != chosen.end();
      if (parameter.may_be_absent && !is_chosen) continue;
      if (position >= positional_.size()) return false;
      const TensorMeta& input = node_->inputs[positional_[position++]];
      if (!is_chosen || input.producer_node) continue;
      const auto is_named_after = [&](const Parameter* other) {
        return input.name.ends_with("_" + other->name());
      };
      if (std::ranges::any_of(open, is_named_after) && !is_named_after(&parameter)) return false;
    }
    return true;
  }

  [[noreturn]] void fail_for_open_arguments(const Parameters& open, size_t num_given) const {
    std::string names;
    for (const Parameter* argument : open) {
      if (!names.empty()) names += argument == open.back() ? " and " : ", ";
      names += "'" + argument->name() + "'";
    }
    fail("ambiguous inputs: of the optional arguments " + names + " only " +
         std::to_string(num_given) + (num_given == 1 ? " is" : " are") +
         " given; name the argument of each input with the key \"arg\"");
  }

  // Empty for an absent argument.
  std::optional<ArgumentValue> bind(const Parameter& parameter) {
    if (const Attribute* attribute = node_->attrs.find(parameter.name())) {
      ++num_attributes_used_;
      return *attribute;
    }
    if (parameter.is(ArgumentKind::kTensor)) return bind_tensor(parameter);
    if (parameter.is(ArgumentKind::kTensorList)) return bind_list(parameter);
    return absent(parameter);
  }

  std::optional<ArgumentValue> absent(const Parameter& parameter) const {
    if (parameter.may_be_absent) return std::nullopt;
    fail("missing argument '" + parameter.name() + "'");
  }

  std::optional<ArgumentValue> bind_tensor(const Parameter& parameter) {
    if (const auto named = take_named(parameter.name(), 1); !named.empty()) return named.front();
    const bool is_absent =
        parameter.may_be_absent && std::ranges::find(given_, &parameter) == given_.end();
    if (is_absent || next_positional_ == positional_.size()) return absent(parameter);
    return take_positional();
  }

  std::optional<ArgumentValue> bind_list(const Parameter& parameter) {
    if (next_list_ == counts_.size()) return absent(parameter);
    const size_t count = counts_[next_list_++];
    std::vector<ValueId> taken = take_named(parameter.name(), count);
    while (taken.size() < count) {
      if (next_positional_ == positional_.size()) {
        fail("argument '" + parameter.name() + "' is a list of " + std::to_string(count) +
             " tensors, but only " + std::to_string(taken.size()) +
             (taken.size() == 1 ? " input is left" : " inputs are left"));
      }
      taken.push_back(take_positional());
    }
    return spread(parameter, taken);
  }

  ValueId take_positional() { return inputs_[positional_[next_positional_++]]; }

  std::vector<ValueId> take_named(const std::string& name, size_t limit) {
    std::vector<ValueId> taken;
    if (positional_.size() == node_->inputs.size()) return taken;
    for (size_t i = 0; i < node_->inputs.size() && taken.size() < limit; ++i) {
      if (node_->inputs[i].arg == name) taken.push_back(inputs_[i]);
    }
    num_named_used_ += taken.size();
    return taken;
  }

  ValueList spread(const Parameter& parameter, const std::vector<ValueId>& inputs) {
    const bool has_mask = parameter.type.holds_none && next_mask_ < masks_.size();
    if (!has_mask) return {inputs.begin(), inputs.end()};
    const auto* mask = masks_[next_mask_++].get_if<Attribute::List>();
    if (mask == nullptr) fail_list(kListNoneMasks, "masks");
    ValueList spread;
    size_t num_placed = 0;
    for (const Attribute& item : *mask) {
      const bool* is_none = item.get_if<bool>();
      if (is_none == nullptr) {
        fail("attribute '_tensor_list_none_masks' must be a list of lists of booleans");
      }
      if (*is_none) {
        spread.emplace_back(std::nullopt);
      } else if (num_placed++ < inputs.size()) {
        spread.emplace_back(inputs[num_placed - 1]);
      }
    }
    if (num_placed != inputs.size()) {
      fail("the mask of argument '" + parameter.name() +
           "' in '_tensor_list_none_masks' has room " + "for " + std::to_string(num_placed) +
           " tensors, not " + std::to_string(inputs.size()));
    }
    return spread;
  }

  void check_nothing_is_left() const {
    if (next_positional_ < positional_.size()) {
      fail("unexpected input '" + printable(node_->inputs[positional_[next_positional_]].name) +
           "': the operator takes no more tensors");
    }
    if (num_named_used_ + positional_.size() < node_->inputs.size()) fail(unknown_named_input());
    if (next_list_ < counts_.size()) {
      fail("'_tensor_list_sizes' has more counts than the operator has lists of tensors");
    }
    if (next_mask_ < masks_.size()) {
      fail("'_tensor_list_none_masks' has more masks than the operator has lists that hold None");
    }
    const size_t num_list_attributes =
        (node_->attrs.find(kListSizes) != nullptr) + (node_->attrs.find(kListNoneMasks) != nullptr);
    if (num_attributes_used_ + num_list_attributes < node_->attrs.size()) {
      fail(unknown_attribute());
    }
  }

  std::string unknown_named_input() const {
    for (const TensorMeta& input : node_->inputs) {
      if (!input.arg.empty() && !schema_.argumentIndexWithName(input.arg)) {
        return "input '" + printable(input.name) + "' names the argument '" + printable(input.arg) +
               "', which the operator does not have";
      }
    }
    return "two inputs name the same argument";
  }

  std::string unknown_attribute() const {
    for (const auto& [name, value] : node_->attrs) {
      const bool is_known = name == kListSizes || name == kListNoneMasks ||
                            schema_.argumentIndexWithName(name).has_value();
      if (!is_known) {
        return "unexpected attribute '" + printable(name) + "': the operator has no such argument";
      }
    }
    return "duplicate attribute";
  }

  const c10::FunctionSchema& schema_;
  std::vector<Parameter> parameters_;
  const OpNode* node_ = nullptr;
  std::span<const ValueId> inputs_;
  std::vector<size_t> positional_;
  // The lengths of its tensor lists, and the masks of their None items.
  std::vector<size_t> counts_;
  std::span<const Attribute> masks_;
  Parameters given_;
  size_t next_positional_ = 0;
  size_t next_list_ = 0;
  size_t next_mask_ = 0;
  size_t num_named_used_ = 0;
  size_t num_attributes_used_ = 0;
};

std::string op_type_name(const c10::OperatorName& name) {
  std::string text = name.name;
  if (const size_t colons = text.find("::"); colons != std::string::npos) {
    text.replace(colons, 2, ".");
  }
  return text + '.' + (name.overload_name.empty() ? "default" : name.overload_name);
}

std::optional<c10::OperatorName> parse_op_type(std::string_view op_type) {
  const size_t first = op_type.find('.');
  const size_t last = op_type.rfind('.');
  const bool has_three_parts =
      first != std::string_view::npos && first > 0 && last > first + 1 && last + 1 < op_type.size();
  if (!has_three_parts) return std::nullopt;
  const std::string_view overload = op_type.substr(last + 1);
  return c10::OperatorName(std::string(op_type.substr(0, first)) +
                               "::" + std::string(op_type.substr(first + 1, last - first - 1)),
                           overload == "default" ? std::string() : std::string(overload));
}

void set_operator_definitions(DefineOperators define) { define_operators = define; }

std::optional<c10::OperatorHandle> find_operator(std::string_view op_type) {
  const auto name = parse_op_type(op_type);
  if (!name) return std::nullopt;
  if (define_operators != nullptr) define_operators(name->name);
  return c10::Dispatcher::singleton().findSchema(*name);
}

std::string_view advice_about_unknown(std::string_view op_type) {
  constexpr std::string_view kOnlyInPython =
      "only Python defines it, so export the model without it";
  constexpr std::string_view kDecompose =
      "ExportedProgram.run_decompositions() before torch.export.save may replace it";
  constexpr std::string_view kSaveBefore =
      "ExportedProgram.run_decompositions() makes it of an operator that writes to its arguments, "
      "so save the program before";
  constexpr std::string_view kGeneric =
      "with combine_mode='generic', ExportedProgram.run_decompositions() replaces it";
  constexpr std::pair<std::string_view, std::string_view> kAdvice[] = {
      {"higher_order.auto_functionalized", kSaveBefore},
      {"higher_order.associative_scan", kGeneric},
      {"debugprims.", kOnlyInPython},
      {"inductor_prims.", kOnlyInPython},
      {"prims.", kOnlyInPython},
      {"quantized_decomposed.", kOnlyInPython},
      {"rngprims.", kOnlyInPython},
      {"higher_order.", kDecompose},
      {"torch.", kDecompose},
  };
  for (const auto& [prefix, advice] : kAdvice) {
    if (op_type.starts_with(prefix)) return advice;
  }
  return "load the library that defines it (--load-library)";
}

const c10::FunctionSchema* find_schema(std::string_view op_type) {
  if (const c10::FunctionSchema* schema = find_builtin_schema(op_type)) return schema;
  const auto op = find_operator(op_type);
  return op ? &op->schema() : nullptr;
}

OperatorBinder::OperatorBinder(const c10::FunctionSchema& schema)
    : binder_(std::make_shared<Binder>(schema)) {}

std::vector<Argument> OperatorBinder::bind(const OpNode& node, const std::vector<ValueId>& inputs) {
  return binder_->bind(node, inputs);
}

void encode_arguments(const c10::FunctionSchema& schema, const GivenArguments& arguments,
                      const InputOf& input_of, OpNode& node) {
  AttributeMap attributes;
  Attribute::List sizes;
  Attribute::List masks;
  // The inputs that are optional tensors. If others are absent, positions are ambiguous.
  std::vector<std::pair<size_t, const c10::Argument*>> optional_inputs;
  size_t num_absent = 0;
  const auto add_list = [&](const ValueList& list) {
    Attribute::List mask;
    int64_t count = 0;
    for (const auto& item : list) {
      mask.emplace_back(!item.has_value());
      if (!item) continue;
      node.inputs.push_back(input_of(*item));
      ++count;
    }
    sizes.emplace_back(count);
    if (count < std::ssize(list)) masks.emplace_back(std::move(mask));
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    const std::optional<ArgumentValue>& given = arguments[i];
    const auto* attribute = given ? std::get_if<Attribute>(&*given) : nullptr;
    const ArgumentType type = classify(argument);
    // None for an optional tensor is the same as leaving it out.
    const bool is_none =
        attribute != nullptr && attribute->is_none() && type.kind != ArgumentKind::kOther;
    if (!given || is_none) {
      num_absent += type.kind == ArgumentKind::kTensor;
    } else if (attribute != nullptr) {
      attributes.set(argument.name(), *attribute);
    } else if (const auto* list = std::get_if<ValueList>(&*given)) {
      add_list(*list);
    } else {
      if (type.kind == ArgumentKind::kTensor && type.is_optional) {
        optional_inputs.emplace_back(node.inputs.size(), &argument);
      }
      node.inputs.push_back(input_of(std::get<ValueId>(*given)));
    }
  }
  if (num_absent > 0) {
    for (const auto& [input, argument] : optional_inputs) node.inputs[input].arg = argument->name();
  }
  if (sizes.empty()) {
    node.attrs = std::move(attributes);
    return;
  }
  // List attributes come first, as the Python package writes them.
  node.attrs.set(kListSizes, Attribute(std::move(sizes)));
  if (!masks.empty()) node.attrs.set(kListNoneMasks, Attribute(std::move(masks)));
  for (const auto& [name, value] : attributes) node.attrs.set(name, value);
}

}  // namespace torch_ir
