// index.html is a template with its style and script, which render the data below.

#include <fmt/format.h>

#include <map>

#include "harness/report/page_text.h"
#include "harness/report/run_text.h"
#include "harness/results/result_fields.h"
#include "templates/templates.h"
#include "torch_ir/base/zip_archive.h"

namespace torch_ir {
namespace {

using json_fields::Json;
using json_fields::write;

// The keys of a result that only the page of a model needs.
constexpr const char* kDetails[] = {"node_report", "reproducer", "executor", "against", "trials"};

std::string dump(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t k = i; k < i + 3; ++k) {
      bits = bits << 8 | (k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0);
    }
    for (size_t k = 0; k < 4; ++k) {
      text += i + k > bytes.size() ? '=' : kDigits[bits >> (18 - 6 * k) & 63];
    }
  }
  return text;
}

// One line; empty if there is nothing to say.
std::string reason(const Result& result) {
  if (result.status() == Status::kExpectedFailure) return result.expected_failure->reason;
  const std::string finding = finding_of(result).text();
  return finding.empty() ? host_text(result) : finding;
}

// All of a model that is not in its row.
Json details_of(const Result& result, const RunRecord& run, const Json& json) {
  Coverage coverage = coverage_of(result);
  coverage.is_split = run.coverage.is_split;
  Json details = {{"source", result.origin ? result.origin->short_name() : ""},
                  {"command", reproduce_command(coverage, run.context) + "\n"},
                  {"cut", cut_command(result)},
                  {"hint", reproducer_hint(result.name, run.context, kPlain.code)}};
  for (const char* key : kDetails) {
    if (json.contains(key)) details[key] = json[key];
  }
  if (const Trial* worst = result.worst_trial()) details["worst_trial"] = worst->name;
  if (result.reproducer) details["reproducer_text"] = reproducer_text(result, kPlain);
  if (result.nodes) {
    details["summary"] = nodes_summary(*result.nodes, kPlain.code);
    details["paragraphs"] = nodes_paragraphs(result, kPlain);
    details["statistics"] = statistics_table(result.nodes->first_divergence).json();
    details["values"] = values_of_run(result).json();
    details["lists"] = Json::array();
    for (const auto& [title, list] : node_lists(*result.nodes)) {
      details["lists"].push_back({title, list.json()});
    }
  }
  return details;
}

Json changes_json(const BaselineComparison& comparison, const std::string& baseline) {
  Json rows = Json::array();
  for (const ModelChange& change : comparison.models) {
    rows.push_back({change.model, trend_name(change.trend), change_lines(change)});
  }
  return {{"baseline", baseline}, {"notes", baseline_notes(comparison)}, {"rows", rows}};
}

Json run_json(const RunRecord& run, const BaselineComparison* baseline, bool has_pages) {
  const auto& [coverage, context, results, cases] = run;
  Json bins = Json::array();
  for (size_t bin = 0; bin < kHistogramBins; ++bin) bins.push_back(histogram_bin_name(bin));
  return {{"verdict", std::string(interrupted_prefix(coverage)) + verdict_text(results, cases)},
          {"is_good", all_good(results) && all_good(cases) && !coverage.is_interrupted},
          {"coverage", results.empty() && !cases.empty()
                           ? cases_coverage_text(cases, coverage)
                           : coverage_text(results, coverage, kPlain.code)},
          {"command", reproduce_command(coverage, context) + "\n"},
          {"stages", write(kStages)},
          {"has_pages", has_pages},
          {"bins", bins},
          {"settings", settings_table(context, num_trials(results, context.settings)).json()},
          {"build", build_of(context)},
          {"changes", baseline == nullptr ? Json() : changes_json(*baseline, context.baseline)},
          {"suite", operators_json(cases)}};
}

}  // namespace

void put_index_data(const RunRecord& run, const BaselineComparison* baseline,
                    const PictureOf& picture_of, const PutPart& put, bool has_pages) {
  std::map<std::string, std::string> causes;
  for (const FailureCause& cause : failure_causes(run.results, run.cases)) {
    for (const std::string& model : cause.models) causes[model] = cause.what;
  }
  Json rows = Json::array();
  size_t room = kMaxIndexGraphs;
  for (const Result& result : run.results) {
    Json row = write_result(result);
    Json details = details_of(result, run, row);
    for (const char* key : kDetails) row.erase(key);
    for (const auto& [key, member] : kGraphFigures) {
      if (row["graph"].is_object()) row[key] = row["graph"][key];
    }
    row.erase("graph");
    GraphPicture picture;
    if (result.graph_summary()) picture = picture_of(result);
    if (picture.data.size() > room) picture = {.problem = "it is too large for this page"};
    room -= picture.data.size();
    const DifferenceMetrics metrics = difference_metrics(result);
    json_fields::Writer{row}.nullable("signal_to_noise", metrics.signal_to_noise);
    json_fields::Writer{row}.nullable("cosine_similarity", metrics.cosine_similarity);
    row["reason"] = reason(result);
    row["cause"] = causes[result.name];
    row["has_graph"] = !picture.data.empty();
    details["picture_problem"] = picture.problem;
    std::string text = dump(details);
    if (!picture.data.empty()) text.replace(text.size() - 1, 1, ",\"graph\":" + picture.data + "}");
    put(fmt::format("model-{}", rows.size()), text);
    rows.push_back(std::move(row));
  }
  put("models", dump(rows));
  put("run", dump(run_json(run, baseline, has_pages)));
}

void write_index(const RunRecord& run, const BaselineComparison* baseline,
                 const PictureOf& picture_of, const PutText& put, bool has_pages) {
  const auto put_part = [&](const std::string& id, const std::string& json) {
    put(fmt::format("<script type=\"text/plain\" id=\"data-{}\">{}</script>\n", id,
                    base64(deflate(json))));
  };
  for (std::string_view page = templates::index_page; !page.empty();) {
    const size_t mark = page.find("{{");
    put(page.substr(0, mark));
    if (mark == page.npos) return;
    page.remove_prefix(mark + 2);
    const std::string_view name = page.substr(0, page.find("}}"));
    page.remove_prefix(name.size() + 2);
    if (name == "style") put(templates::index_style);
    if (name == "data") put_index_data(run, baseline, picture_of, put_part, has_pages);
    if (name == "script") put(templates::index_graph), put(templates::index_script);
  }
}

}  // namespace torch_ir
