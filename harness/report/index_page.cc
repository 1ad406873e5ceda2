#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

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

// Escapes characters that a browser cannot show, as on the other pages.
void make_shown(Json& json) {
  if (json.is_string()) {
    json = shown_text(json.get_ref<const std::string&>());
  } else if (json.is_structured()) {
    for (Json& item : json) make_shown(item);
  }
}

// JSON for a script element: ASCII without '<', which could begin a tag or a comment.
std::string script_json(Json json) {
  make_shown(json);
  const std::string text =
      json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) c == '<' ? safe += "\\u003c" : safe += c;
  return safe;
}

// NaN is greater than anything else.
double greater(double a, double b) { return std::isnan(a) || a > b ? a : b; }

// NaN is less than anything else.
double lesser(double a, double b) { return std::isnan(a) || a < b ? a : b; }

Json worst_figures(const Result& result) {
  const DifferenceMetrics differences = difference_metrics(result);
  Json json = Json::object();
  if (differences.smallest_passing_tolerance) {
    json["smallest_passing_tolerance"] = write(*differences.smallest_passing_tolerance);
  }
  if (!differences.max_diff) return json;
  double mean = 0;
  double relative = 0;
  double root_mean_square = 0;
  double cosine = 1;
  double signal_to_noise = std::numeric_limits<double>::infinity();
  std::optional<uint64_t> ulp;
  int64_t mismatched = 0;
  for (const Trial& trial : result.trials) {
    mean = greater(trial.verification.mean_diff, mean);
    int64_t mismatched_here = 0;
    for (const OutputDetail& detail : trial.verification.output_details) {
      const TensorComparison& c = detail.comparison;
      if (!c.mismatch.empty()) continue;
      relative = greater(c.max_relative_diff, relative);
      root_mean_square = greater(c.root_mean_square_diff, root_mean_square);
      cosine = lesser(c.cosine_similarity, cosine);
      signal_to_noise = lesser(c.signal_to_noise, signal_to_noise);
      if (c.max_ulp_diff) ulp = std::max(ulp.value_or(0), *c.max_ulp_diff);
      mismatched_here += c.num_mismatched;
    }
    mismatched = std::max(mismatched, mismatched_here);
  }
  json.update({{"max_diff", write(*differences.max_diff)},
               {"mean_diff", write(mean)},
               {"max_relative_diff", write(relative)},
               {"root_mean_square_diff", write(root_mean_square)},
               {"cosine_similarity", write(cosine)},
               {"signal_to_noise", write(signal_to_noise)},
               {"num_mismatched", mismatched}});
  if (ulp) json["max_ulp_diff"] = *ulp;
  return json;
}

std::string reason(const Result& result) {
  if (result.status() == Status::kExpectedFailure) return result.expected_failure->reason;
  if (result.status() == Status::kPassedOutputs) return result.reason();
  if (result.failure) return headline(result.failure->message);
  if (result.expected_failure) return "expected to fail: " + result.expected_failure->reason;
  return host_text(result);
}

Json model_json(const Result& result, const RunContext& context) {
  Json json = {{"name", result.name},
               {"status", status_name(result.status())},
               {"categories", write(result.categories)},
               {"reason", reason(result)}};
  if (result.failure) {
    json["stage"] = stage_name(result.failure->stage);
    json["kind"] = failure_kind_name(result.failure->kind);
  }
  if (const auto summary = result.graph_summary()) {
    for (const auto& [key, member] : kGraphFigures) json[key] = summary->figures.*member;
  }
  if (const Trial* trial = result.worst_trial()) {
    json["trial"] = trial->name;
    json.update(worst_figures(result));
  }
  if (context.timings) {
    json["seconds"] =
        std::accumulate(result.stage_seconds.begin(), result.stage_seconds.end(), 0.0);
  }
  return json;
}

Json values_json(const std::vector<TensorMeta>& values) {
  Json json = Json::array();
  for (const TensorMeta& value : values) {
    json.push_back({{"name", value.name}, {"shape", shape_text(value)}, {"dtype", value.dtype}});
  }
  return json;
}

Json graph_json(const IRSummary& graph, const std::string& problem) {
  Json operators = Json::array();
  for (const auto& [name, count] : graph.op_distribution) operators.push_back({name, count});
  Json json = {{"inputs", values_json(graph.inputs)},
               {"outputs", values_json(graph.outputs)},
               {"operators", operators}};
  if (!problem.empty()) json["problem"] = problem;
  return json;
}

std::string description(const Result& result) {
  if (!result.origin) return result.description;
  if (!result.origin->graph.empty()) return "The graph of " + short_name_of(*result.origin) + ".";
  return "Imported from " + short_name_of(*result.origin) + ".";
}

Json detail_json(const Result& result, const RunRecord& run, bool has_svg,
                 const std::string& problem) {
  const RunContext& context = run.context;
  Coverage coverage = coverage_of(result);
  coverage.is_split = run.coverage.is_split;
  const bool has_ir = result.num_passed_stages > static_cast<size_t>(Stage::kSerialize);
  Json json = {{"description", description(result)},
               {"num_passed_stages", result.num_passed_stages},
               {"trials", write(result.trials)},
               {"command", reproduce_command(coverage, context)},
               {"files", {{"ir", has_ir}, {"svg", has_svg}}}};
  if (result.failure) json["failure"] = write(*result.failure);
  if (result.expected_failure) json["expected_failure"] = write(*result.expected_failure);
  if (const auto summary = result.graph_summary()) {
    json["graph"] = graph_json(summary->figures, problem);
  }
  if (result.nodes) {
    json["nodes"] = write(*result.nodes);
    json["nodes"]["summary"] = nodes_summary(*result.nodes, std::identity());
    json["nodes"]["note"] = as_sentence(result.nodes->note);
  }
  if (result.reproducer) {
    json["reproducer"] = write(*result.reproducer);
    json["reproducer"]["is_whole_graph"] = result.is_reproduced_by_whole_graph();
    const std::string hint = reproducer_hint(result.name, context, std::identity());
    if (!hint.empty()) json["reproducer"]["hint"] = hint;
  }
  if (context.timings) json["stage_seconds"] = write(result.stage_seconds);
  return json;
}

// Names in the document are escaped, so it cannot have such tags and comments of its own.
bool fits_in_script(std::string_view svg) {
  return svg.find("<!--") == svg.npos && svg.find("</script") == svg.npos &&
         svg.find("<script") == svg.npos;
}

std::string_view without_declaration(std::string_view svg) {
  const size_t root = svg.find("<svg");
  return svg.substr(root == svg.npos ? 0 : root);
}

void put_details(const RunRecord& run, const PictureOf& picture_of, const PutText& put) {
  size_t room = kMaxIndexPictures;
  size_t i = 0;
  for (const Result& result : run.results) {
    GraphPicture picture;
    const bool has_graph = result.graph_summary().has_value();
    if (has_graph && room > 0) picture = picture_of(result);
    // Once the page is full, pictures are assumed to exist as for the others.
    const bool has_svg = has_graph && (room == 0 || !picture.svg.empty());
    const std::string_view svg = without_declaration(picture.svg);
    if (svg.size() > room) room = 0;
    if (!svg.empty() && svg.size() <= std::min(kMaxIndexPicture, room) && fits_in_script(svg)) {
      put(fmt::format("<script type=\"image/svg+xml\" id=\"graph-{}\">{}</script>\n", i, svg));
      room -= svg.size();
    } else if (has_svg) {
      picture.problem = "it is too large for this page";
    }
    put(fmt::format("<script type=\"application/json\" id=\"detail-{}\">{}</script>\n", i++,
                    script_json(detail_json(result, run, has_svg, picture.problem))));
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

Json run_json(const RunRecord& run, const BaselineComparison* baseline) {
  Json stages = Json::array();
  for (const Stage stage : kStages) stages.push_back(stage_name(stage));
  Json bins = Json::array();
  for (size_t bin = 0; bin < kHistogramBins; ++bin) bins.push_back(histogram_bin_name(bin));
  return {
      {"title", "torch-ir"},
      {"rule", "An element passes when |actual − expected| ≤ atol + rtol · |expected|."},
      {"stages", stages},
      {"bins", bins},
      {"environment", environment_json(run)},
      {"command", reproduce_command(run.coverage, run.context)},
      {"changes", baseline == nullptr ? Json() : changes_json(*baseline, run.context.baseline)}};
}

void put_data(const RunRecord& run, const BaselineComparison* baseline, const PutText& put) {
  std::string text = script_json(run_json(run, baseline));
  text.pop_back();
  put(text + ",\"models\":[");
  std::string_view separator = "";
  for (const Result& result : run.results) {
    put(fmt::format("{}{}", separator, script_json(model_json(result, run.context))));
    separator = ",";
  }
  put("]}");
}

// Mark where data and details go in the page, which has no control characters but newlines.
constexpr std::string_view kData = "\x01";
constexpr std::string_view kDetails = "\x02";

}  // namespace

void write_index(const RunRecord& run, const BaselineComparison* baseline,
                 const PictureOf& picture_of, const PutText& put) {
  const auto& [coverage, context, results, cases, has_cases] = run;
  const bool is_good =
      all_good(results) && all_good(cases, context.requires_support) && !coverage.is_interrupted;
  const bool has_only_cases = results.empty() && !cases.empty();
  kainjow::mustache::data page;
  page.set("title", "torch-ir");
  page.set("heading", "torch-ir harness");
  page.set("style", std::string(templates::index_style));
  page.set("script", std::string(templates::index_script));
  page.set("verdict",
           xml_text(std::string(interrupted_prefix(coverage)) + verdict_text(results, cases)));
  page.set("operators", operators_section(cases));
  page.set("no_models", has_only_cases ? " hidden" : "");
  page.set("verdict_mark", is_good ? "✓" : "✕");
  page.set("verdict_class", is_good ? "good" : "bad");
  page.set("coverage", xml_text(has_only_cases ? cases_coverage_text(cases, coverage)
                                               : coverage_text(results, coverage, plain_names)));
  page.set("data", std::string(kData));
  page.set("details", std::string(kDetails));
  const std::string text = render_exactly(templates::index_page, page);
  const size_t data = text.find(kData);
  const size_t details = text.find(kDetails);
  put(text.substr(0, data));
  put_data(run, baseline, put);
  put(text.substr(data + 1, details - data - 1));
  put_details(run, picture_of, put);
  put(text.substr(details + 1));
}

}  // namespace torch_ir
