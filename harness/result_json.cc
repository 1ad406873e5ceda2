#include "torch_ir/harness/result_json.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/executor/optimization_name.h"
#include "torch_ir/ir/json.h"

namespace torch_ir {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no non-finite numbers.
Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double to_double(const Json& json) {
  if (json.is_number()) return json.get<double>();
  const std::string text = json.get<std::string>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  return text == "inf" ? std::numeric_limits<double>::infinity()
                       : -std::numeric_limits<double>::infinity();
}

Json write(const Tolerance& tolerance) {
  return {{"rtol", tolerance.rtol}, {"atol", tolerance.atol}};
}

Tolerance read_tolerance(const Json& json) {
  return {.rtol = json.at("rtol").get<double>(), .atol = json.at("atol").get<double>()};
}

Optimization read_optimization(const Json& json) {
  return parse_optimization(json.at("optimization").get<std::string>());
}

Json write(const OutputDetail& detail) {
  const TensorComparison& c = detail.comparison;
  return {{"index", detail.index},
          {"name", detail.name},
          {"is_close", c.is_close},
          {"mismatch", c.mismatch},
          {"shape", c.shape},
          {"dtype", c.dtype},
          {"max_diff", number(c.max_diff)},
          {"mean_diff", number(c.mean_diff)},
          {"num_elements", c.num_elements},
          {"num_mismatched", c.num_mismatched},
          {"worst_index", c.worst_index},
          {"worst_actual", c.worst_actual},
          {"worst_expected", c.worst_expected},
          {"smallest_passing_tolerance", number(c.smallest_passing_tolerance)}};
}

OutputDetail read_output(const Json& json) {
  OutputDetail detail;
  detail.index = json.at("index").get<int64_t>();
  detail.name = json.at("name").get<std::string>();
  TensorComparison& c = detail.comparison;
  c.is_close = json.at("is_close").get<bool>();
  c.mismatch = json.at("mismatch").get<std::string>();
  c.shape = json.at("shape").get<std::vector<int64_t>>();
  c.dtype = json.at("dtype").get<std::string>();
  c.max_diff = to_double(json.at("max_diff"));
  c.mean_diff = to_double(json.at("mean_diff"));
  c.num_elements = json.at("num_elements").get<int64_t>();
  c.num_mismatched = json.at("num_mismatched").get<int64_t>();
  c.worst_index = json.at("worst_index").get<std::vector<int64_t>>();
  c.worst_actual = json.at("worst_actual").get<std::string>();
  c.worst_expected = json.at("worst_expected").get<std::string>();
  c.smallest_passing_tolerance = to_double(json.at("smallest_passing_tolerance"));
  return detail;
}

Json write(const VerificationReport& report) {
  Json outputs = Json::array();
  for (const OutputDetail& detail : report.output_details) outputs.push_back(write(detail));
  Json json = {{"is_valid", report.is_valid},
               {"max_diff", number(report.max_diff)},
               {"mean_diff", number(report.mean_diff)},
               {"error_message", report.error_message},
               {"tolerance", write(report.tolerance)}};
  if (report.optimization) json["optimization"] = optimization_name(*report.optimization);
  json["outputs"] = std::move(outputs);
  return json;
}

VerificationReport read_verification(const Json& json) {
  VerificationReport report;
  report.is_valid = json.at("is_valid").get<bool>();
  report.max_diff = to_double(json.at("max_diff"));
  report.mean_diff = to_double(json.at("mean_diff"));
  report.error_message = json.at("error_message").get<std::string>();
  report.tolerance = read_tolerance(json.at("tolerance"));
  if (json.contains("optimization")) report.optimization = read_optimization(json);
  for (const Json& output : json.at("outputs"))
    report.output_details.push_back(read_output(output));
  return report;
}

Json write(const Failure& failure) {
  return {{"stage", static_cast<int>(failure.stage)},
          {"message", failure.message},
          {"output", failure.output}};
}

Failure read_failure(const Json& json) {
  return {.stage = kStages.at(json.at("stage").get<size_t>()),
          .message = json.at("message").get<std::string>(),
          .output = json.at("output").get<std::string>()};
}

// A name, or an archive.
Json write(const ModelSource& source) {
  if (const auto* name = std::get_if<std::string>(&source)) return *name;
  const Archive& archive = std::get<Archive>(source);
  return {{"name", archive.name},
          {"path", archive.path},
          {"inputs", archive.inputs},
          {"expected", archive.expected}};
}

ModelSource read_source(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  return Archive{.name = json.at("name").get<std::string>(),
                 .path = json.at("path").get<std::string>(),
                 .inputs = json.at("inputs").get<std::string>(),
                 .expected = json.at("expected").get<std::string>()};
}

Json write(const Origin& origin) {
  return {{"archive", origin.archive}, {"inputs", origin.inputs}, {"expected", origin.expected}};
}

Origin read_origin(const Json& json) {
  return {.archive = json.at("archive").get<std::string>(),
          .inputs = json.at("inputs").get<std::string>(),
          .expected = json.at("expected").get<std::string>()};
}

// Messages of models may hold any bytes; those that are not UTF-8 are replaced.
std::string text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class Read>
auto parse(std::string_view text, const char* what, Read read) {
  try {
    return read(Json::parse(text));
  } catch (const std::exception& error) {
    throw Error(std::string("this is no ") + what + ": " + error.what());
  }
}

}  // namespace

std::string to_json(const RunRequest& request) {
  const RunSettings& settings = request.settings;
  return text({{"model", write(request.source)},
               {"seed", settings.seed},
               {"tolerance", write(settings.tolerance)},
               {"threads", settings.threads},
               {"optimization", optimization_name(settings.optimization)},
               {"device", settings.device.str()},
               {"save_tensors", settings.save_tensors}});
}

RunRequest run_request_from_json(std::string_view text) {
  return parse(text, "run request", [](const Json& json) {
    return RunRequest{.source = read_source(json.at("model")),
                      .settings = {.seed = json.at("seed").get<uint64_t>(),
                                   .tolerance = read_tolerance(json.at("tolerance")),
                                   .threads = json.at("threads").get<int>(),
                                   .optimization = read_optimization(json),
                                   .device = c10::Device(json.at("device").get<std::string>()),
                                   .save_tensors = json.at("save_tensors").get<bool>()}};
  });
}

std::string to_json(const ModelResult& result) {
  Json json = {{"name", result.name},
               {"description", result.description},
               {"categories", result.categories},
               {"num_passed_stages", result.num_passed_stages}};
  if (result.origin) json["origin"] = write(*result.origin);
  if (result.failure) json["failure"] = write(*result.failure);
  if (result.graph) json["graph"] = serialize_ir(*result.graph);
  if (result.verification) json["verification"] = write(*result.verification);
  return text(json);
}

ModelResult model_result_from_json(std::string_view text) {
  return parse(text, "model result", [](const Json& json) {
    ModelResult result;
    result.name = json.at("name").get<std::string>();
    result.description = json.at("description").get<std::string>();
    result.categories = json.at("categories").get<std::vector<std::string>>();
    result.num_passed_stages = json.at("num_passed_stages").get<size_t>();
    if (json.contains("origin")) result.origin = read_origin(json.at("origin"));
    if (json.contains("failure")) result.failure = read_failure(json.at("failure"));
    if (json.contains("graph")) result.graph = deserialize_ir(json.at("graph").get<std::string>());
    if (json.contains("verification")) {
      result.verification = read_verification(json.at("verification"));
    }
    return result;
  });
}

}  // namespace torch_ir
