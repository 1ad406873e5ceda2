#include <fmt/format.h>

#include <array>
#include <map>

#include "torch_ir/analysis/diff.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

struct KindText {
  ChangeKind kind;
  std::string_view name;
  // Of several.
  std::string_view plural;
};

constexpr std::array kKinds = {
    KindText{ChangeKind::kModelName, "model name changed", "model names changed"},
    KindText{ChangeKind::kPytorchVersion, "PyTorch version changed", "PyTorch versions changed"},
    KindText{ChangeKind::kInputAdded, "input added", "inputs added"},
    KindText{ChangeKind::kInputRemoved, "input removed", "inputs removed"},
    KindText{ChangeKind::kInputChanged, "input changed", "inputs changed"},
    KindText{ChangeKind::kConstantInput, "fixed input changed", "fixed inputs changed"},
    KindText{ChangeKind::kRange, "range changed", "ranges changed"},
    KindText{ChangeKind::kWeightAdded, "weight added", "weights added"},
    KindText{ChangeKind::kWeightRemoved, "weight removed", "weights removed"},
    KindText{ChangeKind::kWeightChanged, "weight changed", "weights changed"},
    KindText{ChangeKind::kWeightMapping, "weight mapped otherwise", "weights mapped otherwise"},
    KindText{ChangeKind::kConstantAdded, "constant added", "constants added"},
    KindText{ChangeKind::kConstantRemoved, "constant removed", "constants removed"},
    KindText{ChangeKind::kConstantChanged, "constant changed", "constants changed"},
    KindText{ChangeKind::kOperatorAdded, "operator added", "operators added"},
    KindText{ChangeKind::kOperatorRemoved, "operator removed", "operators removed"},
    KindText{ChangeKind::kOperatorReplaced, "operator replaced", "operators replaced"},
    KindText{ChangeKind::kOperatorMoved, "operator moved", "operators moved"},
    KindText{ChangeKind::kAttribute, "attribute changed", "attributes changed"},
    KindText{ChangeKind::kOperatorInputs, "operator input changed", "operator inputs changed"},
    KindText{ChangeKind::kShape, "shape or dtype changed", "shapes or dtypes changed"},
    KindText{ChangeKind::kOutputAdded, "output added", "outputs added"},
    KindText{ChangeKind::kOutputRemoved, "output removed", "outputs removed"},
    KindText{ChangeKind::kOutputChanged, "output changed", "outputs changed"},
};
static_assert([] {
  for (size_t i = 0; i < kKinds.size(); ++i) {
    if (kKinds[i].kind != static_cast<ChangeKind>(i)) return false;
  }
  return kKinds.back().kind == ChangeKind::kOutputChanged;
}());

const KindText& text_of(ChangeKind kind) { return kKinds[static_cast<size_t>(kind)]; }

bool is_of_operator(ChangeKind kind) {
  return kind >= ChangeKind::kAttribute && kind <= ChangeKind::kShape;
}

}  // namespace

std::string_view change_kind_name(ChangeKind kind) { return text_of(kind).name; }

std::string change_text(const Change& change) {
  // "conv2d_1 (aten.conv2d.default)"
  std::string subject = printable(change.name);
  if (!change.op_type.empty()) subject += " (" + printable(change.op_type) + ")";
  std::string text = is_of_operator(change.kind)
                         ? subject + ":"
                         : fmt::format("{}: {}", change_kind_name(change.kind), subject);
  if (!change.property.empty()) text += " " + printable(change.property);
  if (text.ends_with(": ")) text.pop_back();
  if (!change.before.empty() && !change.after.empty()) {
    text += fmt::format(" {} -> {}", printable(change.before), printable(change.after));
  } else if (is_of_operator(change.kind)) {
    text += change.after.empty() ? fmt::format(" {} -> nothing", printable(change.before))
                                 : fmt::format(" nothing -> {}", printable(change.after));
  } else if (!change.before.empty() || !change.after.empty()) {
    text += ", " + printable(change.before.empty() ? change.after : change.before);
  }
  return change.graph.empty() ? text : fmt::format("in {}: {}", printable(change.graph), text);
}

std::string summary_text(const GraphDiff& diff) {
  std::map<ChangeKind, size_t> counts;
  for (const Change& change : diff.changes) ++counts[change.kind];
  std::string text;
  for (const auto& [kind, count] : counts) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", count, count == 1 ? text_of(kind).name : text_of(kind).plural);
  }
  if (text.empty()) text = "no difference";
  if (!diff.renames.empty()) {
    text += fmt::format("; {} {} renamed", diff.renames.size(),
                        diff.renames.size() == 1 ? "node" : "nodes");
  }
  return text;
}

}  // namespace torch_ir
