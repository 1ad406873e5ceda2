#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "harness/harness.h"
#include "harness/report/graph_picture.h"
#include "harness/report/pages.h"
#include "harness/results/results_file.h"
#include "harness/select_candidates.h"
#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

// index.html with the models of both runs, of which two graphs can be seen in step.
std::string compared_index(const RunRecord& before, const RunFolder& old, const RunRecord& after,
                           const RunFolder& now, const BaselineComparison& comparison) {
  const std::string of_old = fmt::format(" ({})", old.name);
  RunRecord both = after;
  for (const Result& result : before.results) {
    both.results.push_back(result);
    both.results.back().name += of_old;
  }
  const auto picture_of = [&](const Result& result) -> GraphPicture {
    Result drawn = result;
    const bool is_old = drawn.name.ends_with(of_old);
    if (is_old) drawn.name.resize(drawn.name.size() - of_old.size());
    const std::string graph =
        fmt::format("{}/ir/{}.json", is_old ? old.path : now.path, drawn.name);
    return draw_saved_graph(std::move(drawn), graph);
  };
  std::string text;
  write_index(
      both, &comparison, picture_of, [&](std::string_view piece) { text += piece; },
      /*has_pages=*/false);
  return text;
}

}  // namespace

BaselineComparison compare_reports(const RunFolder& old, const RunFolder& now,
                                   const ToleranceRule& rule, const std::string& output) {
  namespace fs = std::filesystem;
  const auto results_in = [](const RunFolder& run) {
    return fs::is_directory(run.path) ? run.path + "/results.json" : run.path;
  };
  const auto folder_of = [&](const RunFolder& run) -> RunFolder {
    return {fs::absolute(results_in(run)).parent_path().string(), run.name};
  };
  const RunFolder old_folder = folder_of(old);
  const RunFolder new_folder = folder_of(now);
  const RunRecord before = read_run_record(results_in(old));
  RunRecord after = read_run_record(results_in(now));
  for (const RunFolder* run : {&old, &now}) {
    if (output.empty() || parts_below(folder_of(*run).path, output).front() == "..") continue;
    throw Error(fmt::format("--output: '{}' is in '{}', which is compared; choose another folder",
                            printable(output), printable(run->path)));
  }
  after.context.baseline = typed_path(old.path);
  after.context.output = typed_path(now.path);
  const bool same_values = before.context.settings.seed == after.context.settings.seed;
  NodeChangesOf nodes;
  for (const Result& result : after.results) {
    const auto was = std::ranges::find(before.results, result.name, &Result::name);
    if (was == before.results.end()) continue;
    NodeChanges& changes = nodes[result.name];
    changes = node_changes(*was, old_folder, result, new_folder, rule);
    if (!same_values) {
      changes = {.graph = std::move(changes.graph), .problem = std::move(changes.problem)};
    }
  }
  BaselineComparison comparison = compare_with_baseline(before, after, std::move(nodes));
  if (std::ranges::any_of(comparison.nodes,
                          [](const auto& of) { return of.second.num_compared > 0; })) {
    comparison.notes.push_back(
        "tolerance of values: " +
        (rule.by_dtype ? "that of their dtype, as in assert_close" : tolerance_text(rule.fixed)));
  }
  if (output.empty()) return comparison;
  std::error_code ignored;
  fs::create_directories(output, ignored);
  write_file(output + "/COMPARE.md",
             render_comparison(before, after, comparison, {old.name, now.name}));
  write_file(output + "/index.html",
             compared_index(before, old_folder, after, new_folder, comparison));
  return comparison;
}

}  // namespace torch_ir
