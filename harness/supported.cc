#include "torch_ir/harness/supported.h"

#include <c10/util/Exception.h>

#include <exception>
#include <memory>
#include <string>
#include <variant>

#include "torch_ir/base/error.h"
#include "torch_ir/harness/candidate.h"
#include "torch_ir/harness/stages.h"
#include "torch_ir/models/registry.h"

namespace torch_ir {
namespace {

const RegisteredModel& find_model(const std::vector<RegisteredModel>& registered,
                                  const std::string& name) {
  for (const RegisteredModel& model : registered) {
    if (model.name == name) return model;
  }
  throw Error("no model is registered as '" + name + "'");
}

std::string error_text(const std::exception& exception) {
  const auto* error = dynamic_cast<const c10::Error*>(&exception);
  return error != nullptr ? error->what_without_backtrace() : exception.what();
}

IR extract_archive(const Archive& archive) { return make_candidate(archive, 0)->extract(); }

// Without the values of weights and constants, which nobody asks for.
IR extract_registered(const RegisteredModel& model) {
  return extract(model, Subject{.model = ModelFn(), .weights = StateDict(), .inputs = {}});
}

}  // namespace

std::vector<GraphOperators> operators_of(const std::vector<ModelSource>& models) {
  const std::vector<RegisteredModel> registered = list_models();
  std::vector<GraphOperators> result;
  for (const ModelSource& source : models) {
    const auto* archive = std::get_if<Archive>(&source);
    const RegisteredModel* model =
        archive == nullptr ? &find_model(registered, name_of(source)) : nullptr;
    try {
      const IR ir = archive != nullptr ? extract_archive(*archive) : extract_registered(*model);
      result.push_back(operators_of(name_of(source), ir));
    } catch (const std::exception& error) {
      result.push_back({.name = name_of(source), .operators = {}, .error = error_text(error)});
    }
  }
  return result;
}

}  // namespace torch_ir
