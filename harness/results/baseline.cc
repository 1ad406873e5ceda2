#include "harness/results/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>
#include <utility>

#include "torch_ir/base/printable.h"
#include "torch_ir/base/text.h"

namespace torch_ir {
namespace {

// Smaller changes are noise.
constexpr double kNoiseFactor = 2;
constexpr double kNoise = 1e-7;

std::string status_text(const Result& model) {
  std::string text(status_name(model.status()));
  if (const auto& failure = model.failure) {
    text +=
        fmt::format(" in {} ({})", stage_name(failure->stage), failure_kind_name(failure->kind));
  }
  return text;
}

// Whether it is expected to fail makes no difference.
bool fails(const Result& model) {
  return (model.failure && !model.lacks_support()) ||
         (model.status() == Status::kNotHeld && !model.is_good());
}

Trend status_trend(const Result& old, const Result& now) {
  if (fails(now)) return fails(old) || now.is_good() ? Trend::kChanged : Trend::kWorse;
  const bool is_better = (fails(old) || old.lacks_support()) && !now.lacks_support();
  return is_better ? Trend::kBetter : Trend::kChanged;
}

// One change for the worse makes it worse, or else one for the better makes it better.
Trend trend_of(const std::vector<FigureChange>& changes) {
  for (const Trend trend : {Trend::kWorse, Trend::kBetter}) {
    if (std::ranges::find(changes, trend, &FigureChange::trend) != changes.end()) return trend;
  }
  return Trend::kChanged;
}

void compare_status(const Result& old, const Result& now, ModelChange& change) {
  const std::string before = status_text(old);
  const std::string after = status_text(now);
  if (before == after) return;
  change.changes.push_back(
      {.what = "status", .before = before, .now = after, .trend = status_trend(old, now)});
}

void compare_graphs(const Result& old, const Result& now, const NodeChangesOf& nodes,
                    ModelChange& change) {
  const std::optional<GraphSummary> before = old.graph_summary();
  const std::optional<GraphSummary> after = now.graph_summary();
  // A missing graph shows in the status.
  if (!before || !after || before->fingerprint == after->fingerprint) return;
  FigureChange& graph = change.changes.emplace_back(FigureChange{.what = "graph"});
  if (const auto known = nodes.find(now.name); known != nodes.end()) {
    graph.details = known->second.graph;
  }
  for (const auto& [name, member] : kGraphFigures) {
    const int64_t was = before->figures.*member;
    const int64_t is = after->figures.*member;
    if (was != is) change.changes.push_back({.what = name, .before = was, .now = is});
  }
}

bool exceeds(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a > b;
  return a > kNoiseFactor * b && a - b > kNoise;
}

void compare_trials(const Result& old, const Result& now, ModelChange& change) {
  const auto compare = [&](const std::string& of, const DifferenceMetrics& a,
                           const DifferenceMetrics& b) {
    compare_figures({.what = "max abs. error" + of}, a.max_diff, b.max_diff, change.changes);
    compare_figures({.what = "smallest passing tolerance" + of, .is_tolerance = true},
                    a.smallest_passing_tolerance, b.smallest_passing_tolerance, change.changes);
  };
  if (now.call) compare("", old.metrics, now.metrics);
  for (const Trial& trial : now.trials) {
    const auto before = std::ranges::find(old.trials, trial.name, &Trial::name);
    if (before == old.trials.end()) continue;
    compare(", " + trial.name, difference_metrics(before->verification),
            difference_metrics(trial.verification));
  }
}

// A larger number is worse only if both runs compared the values of nodes.
void compare_intermediates(const Result& old, const Result& now, ModelChange& change) {
  if (!old.passed() || !now.passed() || !old.nodes || !now.nodes) return;
  const int64_t before = old.nodes->num_mismatched;
  const int64_t after = now.nodes->num_mismatched;
  if (before == after) return;
  change.changes.push_back({.what = "intermediate values that differ",
                            .before = before,
                            .now = after,
                            .trend = after > before ? Trend::kWorse : Trend::kBetter});
}

// "node 3", with its name, operator and module if it has one of the greatest errors.
std::string node_name(const NodeReport& nodes, int64_t index) {
  const auto named = std::ranges::find(nodes.worst, index, &ValueDetail::index);
  std::string text = fmt::format("node {}", index);
  if (named == nodes.worst.end()) return text;
  text += fmt::format(", {} ({})", printable(named->node), printable(named->op_type));
  return named->module.empty() ? text : text + " in " + printable(named->module);
}

// The first node of equal graphs whose error changed: its own, or else that of its values.
void compare_nodes(const Result& old, const Result& now, ModelChange& change) {
  if (!old.nodes || !now.nodes || !old.summary || !now.graph_summary() ||
      old.summary->fingerprint != now.graph_summary()->fingerprint) {
    return;
  }
  for (const NodeError& error : now.nodes->errors) {
    const auto before = std::ranges::find(old.nodes->errors, error.index, &NodeError::index);
    if (before == old.nodes->errors.end()) continue;
    const bool is_own = before->own_error && error.own_error;
    const double was = is_own ? *before->own_error : before->max_diff;
    const double is = is_own ? *error.own_error : error.max_diff;
    if (!exceeds(was, is) && !exceeds(is, was)) continue;
    change.changes.push_back({.what = fmt::format("{} of {}, the first that changed",
                                                  is_own ? "own error" : "max abs. error",
                                                  node_name(*now.nodes, error.index)),
                              .before = was,
                              .now = is});
    return;
  }
}

// The first value that differs, of those that both runs kept.
void compare_values(const NodeChanges& nodes, ModelChange& change) {
  for (const auto& [node, changes] : nodes.nodes) {
    if (node.value.empty()) continue;
    FigureChange& figure = change.changes.emplace_back(changes.front());
    figure.what = "first value that differs: " + place_text(node);
    figure.details.push_back(values_text(nodes));
    std::vector<ModuleDifference> modules = by_module(nodes.nodes);
    std::erase_if(modules, [](const auto& it) { return !it.metrics.signal_to_noise; });
    std::ranges::stable_sort(modules, {},
                             [](const auto& it) { return *it.metrics.signal_to_noise; });
    for (const auto& [module, num_nodes, metrics] : modules) {
      figure.details.push_back(fmt::format("{}: SNR {:.3g} dB, cosine similarity {:.6g}",
                                           module.empty() ? "other nodes" : printable(module),
                                           *metrics.signal_to_noise,
                                           metrics.cosine_similarity.value_or(1)));
    }
    return;
  }
}

ModelChange only_status(const Result& model, Trend trend) {
  FigureChange status{.what = "status", .trend = trend};
  (trend == Trend::kNew ? status.now : status.before) = status_text(model);
  return {.model = model.name,
          .is_case = model.call.has_value(),
          .trend = trend,
          .changes = {std::move(status)}};
}

std::vector<std::string> file_names(const Coverage& coverage) {
  std::vector<std::string> names;
  for (const ModelFiles& files : coverage.files) names.push_back(files.short_name());
  std::ranges::sort(names);
  return names;
}

// Whether the run was given single models, and no folder of them.
bool names_models(const RunRecord& run) {
  std::set<std::string> models;
  for (const Result& it : run.results) models.insert(it.origin ? it.origin->short_name() : "");
  return std::ranges::includes(models, file_names(run.coverage));
}

// Whether `run` selected and reached `model` of the run with the coverage `other`.
bool covers(const RunRecord& run, const Coverage& other, const Result& model) {
  const Coverage& coverage = run.coverage;
  if (coverage.is_interrupted) return false;
  const Selection& selection = coverage.selection;
  const bool has_same_files = file_names(coverage) == file_names(other);
  if (model.call && selection.suite == other.selection.suite && has_same_files) {
    if (selection.suite == Suite::kModels) {
      return coverage.is_split == other.is_split && selection == other.selection;
    }
    return is_selected(model.call->op_type, model.call->dtype, selection) &&
           selects(selection.categories, {category_of(model)});
  }
  if (model.call) return false;
  if (model.origin) return has_same_files || !names_models(run);
  return coverage.has_registry() && selects(selection.models, {model.name}) &&
         selects(selection.categories, model.categories);
}

// Whether `result` is from a file, or a call of one, that the earlier run was not given. That is
// new, while a registered model was there to be selected.
bool is_of_new_file(const Coverage& old, const Coverage& now, const Result& result) {
  const bool is_of_file = now.selection.suite == Suite::kModels && (result.call || result.origin);
  return is_of_file && !old.is_interrupted && file_names(old) != file_names(now);
}

// All that affects results, always in the same order; values may be empty.
Environment settings_in_words(const RunContext& context) {
  const RunSettings& settings = context.settings;
  Environment all = {
      {"seed", std::to_string(settings.seed)},
      {"tolerance", tolerance_rule_text(settings)},
      {"compute dtype", settings.criterion.arithmetic
                            ? std::string(arithmetic_name(*settings.criterion.arithmetic))
                            : std::string()},
      {"trials", std::to_string(settings.trials)},
      {"threads", std::to_string(settings.threads)},
      {"optimization", optimization_name(settings.optimization)},
      {"device", settings.device.str()},
      {"backend", settings.backend},
      {"executor", settings.executor},
      {"scale", std::string(scale_name(settings.scale))},
      {"last stage", std::string(stage_name(settings.last_stage))},
  };
  all.insert(all.end(), context.environment.begin(), context.environment.end());
  return all;
}

std::vector<std::string> compare_runs(const RunContext& old, const RunContext& now) {
  std::vector<std::string> notes;
  const Environment before = settings_in_words(old);
  for (const auto& [name, value] : settings_in_words(now)) {
    const auto known = std::ranges::find(before, name, &Environment::value_type::first);
    const std::string was = known == before.end() ? "" : known->second;
    if (was == value) continue;
    notes.push_back(fmt::format("{}: {} -> {}", name, was.empty() ? "none" : was,
                                value.empty() ? "none" : value));
  }
  return notes;
}

std::unordered_map<std::string_view, const Result*> by_name(const std::vector<Result>& results) {
  std::unordered_map<std::string_view, const Result*> all;
  for (const Result& result : results) all.emplace(result.name, &result);
  return all;
}

}  // namespace

std::string_view trend_name(Trend trend) {
  constexpr std::array<std::string_view, kTrends.size()> kNames = {"worse", "gone", "changed",
                                                                   "new", "better"};
  return kNames.at(static_cast<size_t>(trend));
}

size_t BaselineComparison::count(Trend trend) const {
  return static_cast<size_t>(std::ranges::count(models, trend, &ModelChange::trend));
}

void compare_figures(FigureChange figure, std::optional<double> before, std::optional<double> now,
                     std::vector<FigureChange>& changes) {
  if (!before || !now) return;
  const bool is_worse = exceeds(*now, *before);
  if (!is_worse && !exceeds(*before, *now)) return;
  figure.before = *before;
  figure.now = *now;
  figure.trend = is_worse ? Trend::kWorse : Trend::kBetter;
  changes.push_back(std::move(figure));
}

std::string values_text(const NodeChanges& nodes) {
  if (nodes.num_compared == 0) return "no values of nodes compared: at most one run kept them";
  std::string text =
      fmt::format("{} of {} of nodes {}", nodes.num_different, counted(nodes.num_compared, "value"),
                  nodes.num_different == 1 ? "differs" : "differ");
  if (nodes.num_single == 0) return text;
  return text + fmt::format("; only one run kept {}", counted(nodes.num_single, "other value"));
}

BaselineComparison compare_with_baseline(const RunRecord& old, const RunRecord& now,
                                         NodeChangesOf node_changes) {
  BaselineComparison comparison{.notes = compare_runs(old.context, now.context),
                                .nodes = std::move(node_changes)};
  const bool same_values = old.context.settings.seed == now.context.settings.seed;
  if (!same_values) {
    comparison.notes.push_back("trials are not compared, because the seeds differ");
  }
  NodeChanges all;
  for (const auto& [model, nodes] : comparison.nodes) {
    all.num_compared += nodes.num_compared;
    all.num_different += nodes.num_different;
    all.num_single += nodes.num_single;
    if (!nodes.problem.empty()) comparison.notes.push_back(nodes.problem);
  }
  if (all.num_compared + all.num_single > 0) comparison.notes.push_back(values_text(all));
  const auto compare = [&](const std::vector<Result>& before, const std::vector<Result>& after) {
    const auto old_results = by_name(before);
    for (const Result& result : after) {
      const auto was = old_results.find(result.name);
      if (was == old_results.end()) {
        // Without any calls, they were not asked for.
        const bool was_asked = !before.empty() || !result.call;
        if (covers(old, now.coverage, result) ||
            (was_asked && is_of_new_file(old.coverage, now.coverage, result))) {
          comparison.models.push_back(only_status(result, Trend::kNew));
        }
        continue;
      }
      ++(result.call ? comparison.num_cases : comparison.num_compared);
      ModelChange change{.model = result.name, .is_case = result.call.has_value()};
      compare_status(*was->second, result, change);
      compare_graphs(*was->second, result, comparison.nodes, change);
      if (same_values) compare_trials(*was->second, result, change);
      if (same_values) compare_intermediates(*was->second, result, change);
      const auto nodes = comparison.nodes.find(result.name);
      if (nodes != comparison.nodes.end() && nodes->second.num_compared > 0) {
        compare_values(nodes->second, change);
      } else if (same_values) {
        compare_nodes(*was->second, result, change);
      }
      if (change.changes.empty()) continue;
      change.trend = trend_of(change.changes);
      comparison.models.push_back(std::move(change));
    }
    const auto new_results = by_name(after);
    for (const Result& result : before) {
      if (new_results.contains(result.name) || !covers(now, old.coverage, result)) continue;
      comparison.models.push_back(only_status(result, Trend::kGone));
      comparison.num_lost += result.call ? 0 : 1;
    }
  };
  compare(old.results, now.results);
  if (const int64_t lost = comparison.num_lost; lost > 0) {
    comparison.notes.push_back(fmt::format("not found: {} of the {} of the baseline", lost,
                                           counted(std::ssize(old.results), "model")));
  }
  compare(old.cases, now.cases);
  std::ranges::stable_sort(comparison.models, {}, &ModelChange::trend);
  return comparison;
}

}  // namespace torch_ir
