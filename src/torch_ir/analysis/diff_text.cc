#include <fmt/format.h>

#include <iterator>
#include <map>
#include <string_view>

#include "torch_ir/analysis/diff.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

// By kind; '#' becomes an s in the plural.
constexpr std::string_view kKindNames[] = {
    "model name# changed",  "PyTorch version# changed", "input# added",
    "input# removed",       "input# changed",           "fixed input# changed",
    "range# changed",       "guard# changed",           "weight# added",
    "weight# removed",      "weight# changed",          "weight mapping# changed",
    "constant# added",      "constant# removed",        "constant# changed",
    "operator# added",      "operator# removed",        "operator# replaced",
    "operator# moved",      "operator# renamed",        "attribute# changed",
    "module path# changed", "operator input# changed",  "shape# or dtype# changed",
    "output# added",        "output# removed",          "output# changed",
};
static_assert(std::size(kKindNames) == static_cast<size_t>(ChangeKind::kOutputChanged) + 1);

// "2 operators added, 1 attribute changed"
std::string counts_text(const std::vector<Change>& changes) {
  std::map<ChangeKind, size_t> counts;
  for (const Change& change : changes) ++counts[change.kind];
  std::string text;
  for (const auto& [kind, count] : counts) {
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", count, change_kind_name(kind, count != 1));
  }
  return text;
}

}  // namespace

std::string change_kind_name(ChangeKind kind, bool is_plural) {
  std::string name;
  for (const char c : kKindNames[static_cast<size_t>(kind)]) {
    name += c != '#' ? std::string(1, c) : is_plural ? "s" : "";
  }
  return name;
}

std::string change_text(const Change& change) {
  const std::string kind = change_kind_name(change.kind);
  const bool is_of_operator =
      change.kind >= ChangeKind::kAttribute && change.kind <= ChangeKind::kShape;
  // Whether the kind already says that there was nothing before, or is nothing after.
  const bool is_one_sided = kind.ends_with(" added") || kind.ends_with(" removed");
  std::string heading = printable(change.name);
  if (!change.op_type.empty()) heading += " (" + printable(change.op_type) + ")";
  std::string text = is_of_operator ? heading + ":" : fmt::format("{}: {}", kind, heading);
  if (!change.property.empty()) text += " " + printable(change.property);
  if (text.ends_with(": ")) text.pop_back();
  if (!change.before.empty() && !change.after.empty()) {
    text += fmt::format(" {} -> {}", printable(change.before), printable(change.after));
  } else if (!is_one_sided) {
    text += change.after.empty() ? fmt::format(" {} -> nothing", printable(change.before))
                                 : fmt::format(" nothing -> {}", printable(change.after));
  } else if (!change.before.empty() || !change.after.empty()) {
    text += ", " + printable(change.before.empty() ? change.after : change.before);
  }
  return change.graph.empty() ? text : fmt::format("in {}: {}", printable(change.graph), text);
}

std::string summary_text(const GraphDiff& diff) {
  const std::string text = diff.changes.empty() ? "no difference" : counts_text(diff.changes);
  return diff.renames.empty() ? text : text + "; " + counts_text(diff.renames);
}

}  // namespace torch_ir
