#include "harness/results/result_json.h"

#include "harness/results/result_fields.h"
#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using json_fields::Json;

// A name, or files.
Json write_source(const ModelSource& source) {
  if (const auto* name = std::get_if<std::string>(&source)) return *name;
  const ModelFiles& files = std::get<ModelFiles>(source);
  return {
      {"format", flag_of(files.format)}, {"name", files.name},     {"path", files.path},
      {"weights", files.weights},        {"inputs", files.inputs}, {"expected", files.expected}};
}

ModelSource read_source(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  const bool is_graph = json.at("format") == flag_of(FileFormat::kGraph);
  return ModelFiles{.format = is_graph ? FileFormat::kGraph : FileFormat::kArchive,
                    .name = json.at("name").get<std::string>(),
                    .path = json.at("path").get<std::string>(),
                    .weights = json.at("weights").get<std::string>(),
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
  Json json = {{"model", write_source(request.source)},
               {"settings", json_fields::write(request.settings)}};
  if (request.reproduces_trial) json["reproduces_trial"] = *request.reproduces_trial;
  return text(json);
}

RunRequest run_request_from_json(std::string_view text) {
  return parse(text, "run request", [](const Json& json) {
    RunRequest request{.source = read_source(json.at("model")), .settings = {}};
    json_fields::read(json.at("settings"), request.settings);
    if (json.contains("reproduces_trial")) {
      request.reproduces_trial = json["reproduces_trial"].get<int>();
    }
    return request;
  });
}

std::string to_json(const ModelResult& result) { return text(json_fields::write(result)); }

ModelResult model_result_from_json(std::string_view text) {
  return parse(text, "model result", [](const Json& json) {
    ModelResult result;
    json_fields::read(json, result);
    return result;
  });
}

}  // namespace torch_ir
