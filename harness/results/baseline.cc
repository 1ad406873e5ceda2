#include "harness/results/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include "harness/results/run_words.h"

namespace torch_ir {
namespace {

// Figures that differ by less say nothing.
constexpr double kNoiseFactor = 2;
constexpr double kNoise = 1e-7;

bool is_good(const ModelRecord& model) {
  return model.status == Status::kPassed || model.status == Status::kExpectedFailure;
}

std::string status_text(const ModelRecord& model) {
  std::string text(status_name(model.status));
  if (model.failure) {
    text += fmt::format(" in {} ({})", stage_name(model.stage), failure_kind_name(*model.failure));
  }
  return text;
}

Trend status_trend(const ModelRecord& old, const ModelRecord& now) {
  if (is_good(old) != is_good(now)) return is_good(now) ? Trend::kBetter : Trend::kWorse;
  if (is_good(now) || old.stage == now.stage) return Trend::kChanged;
  return now.stage < old.stage ? Trend::kWorse : Trend::kBetter;
}

void compare_status(const ModelRecord& old, const ModelRecord& now, ModelChange& change) {
  const std::string before = status_text(old);
  const std::string after = status_text(now);
  if (before == after) return;
  change.changes.push_back(
      {.what = "status", .before = before, .now = after, .trend = status_trend(old, now)});
}

void compare_graphs(const ModelRecord& old, const ModelRecord& now,
                    const GraphChanges& graph_changes, ModelChange& change) {
  // One that is not there goes with the status.
  if (!old.graph || !now.graph || old.graph->fingerprint == now.graph->fingerprint) return;
  FigureChange& graph = change.changes.emplace_back(FigureChange{.what = "graph"});
  if (const auto words = graph_changes.find(now.name); words != graph_changes.end()) {
    graph.details = words->second;
  }
  const auto compare = [&](const char* what, int64_t before, int64_t after) {
    if (before != after) change.changes.push_back({.what = what, .before = before, .now = after});
  };
  compare("nodes", old.graph->nodes, now.graph->nodes);
  compare("edges", old.graph->edges, now.graph->edges);
  compare("weights", old.graph->weights, now.graph->weights);
  compare("parameters", old.graph->parameters, now.graph->parameters);
}

// Whether a difference of `a` is more than one of `b`, and not by chance.
bool exceeds(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a > b;
  return a > kNoiseFactor * b && a - b > kNoise;
}

void compare_figures(FigureChange figure, std::optional<double> before, std::optional<double> now,
                     ModelChange& change) {
  if (!before || !now) return;
  const bool is_worse = exceeds(*now, *before);
  if (!is_worse && !exceeds(*before, *now)) return;
  figure.before = *before;
  figure.now = *now;
  figure.trend = is_worse ? Trend::kWorse : Trend::kBetter;
  change.changes.push_back(std::move(figure));
}

void compare_trials(const ModelRecord& old, const ModelRecord& now, ModelChange& change) {
  for (const TrialFigures& trial : now.trials) {
    const auto before = std::ranges::find(old.trials, trial.name, &TrialFigures::name);
    if (before == old.trials.end()) continue;
    const DifferenceFigures& a = before->differences;
    const DifferenceFigures& b = trial.differences;
    compare_figures({.what = "max diff, " + trial.name}, a.max_diff, b.max_diff, change);
    compare_figures({.what = "smallest passing tolerance, " + trial.name, .is_tolerance = true},
                    a.smallest_passing_tolerance, b.smallest_passing_tolerance, change);
  }
}

// A model that one of the runs does not have.
ModelChange only_status(const ModelRecord& model, Trend trend) {
  FigureChange status{.what = "status", .trend = trend};
  (trend == Trend::kNew ? status.now : status.before) = status_text(model);
  return {.model = model.name, .trend = trend, .changes = {std::move(status)}};
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<std::string> file_names(const Coverage& coverage) {
  std::vector<std::string> names;
  for (const ModelFilesArgument& files : coverage.files) names.push_back(files.short_name());
  std::ranges::sort(names);
  return names;
}

// Whether a run of `coverage` was asked for what a run of `other` has as `model`.
bool covers(const Coverage& coverage, const Coverage& other, const ModelRecord& model) {
  if (model.is_imported) return file_names(coverage) == file_names(other);
  const Selection& selection = coverage.selection;
  const auto is_selected = [&](const std::string& category) {
    return contains(selection.categories, category);
  };
  return coverage.registry &&
         (selection.models.empty() || contains(selection.models, model.name)) &&
         (selection.categories.empty() || std::ranges::any_of(model.categories, is_selected));
}

void note(const std::string& what, const std::string& before, const std::string& now,
          std::vector<std::string>& notes) {
  if (before == now) return;
  const auto named = [](const std::string& value) { return value.empty() ? "none" : value; };
  notes.push_back(fmt::format("{}: {} -> {}", what, named(before), named(now)));
}

std::vector<std::string> compare_runs(const RunResults& old, const RunResults& now) {
  std::vector<std::string> notes;
  const auto before = settings_in_words(old.settings);
  const auto after = settings_in_words(now.settings);
  for (size_t i = 0; i < after.size(); ++i) {
    note(after[i].first, before[i].second, after[i].second, notes);
  }
  const auto find = [](const Environment& environment, const std::string& name) {
    const auto item = std::ranges::find(environment, name, &Environment::value_type::first);
    return item == environment.end() ? "" : item->second;
  };
  for (const auto& [name, value] : now.environment) {
    note(environment_name(name), find(old.environment, name), value, notes);
  }
  return notes;
}

std::unordered_map<std::string, const ModelRecord*> by_name(const RunResults& run) {
  std::unordered_map<std::string, const ModelRecord*> models;
  for (const ModelRecord& model : run.models) models.emplace(model.name, &model);
  return models;
}

}  // namespace

std::string_view trend_name(Trend trend) {
  switch (trend) {
    case Trend::kWorse:
      return "worse";
    case Trend::kGone:
      return "gone";
    case Trend::kChanged:
      return "changed";
    case Trend::kNew:
      return "new";
    case Trend::kBetter:
      return "better";
  }
  __builtin_unreachable();
}

size_t BaselineComparison::count(Trend trend) const {
  return static_cast<size_t>(std::ranges::count(models, trend, &ModelChange::trend));
}

BaselineComparison compare_with_baseline(const RunResults& old, const RunResults& now,
                                         const GraphChanges& graph_changes) {
  BaselineComparison comparison{.notes = compare_runs(old, now)};
  const bool same_values = old.settings.seed == now.settings.seed;
  if (!same_values) {
    comparison.notes.push_back("figures of trials are not compared: other seeds, other values");
  }
  const auto old_models = by_name(old);
  for (const ModelRecord& model : now.models) {
    const auto before = old_models.find(model.name);
    if (before == old_models.end()) {
      if (covers(old.coverage, now.coverage, model)) {
        comparison.models.push_back(only_status(model, Trend::kNew));
      }
      continue;
    }
    ++comparison.num_compared;
    ModelChange change{.model = model.name};
    compare_status(*before->second, model, change);
    compare_graphs(*before->second, model, graph_changes, change);
    if (same_values) compare_trials(*before->second, model, change);
    if (change.changes.empty()) continue;
    change.trend = std::ranges::min(change.changes, {}, &FigureChange::trend).trend;
    comparison.models.push_back(std::move(change));
  }
  const auto new_models = by_name(now);
  for (const ModelRecord& model : old.models) {
    if (new_models.contains(model.name) || !covers(now.coverage, old.coverage, model)) continue;
    comparison.models.push_back(only_status(model, Trend::kGone));
  }
  std::ranges::stable_sort(comparison.models, {}, &ModelChange::trend);
  return comparison;
}

}  // namespace torch_ir
