#include "torch_ir/analysis/support_report.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "torch_ir/analysis/summary.h"

namespace torch_ir {
namespace {

using Operators = std::vector<std::string>;

GraphSupport support_of(const GraphOperators& graph, const SupportedOperators& list) {
  GraphSupport support{.name = graph.name, .missing = {}, .error = graph.error};
  for (const auto& [op_type, calls] : graph.operators) {
    support.num_calls += calls;
    if (list.contains(op_type)) {
      support.num_supported_calls += calls;
    } else {
      support.missing.emplace_back(op_type, calls);
    }
  }
  return support;
}

std::vector<MissingOperator> count_missing(const std::vector<GraphSupport>& graphs) {
  std::map<std::string, MissingOperator> sums;
  for (const GraphSupport& graph : graphs) {
    for (const auto& [op_type, calls] : graph.missing) {
      MissingOperator& sum = sums[op_type];
      sum.op_type = op_type;
      ++sum.num_graphs;
      sum.num_calls += calls;
    }
  }
  std::vector<MissingOperator> missing;
  for (auto& [op_type, sum] : sums) missing.push_back(std::move(sum));
  std::ranges::stable_sort(missing, [](const MissingOperator& a, const MissingOperator& b) {
    return std::tie(a.num_graphs, a.num_calls) > std::tie(b.num_graphs, b.num_calls);
  });
  return missing;
}

// What graphs still lack, sorted, with the places of those that lack just that.
using Lacking = std::map<Operators, std::vector<size_t>>;

Lacking lacking_graphs(const std::vector<GraphSupport>& graphs) {
  Lacking lacking;
  for (size_t i = 0; i < graphs.size(); ++i) {
    if (graphs[i].missing.empty()) continue;
    Operators operators;
    for (const auto& [op_type, calls] : graphs[i].missing) operators.push_back(op_type);
    std::ranges::sort(operators);
    lacking[operators].push_back(i);
  }
  return lacking;
}

std::vector<size_t> unlocked_by(const Operators& operators, const Lacking& lacking) {
  std::vector<size_t> unlocked;
  for (const auto& [others, graphs] : lacking) {
    if (!std::ranges::includes(operators, others)) continue;
    unlocked.insert(unlocked.end(), graphs.begin(), graphs.end());
  }
  std::ranges::sort(unlocked);
  return unlocked;
}

struct Choice {
  Operators operators;
  std::vector<size_t> graphs;

  // More graphs for each operator, then fewer operators.
  bool is_better_than(const Choice& other) const {
    const size_t gain = graphs.size() * other.operators.size();
    const size_t other_gain = other.graphs.size() * operators.size();
    return std::tuple(gain, other.operators.size()) > std::tuple(other_gain, operators.size());
  }
};

Choice best_choice(const Lacking& lacking) {
  Choice best;
  for (const auto& [operators, graphs] : lacking) {
    Choice choice{operators, unlocked_by(operators, lacking)};
    if (best.operators.empty() || choice.is_better_than(best)) best = std::move(choice);
  }
  return best;
}

// What is lacking when `operators` are there.
Lacking without(const Lacking& lacking, const Operators& operators) {
  Lacking rest;
  for (const auto& [lacked, graphs] : lacking) {
    Operators left;
    std::ranges::set_difference(lacked, operators, std::back_inserter(left));
    if (left.empty()) continue;
    std::vector<size_t>& places = rest[left];
    places.insert(places.end(), graphs.begin(), graphs.end());
  }
  return rest;
}

std::vector<UnlockStep> find_steps(const std::vector<GraphSupport>& graphs, int64_t num_running) {
  std::vector<UnlockStep> steps;
  Lacking lacking = lacking_graphs(graphs);
  while (!lacking.empty() && steps.size() < kMaxUnlockSteps) {
    Choice choice = best_choice(lacking);
    num_running += static_cast<int64_t>(choice.graphs.size());
    UnlockStep& step =
        steps.emplace_back(UnlockStep{.operators = {}, .graphs = {}, .num_running = num_running});
    for (const size_t graph : choice.graphs) step.graphs.push_back(graphs[graph].name);
    lacking = without(lacking, choice.operators);
    step.operators = std::move(choice.operators);
  }
  return steps;
}

}  // namespace

GraphOperators operators_of(std::string name, const Graph& graph) {
  return {.name = std::move(name), .operators = count_operators(graph)};
}

SupportReport supported(const std::vector<GraphOperators>& graphs, const SupportedOperators& list) {
  SupportReport report;
  for (const GraphOperators& graph : graphs) report.graphs.push_back(support_of(graph, list));
  report.num_running = std::ranges::count_if(report.graphs, &GraphSupport::runs);
  report.missing = count_missing(report.graphs);
  report.unknown = list.unknown();
  report.steps = find_steps(report.graphs, report.num_running);
  return report;
}

}  // namespace torch_ir
