#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "harness/report/finding.h"
#include "harness/report/markup.h"
#include "harness/report/page_text.h"
#include "harness/report/pages.h"
#include "harness/report/run_text.h"
#include "harness/results/result.h"
#include "harness/results/result_fields.h"
#include "harness/results/run_context.h"
#include "templates/templates.h"
#include "torch_ir/analysis/summary.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

using json_fields::Json;
using json_fields::write;

// JSON for a script element, in which '<' could begin a tag or a comment.
std::string in_script(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) c == '<' ? safe += "\\u003c" : safe += c;
  return safe;
}

std::string script_json(const Json& json) {
  return in_script(json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace));
}

std::string reason(const Result& result) {
  if (result.status() == Status::kExpectedFailure) return result.expected_failure->reason;
  const Status status = result.status();
  if (status == Status::kNotHeld) return result.reason();
  if (result.failure) return finding_of(result).text();
  if (result.expected_failure) return "expected to fail: " + result.expected_failure->reason;
  return result.unsupported ? *result.unsupported : host_text(result);
}

std::string description(const Result& result) {
  if (!result.origin) return result.description;
  if (!result.origin->graph.empty()) return "The graph of " + short_name_of(*result.origin) + ".";
  return "Imported from " + short_name_of(*result.origin) + ".";
}

Json values_json(const std::vector<TensorMeta>& values) {
  Json json = Json::array();
  for (const TensorMeta& value : values) {
    json.push_back({{"name", value.name}, {"shape", shape_text(value)}, {"dtype", value.dtype}});
  }
  return json;
}

Json graph_json(const IRSummary& graph) {
  Json operators = Json::array();
  for (const auto& [name, count] : graph.op_distribution) operators.push_back({name, count});
  return {{"inputs", values_json(graph.inputs)},
          {"outputs", values_json(graph.outputs)},
          {"operators", operators}};
}

// What the page says of a model beyond its result in results.json.
Json words_of(const Result& result, const RunRecord& run, const std::string& picture_problem) {
  Coverage coverage = coverage_of(result);
  coverage.is_split = run.coverage.is_split;
  Json json = {{"reason", reason(result)},
               {"description", description(result)},
               {"command", reproduce_command(coverage, run.context)},
               {"picture_problem", picture_problem}};
  if (const auto summary = result.graph_summary()) json["graph"] = graph_json(summary->figures);
  if (result.nodes) {
    json["nodes"] = nodes_summary(*result.nodes, std::identity());
    json["note"] = as_sentence(result.nodes->note);
  }
  if (result.reproducer) {
    json["hint"] = reproducer_hint(result.name, run.context, std::identity());
  }
  return json;
}

void put_models(const RunRecord& run, const PictureOf& picture_of, const PutText& put) {
  size_t room = kMaxIndexGraphs;
  size_t i = 0;
  for (const Result& result : run.results) {
    GraphPicture picture;
    const bool has_graph = result.graph_summary().has_value();
    if (has_graph && room > 0) picture = picture_of(result);
    const std::string data = in_script(picture.data);
    if (data.size() > room) room = 0;
    if (!data.empty() && data.size() <= std::min(kMaxIndexGraph, room)) {
      put(fmt::format("<script type=\"application/json\" id=\"graph-{}\">{}</script>\n", i, data));
      room -= data.size();
    } else if (has_graph && picture.problem.empty()) {
      picture.problem = "it is too large for this page";
    }
    put(fmt::format("<script type=\"application/json\" id=\"words-{}\">{}</script>\n", i++,
                    script_json(words_of(result, run, picture.problem))));
  }
}

std::string plain_names(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

Json environment_json(const RunRecord& run) {
  const RunSettings& settings = run.context.settings;
  const bool is_plan = runs_plans(settings);
  Json json = Json::array();
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) json.push_back({name, value});
  };
  add("Graphs run on", is_plan ? "an execution plan, " + optimization_name(settings.optimization)
                       : settings.executor.empty() ? "the backend " + settings.backend
                                                   : settings.executor);
  if (is_plan) add("Device", settings.device.str());
  add("Threads", std::to_string(settings.threads));
  add("Seed", std::to_string(settings.seed));
  add("Trials", std::to_string(num_trials(run.results, settings)));
  add("Tolerance", tolerance_rule_text(settings));
  for (const auto& [name, value] : run.context.environment) add(environment_name(name), value);
  return json;
}

Json changes_json(const BaselineComparison& comparison, const std::string& baseline) {
  Json rows = Json::array();
  for (const ModelChange& change : comparison.models) {
    rows.push_back({{"model", change.model},
                    {"trend", trend_name(change.trend)},
                    {"changes", write(change_lines(change))}});
  }
  return {{"baseline", baseline}, {"notes", write(baseline_notes(comparison))}, {"rows", rows}};
}

// What the page says of the run beyond results.json.
Json words_of(const RunRecord& run, const BaselineComparison* baseline, bool has_pages) {
  Json bins = Json::array();
  for (size_t bin = 0; bin < kHistogramBins; ++bin) bins.push_back(histogram_bin_name(bin));
  return {
      {"stages", write(kStages)},
      {"has_pages", has_pages},
      {"bins", bins},
      {"environment", environment_json(run)},
      {"changes", baseline == nullptr ? Json() : changes_json(*baseline, run.context.baseline)}};
}

// Mark where results and models go in the page, which has no control characters but newlines.
constexpr std::string_view kResultsMark = "\x01";
constexpr std::string_view kModelsMark = "\x02";

}  // namespace

void write_index(const RunRecord& run, const BaselineComparison* baseline,
                 const PictureOf& picture_of, const PutText& put, bool has_pages) {
  const auto& [coverage, context, results, cases, has_cases] = run;
  const bool is_good = all_good(results, context.requires_support) &&
                       all_good(cases, context.requires_support) && !coverage.is_interrupted;
  const bool has_only_cases = results.empty() && !cases.empty();
  kainjow::mustache::data page;
  page.set("title", "torch-ir");
  page.set("heading", "torch-ir harness");
  page.set("style", std::string(templates::index_style));
  page.set("script", std::string(templates::index_graph) + std::string(templates::index_script));
  page.set("verdict",
           xml_text(std::string(interrupted_prefix(coverage)) + verdict_text(results, cases)));
  page.set("operators", operators_section(cases));
  page.set("no_models", has_only_cases ? " hidden" : "");
  page.set("verdict_mark", is_good ? "✓" : "✕");
  page.set("verdict_class", is_good ? "good" : "bad");
  page.set("coverage", xml_text(has_only_cases ? cases_coverage_text(cases, coverage)
                                               : coverage_text(results, coverage, plain_names)));
  page.set("words", script_json(words_of(run, baseline, has_pages)));
  page.set("results", std::string(kResultsMark));
  page.set("models", std::string(kModelsMark));
  const std::string text = render_exactly(templates::index_page, page);
  const size_t at_results = text.find(kResultsMark);
  const size_t at_models = text.find(kModelsMark);
  put(text.substr(0, at_results));
  write_results(run, baseline, [&](std::string_view piece) { put(in_script(piece)); });
  put(text.substr(at_results + 1, at_models - at_results - 1));
  put_models(run, picture_of, put);
  put(text.substr(at_models + 1));
}

}  // namespace torch_ir
