#include "torch_ir/analysis/supported_operators.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <functional>
#include <set>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/suggestion.h"
#include "torch_ir/ir/binding.h"

namespace torch_ir {
namespace {

// What the Python package calls the choice of one of several outputs; no name like the others.
constexpr std::string_view kGetItem = "<built-in function getitem>";
constexpr std::string_view kAll = ".*";
// What Python calls the namespace of namespaces.
constexpr std::string_view kTorchOps = "torch.ops.";

bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text, is_letter);
}

// How many identifiers with dots between them `text` is; 0 for anything else.
size_t count_parts(std::string_view text) {
  for (size_t count = 1;; ++count) {
    const size_t dot = text.find('.');
    if (!is_identifier(text.substr(0, dot))) return 0;
    if (dot == std::string_view::npos) return count;
    text.remove_prefix(dot + 1);
  }
}

// The name that `text` may be meant as: what C++ and Python call operators.
std::string advice(std::string_view text) {
  std::string_view name = text;
  if (name.starts_with(kTorchOps)) name.remove_prefix(kTorchOps.size());
  const size_t colons = name.find("::");
  const std::string better =
      colons == std::string_view::npos
          ? std::string(name)
          : fmt::format("{}.{}", name.substr(0, colons), name.substr(colons + 2));
  if (better != text && count_parts(better) >= 2) return "write " + better;
  return "write NAMESPACE.NAME.OVERLOAD, such as aten.add.Tensor, or NAMESPACE.NAME for all "
         "overloads";
}

// "aten", "aten.add" and "aten.add.Tensor" for each operator of LibTorch.
std::set<std::string, std::less<>> known_names() {
  std::set<std::string, std::less<>> names;
  for (const c10::OperatorName& operator_name : c10::Dispatcher::singleton().getAllOpNames()) {
    std::string name = op_type_name(operator_name);
    for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
      names.insert(name.substr(0, dot));
    }
    names.insert(std::move(name));
  }
  return names;
}

}  // namespace

SupportedOperators SupportedOperators::parse(std::string_view text, const std::string& path) {
  SupportedOperators list;
  for (size_t line_number = 1; !text.empty(); ++line_number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const bool has_star = line.ends_with(kAll);
    const std::string_view name = has_star ? line.substr(0, line.size() - kAll.size()) : line;
    const size_t num_parts = count_parts(name);
    const bool is_name = num_parts >= (has_star ? 1 : 2) && !name.starts_with(kTorchOps);
    if (!is_name && line != kGetItem) {
      throw Error(fmt::format("{}:{}: '{}' is no operator name; {}", printable(path), line_number,
                              printable(line), advice(line)));
    }
    list.entries_.push_back({std::string(name), line_number});
    if (has_star || num_parts == 2) list.families_.emplace(name);
    if (!has_star) list.operators_.emplace(name);
  }
  return list;
}

SupportedOperators SupportedOperators::load(const std::string& path) {
  return parse(read_file(path), path);
}

bool SupportedOperators::contains(const std::string& op_type) const {
  if (operators_.contains(op_type)) return true;
  for (size_t dot = op_type.find('.'); dot != std::string::npos; dot = op_type.find('.', dot + 1)) {
    if (families_.contains(op_type.substr(0, dot))) return true;
  }
  return false;
}

std::vector<SupportedOperators::Entry> SupportedOperators::unknown() const {
  const auto known = known_names();
  std::vector<Entry> unknown;
  for (const Entry& entry : entries_) {
    const bool has_namespace = known.contains(entry.name.substr(0, entry.name.find('.')));
    if (has_namespace && !known.contains(entry.name)) unknown.push_back(entry);
  }
  return unknown;
}

std::string suggest_operator(const std::string& name) {
  const size_t num_parts = count_parts(name);
  std::vector<std::string> alike;
  for (const std::string& known : known_names()) {
    if (count_parts(known) == num_parts) alike.push_back(known);
  }
  return suggest(name, alike);
}

}  // namespace torch_ir
