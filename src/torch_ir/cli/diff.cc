// torch-ir diff: shows what changed between two graphs.

#include "torch_ir/analysis/diff.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>

#include "torch_ir/cli/command.h"
#include "torch_ir/cli/options.h"

namespace torch_ir {
namespace {

struct DiffArguments {
  std::string old;
  std::string now;
  std::string program;
  bool json = false;
  bool all = false;
};

using Json = nlohmann::ordered_json;

Json to_json(const Change& change) {
  return {{"kind", change_kind_name(change.kind)},
          {"graph", change.graph},
          {"name", change.name},
          {"op_type", change.op_type},
          {"property", change.property},
          {"before", change.before},
          {"after", change.after},
          {"text", change_text(change)}};
}

Json to_json(const GraphDiff& diff) {
  Json json = {{"equal", diff.is_equal()},
               {"summary", summary_text(diff)},
               {"changes", Json::array()},
               {"renamed", Json::array()},
               {"modules", Json::array()}};
  for (const Change& change : diff.changes) json["changes"].push_back(to_json(change));
  for (const Change& rename : diff.renames) {
    const bool is_module = rename.kind == ChangeKind::kModulePath;
    json[is_module ? "modules" : "renamed"].push_back(to_json(rename));
  }
  return json;
}

void print(const GraphDiff& diff, bool all, std::ostream& out) {
  for (const Change& change : diff.changes) out << change_text(change) << '\n';
  for (const Change& rename : diff.renames) {
    if (all) out << change_text(rename) << '\n';
  }
  out << summary_text(diff) << '\n';
}

int run_diff(const DiffArguments& arguments, Console& console) {
  const bool has_values = is_pt2_archive(arguments.old) && is_pt2_archive(arguments.now);
  const WeightBytes bytes = has_values ? WeightBytes::kChecked : WeightBytes::kUnread;
  const auto load = [&](const std::string& path) {
    return load_graph_file(path, arguments.program, bytes, &console);
  };
  const GraphFile old = load(arguments.old);
  const GraphFile now = load(arguments.now);
  GraphDiff changes = diff(*old.content.program, *now.content.program);
  if (has_values) diff_weights(changes, old.content.weights, now.content.weights);
  if (arguments.json) {
    // Names may not be UTF-8.
    console.out() << to_json(changes).dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  } else {
    print(changes, arguments.all, console.talk());
  }
  return changes.is_equal() ? kDone : kDifferent;
}

void declare_diff(CLI::App& parser, DiffArguments& arguments) {
  add_argument(parser, "OLD", arguments.old, "The old graph: IR JSON, or an archive (.pt2)");
  add_argument(parser, "NEW", arguments.now, "The new graph");
  add_program_option(parser, arguments.program);
  parser.add_flag("--all", arguments.all,
                  "Also list nodes where only the name or the module path differs");
  parser.add_flag("--json", arguments.json, "Print JSON");
}

}  // namespace

Command diff_command() {
  return {.name = "diff",
          .summary = "Show what changed between two graphs, and in the weights of two archives",
          .examples =
              "  torch-ir diff before.json after.json\n"
              "  torch-ir diff exported.pt2 model.json --json\n",
          .declare = with_arguments(declare_diff, run_diff)};
}

}  // namespace torch_ir
