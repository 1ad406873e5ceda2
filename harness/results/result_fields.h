// The fields of results, in results.json and between processes (results_format.md).
#pragma once

#include <string>

#include "harness/results/baseline.h"
#include "harness/results/result.h"
#include "torch_ir/cases/case_fields.h"
#include "torch_ir/ir/json_fields.h"
#include "torch_ir/runtime/graph/execution_options.h"

namespace torch_ir {

inline constexpr const char* kResultsFormat = "torch-ir results";
// Raise it when a key is removed or changes its meaning. Readers ignore unknown keys, so new keys
// are fine.
inline constexpr int64_t kResultsVersion = 3;

template <>
inline void json_fields::read(const Json& json, ExecutorMetric& value) {
  expect(json.is_number() || json.is_string(), "a number or text", json);
  read_variant<0>(json, value);
}

// A word alone is the place (executor_protocol.md).
template <>
inline void json_fields::read(const Json& json, ExecutorNode& value) {
  if (json.is_string()) return read(json, value.place);
  expect(json.is_object(), "a place or an object", json);
  fields(Reader{json}, value);
}

template <>
inline constexpr ListNaming<kFileFormats, format_name> kNaming<FileFormat>{};
template <>
inline constexpr ListNaming<kStages, stage_name> kNaming<Stage>{};
template <>
inline constexpr ListNaming<kStatuses, status_name> kNaming<Status>{};
template <>
inline constexpr ListNaming<kFailureKinds, failure_kind_name> kNaming<FailureKind>{};
template <>
inline constexpr ListNaming<kReferenceKinds, reference_name> kNaming<ReferenceKind>{};
template <>
inline constexpr ListNaming<kBases, basis_name> kNaming<Basis>{};
template <>
inline constexpr Naming kNaming<Arithmetic>{arithmetic_name, parse_arithmetic};
template <>
inline constexpr ListNaming<kLostKinds, lost_name> kNaming<LostValue::Kind>{};
template <>
inline constexpr ListNaming<kTrends, trend_name> kNaming<Trend>{};
template <>
inline constexpr Naming kNaming<Optimization>{optimization_name, parse_optimization};
template <>
inline constexpr Naming kNaming<Scale>{scale_name, parse_scale};
template <>
inline constexpr Naming kNaming<Suite>{suite_name, parse_suite};
template <>
inline constexpr Naming kNaming<c10::Device>{
    [](const c10::Device& device) { return device.str(); },
    [](const std::string& name) { return c10::Device(name); }};

template <class Visit>
void fields(const Visit& visit, CaseSource& source) {
  visit.required("case", source.info.name);
  visit.required("folder", source.folder);
}

// Without rtol and atol, the tolerance is that of each dtype.
template <class Visit>
void fields(const Visit& visit, ToleranceRule& rule) {
  std::optional<double> rtol;
  std::optional<double> atol;
  if (!rule.by_dtype) {
    rtol = rule.fixed.rtol;
    atol = rule.fixed.atol;
  }
  visit("rtol", rtol);
  visit("atol", atol);
  visit("outputs", rule.outputs);
  if constexpr (Visit::kReads) {
    rule.by_dtype = !rtol || !atol;
    if (!rule.by_dtype) rule.fixed = {.rtol = *rtol, .atol = *atol};
  }
}

// The settings that make a difference for results, in results.json; processes exchange all.
struct ComparedSettings {
  RunSettings& of;
};

template <class Visit>
void fields(const Visit& visit, ComparedSettings& settings) {
  RunSettings& value = settings.of;
  TORCH_IR_VISIT(seed, tolerance, tolerance_wins)
  visit("reference", value.criterion.reference);
  visit("compute_dtype", value.criterion.arithmetic);
  TORCH_IR_VISIT(trials, threads, optimization, device, backend, executor, scale)
  if (Visit::kReads && value.scale == Scale::kFull) value.last_stage = Stage::kSerialize;
}

template <class Visit>
void fields(const Visit& visit, RunSettings& value) {
  ComparedSettings compared{value};
  fields(visit, compared);
  TORCH_IR_VISIT(last_stage, repeat, executor_is_server, executor_intermediates, per_node,
                 save_tensors, requires_support, save_values, search_seconds, steps, carry)
}

// Of a list that holds only the first values: all of them are `count`.
template <class T>
struct Shortened {
  int64_t& count;
  std::vector<T>& values;
};

template <class Visit, class T>
void fields(const Visit& visit, Shortened<T>& value) {
  TORCH_IR_VISIT(count, values)
}

// Remarks in order, without empty ones.
template <class Visit>
void visit_notes(const Visit& visit, const std::vector<std::string*>& texts) {
  std::vector<std::string> notes;
  for (const std::string* text : texts) {
    if (!text->empty()) notes.push_back(*text);
  }
  visit("notes", notes);
  if constexpr (Visit::kReads) {
    for (size_t i = 0; i < std::min(notes.size(), texts.size()); ++i) *texts[i] = notes[i];
  }
}

struct WorstElement {
  std::vector<int64_t>& index;
  std::string& actual;
  std::string& expected;
};

TORCH_IR_FIELDS(WorstElement, index, actual, expected)

template <class Visit>
void fields(const Visit& visit, TensorComparison& value) {
  WorstElement worst{value.worst_index, value.worst_actual, value.worst_expected};
  visit("problem", value.mismatch);
  TORCH_IR_VISIT(shape, dtype, max_diff, mean_diff, max_relative_diff, root_mean_square_diff,
                 cosine_similarity, signal_to_noise, max_ulp_diff, histogram, num_nan, num_elements,
                 num_mismatched)
  visit("worst", worst);
  TORCH_IR_VISIT(smallest_passing_tolerance)
  if constexpr (Visit::kReads) {
    value.is_close = !value.dtype.empty() && value.mismatch.empty() && value.num_mismatched == 0;
  }
}

TORCH_IR_FIELDS(OwnError, rms_ratio, max_ratio, slope, mean, signal_to_noise, problem)

template <class Visit>
void place_fields(const Visit& visit, ValueDetail& value) {
  TORCH_IR_VISIT(index, node, op_type, value, module)
}

template <class Visit>
void fields(const Visit& visit, LostValue& value) {
  place_fields(visit, value.place);
  TORCH_IR_VISIT(kind)
}

template <class Visit>
void fields(const Visit& visit, NodeLoss& value) {
  place_fields(visit, value.place);
  TORCH_IR_VISIT(signal_to_noise, loss)
}

template <class Visit>
void fields(const Visit& visit, ArithmeticReport::Output& value) {
  const std::string lost = "not held";
  std::string problem = value.is_lost ? lost : value.doubt;
  visit("value", value.name);
  TORCH_IR_VISIT(signal_to_noise)
  visit("problem", problem);
  if constexpr (Visit::kReads) {
    value.is_lost = problem == lost;
    if (!value.is_lost) value.doubt = problem;
  }
}

template <class Visit>
void fields(const Visit& visit, ArithmeticReport& value) {
  visit("compute_dtype", value.arithmetic);
  TORCH_IR_VISIT(first_lost, outputs, losses, problem)
}

TORCH_IR_FIELDS(StepCounts, num_off_by_one, num_off_by_more)

template <class Visit>
void fields(const Visit& visit, ValueDetail& value) {
  place_fields(visit, value);
  TORCH_IR_VISIT(source, group, output, state, tolerance, comparison, own_error, steps)
  visit("passed_by", value.basis);
  TORCH_IR_VISIT(problem)
}

TORCH_IR_FIELDS(TensorStatistics, name, shape, dtype, num_elements, num_nan, num_inf, min, max,
                mean, standard_deviation)

template <class Visit>
void fields(const Visit& visit, Divergence& value) {
  fields(visit, value.node);
  TORCH_IR_VISIT(inputs, actual, expected)
}

TORCH_IR_FIELDS(NodeReport::Skipped, value, reason)

template <class Visit>
void fields(const Visit& visit, NodeError& value) {
  TORCH_IR_VISIT(index, max_diff)
  visit("rms_ratio", value.own_error);
}

template <class Visit>
void fields(const Visit& visit, NodeReport& value) {
  Shortened not_judged{value.num_not_judged, value.not_judged};
  Shortened exonerated{value.num_exonerated, value.exonerated};
  Shortened not_compared{value.num_skipped, value.skipped};
  Shortened unknown{value.num_unknown, value.unknown};
  TORCH_IR_VISIT(num_compared, num_right_locally, num_other_choices, num_mismatched,
                 first_divergence, worst, errors)
  visit("exonerated", exonerated);
  visit("not_judged", not_judged);
  visit("not_compared", not_compared);
  visit("unknown", unknown);
  TORCH_IR_VISIT(num_not_handed_back, groups, num_inside)
  visit("problem", value.error);
  visit_notes(visit, {&value.note});
}

TORCH_IR_FIELDS(ExpectedFailure, kind, reason)
TORCH_IR_FIELDS(Threshold, place, signal_to_noise, cosine_similarity)

template <class Visit>
void fields(const Visit& visit, Trial& trial) {
  visit.required("name", trial.name);
  VerificationReport& value = trial.verification;
  TORCH_IR_VISIT(max_diff, mean_diff)
  visit("problem", value.error_message);
  TORCH_IR_VISIT(tolerance)
  visit("reference", value.criterion.reference);
  visit("compute_dtype", value.criterion.arithmetic);
  visit("agreed", value.criterion.agreed);
  TORCH_IR_VISIT(passed_by, graph_problem, rounded, arithmetic)
  visit_notes(visit, {&value.reference_note, &value.graph_note});
  visit("outputs", value.output_details);
  TORCH_IR_VISIT(not_compared)
  if constexpr (Visit::kReads) {
    value.is_valid = value.error_message.empty();
    if (value.arithmetic) value.arithmetic->has_executor = value.criterion.arithmetic.has_value();
  }
}

template <class Visit>
void fields(const Visit& visit, ComparedValue& value) {
  TORCH_IR_VISIT(op_type, module)
  visit("expected", value.floating);
  visit("actual", value.quantized);
  visit("signal_to_noise", value.sqnr);
  visit("input_signal_to_noise", value.input_sqnr);
  TORCH_IR_VISIT(num_saturated)
}

template <class Visit>
void fields(const Visit& visit, FloatComparison& value) {
  Shortened unmatched{value.num_unmatched, value.unmatched};
  visit("path", value.file);
  TORCH_IR_VISIT(values)
  visit("unmatched", unmatched);
  TORCH_IR_VISIT(num_folded)
  visit("problem", value.error);
}

template <class Visit>
void fields(const Visit& visit, GraphSummary& value) {
  for (const auto& [key, member] : kGraphFigures) visit(key, value.figures.*member);
  fields(visit, value.costs);
  visit.required("fingerprint", value.fingerprint);
}

// The files of a model, relative to the folder of results.json.
inline std::vector<std::string> files_of(const Result& result) {
  const std::string& name = result.name;
  std::vector<std::string> files = {name + ".md"};
  const auto add = [&](bool is_there, const std::string& file) {
    if (is_there) files.push_back(file);
  };
  add(result.num_passed_stages > static_cast<size_t>(Stage::kSerialize), "ir/" + name + ".json");
  add(result.graph_summary() && result.picture_problem.empty(), "svg/" + name + ".svg");
  add(result.reproducer.has_value(), "repro/" + name);
  add(result.has_values, values_file(name));
  return files;
}

template <class Visit>
void model_fields(const Visit& visit, Result& value) {
  std::optional<GraphSummary> graph = value.graph_summary();
  std::vector<std::string> files = files_of(value);
  TORCH_IR_VISIT(sizes)
  visit.nullable("graph", graph);
  TORCH_IR_VISIT(kept_trial, trials, not_tried)
  visit.nullable("node_report", value.nodes);
  TORCH_IR_VISIT(against)
  visit.nullable("reproducer", value.reproducer);
  visit("files", files);
  if constexpr (Visit::kReads) {
    value.summary = std::move(graph);
    value.has_values = std::ranges::find(files, values_file(value.name)) != files.end();
  }
}

// All fields but the graph, which has its own file. Only messages between processes have the last
// three (write_result).
template <class Visit>
void fields(const Visit& visit, Result& value) {
  Status status = value.status();
  Stage stage = value.stage();
  DifferenceMetrics metrics = difference_metrics(value);
  visit.required("name", value.name);
  TORCH_IR_VISIT(description)
  visit.required("categories", value.categories);
  visit.nullable("origin", value.origin);
  TORCH_IR_VISIT(call)
  visit.required("status", status);
  visit.required("stage", stage);
  visit.nullable("failure", value.failure);
  visit.nullable("expected_failure", value.expected_failure);
  visit("reason", value.unsupported);
  visit.nullable("max_diff", metrics.max_diff);
  visit.nullable("smallest_passing_tolerance", metrics.smallest_passing_tolerance);
  TORCH_IR_VISIT(own_error, passed_by, executor, varies)
  if (Visit::kReads || !value.call) model_fields(visit, value);
  TORCH_IR_VISIT(is_searching, current_trial, current_trial_name)
  if constexpr (Visit::kReads) {
    const bool is_done = status == Status::kPassed || status == Status::kNotHeld ||
                         status == Status::kExtracted || status == Status::kUnexpectedPass;
    value.num_passed_stages = static_cast<size_t>(stage) + (is_done ? 1 : 0);
    if (value.trials.empty()) value.metrics = metrics;
  }
}

TORCH_IR_FIELDS(Selection, suite, operators, dtypes, models, categories)

template <class Visit>
void fields(const Visit& visit, Coverage& value) {
  std::vector<ModelFiles> files;
  for (const ModelFiles& given : value.files) files.push_back(as_typed(given));
  fields(visit, value.selection);
  visit("split", value.is_split);
  visit("interrupted", value.is_interrupted);
  visit("files", files);
  TORCH_IR_VISIT(num_registered)
  if constexpr (Visit::kReads) value.files = std::move(files);
}

// All of a file but `notes` and `changes`.
template <class Visit>
void fields(const Visit& visit, RunRecord& run) {
  using json_fields::Problem;
  RunContext& context = run.context;
  std::string format = kResultsFormat;
  int64_t version = kResultsVersion;
  std::string command = reproduce_command(run.coverage, context);
  std::vector<std::string> words = reproduce_words(run.coverage, context);
  ComparedSettings settings{context.settings};
  visit.required("format", format);
  if (format != kResultsFormat) {
    throw Problem{fmt::format("expected '{}', found '{}'", kResultsFormat, printable(format)),
                  "/format"};
  }
  visit.required("version", version);
  if (version != kResultsVersion) {
    throw Problem{fmt::format("unsupported version {}; this program reads version {}, so repeat "
                              "that run with it",
                              version, kResultsVersion),
                  "/version"};
  }
  visit("command", command);
  visit.required("words", words);
  visit.required("environment", context.environment);
  visit.required("settings", settings);
  visit.required("coverage", run.coverage);
  visit.required("models", run.results);
  visit.required("cases", run.cases);
  if constexpr (Visit::kReads) context.words = std::move(words);
}

TORCH_IR_FIELDS(FigureChange, what, before, now, trend)

}  // namespace torch_ir
