#include "harness/results/result_json.h"

#include "harness/results/result_fields.h"
#include "torch_ir/base/error.h"

namespace torch_ir {

template <class Visit>
void fields(const Visit& visit, EndedProcess& ended) {
  visit.required("trial", ended.trial);
  visit.required("kind", ended.kind);
  visit.required("timeout", ended.timeout);
  visit("memory_limit", ended.memory_limit);
}

template <class Visit>
void fields(const Visit& visit, RunRequest& request) {
  visit.required("model", request.source);
  visit.required("settings", request.settings);
  visit("reproduces", request.reproduces);
}

namespace {

template <class T>
std::string text_of(const T& value) {
  // Messages of models may hold any bytes; those that are not UTF-8 are replaced.
  using json_fields::Json;
  return json_fields::write(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class T>
T parse(std::string_view text, const char* what) {
  try {
    T value;
    json_fields::parse(text, [&](const auto& json) { json_fields::read(json, value); });
    return value;
  } catch (const SerializationError& error) {
    throw Error(std::string("this is no ") + what + ": " + error.what());
  }
}

}  // namespace

std::string to_json(const RunRequest& request) { return text_of(request); }
std::string to_json(const ModelResult& result) { return text_of(result); }

RunRequest run_request_from_json(std::string_view text) {
  return parse<RunRequest>(text, "run request");
}

ModelResult model_result_from_json(std::string_view text) {
  return parse<ModelResult>(text, "model result");
}

}  // namespace torch_ir
