// The model registry: the test graphs that the harness and the benchmarks run.
//
// A model is one file: a torch::nn module, written as any user would write it, and
// one REGISTER_MODEL. Nothing here knows what is done with a model.
//
//   REGISTER_MODEL(SelfAttention,
//                  {.inputs = {{.shape = {1, 16, 64}}},
//                   .categories = {"attention"},
//                   .description = "Multi-head self-attention"});
//
// registers the module holder `SelfAttention`, made by its default constructor, under its name.
// REGISTER_MODEL_AS registers what an expression makes, under any name: the same module in the size
// of a model that was published, with `.scale = Scale::kFull`.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/exporter/capture/model.h"
#include "torch_ir/registry/failure_kind.h"
#include "torch_ir/verifier/tolerance.h"

namespace torch_ir {

// An example input: its full shape, batch included, and the values it may have.
struct ModelInput {
  // When empty "x", or "x1", "x2", ... for models with several inputs.
  std::string name = {};
  std::vector<int64_t> shape = {};
  c10::ScalarType dtype = c10::ScalarType::Float;
  // Values are uniform in [low, high); integers for integer dtypes.
  double low = -1;
  double high = 1;
};

// That a model fails, and why this is known and left. A model that then passes, or fails in
// another way, is a failure until its registration says so.
struct ExpectedFailure {
  FailureKind kind = FailureKind::kOutputMismatch;
  std::string reason = {};
};

enum class Scale {
  // Small, to be run.
  kTest,
  // As published: to be extracted without its weights, for which no machine has to have the memory.
  kFull,
};

// "test", "full".
std::string_view scale_name(Scale scale);

// The inverse. Throws Error, naming both, for another name.
Scale parse_scale(std::string_view name);

struct ModelSpec {
  std::vector<ModelInput> inputs = {};
  std::vector<std::string> categories = {};
  std::string description = {};
  // Of all outputs of floating point, in place of the harness's own: integers and booleans are
  // compared exactly.
  std::optional<Tolerance> tolerance = std::nullopt;
  // Of single outputs, whatever their dtype, by their position.
  std::map<size_t, Tolerance> output_tolerances = {};
  std::optional<ExpectedFailure> expected_failure = std::nullopt;
  Scale scale = Scale::kTest;
};

struct RegisteredModel {
  std::string name;
  ModelSpec spec;
  // A new module, in training mode as constructed; its values are whatever its constructor left.
  std::function<Model()> make;
};

// Adds a model. Throws Error when the name is taken or can not name a file, or the spec has no
// input or no category.
void register_model(std::string name, ModelSpec spec, std::function<Model()> make);

// All models of a scale, sorted by name.
std::vector<RegisteredModel> list_models(Scale scale = Scale::kTest);

// All categories that a model of a scale has, sorted.
std::vector<std::string> list_categories(Scale scale = Scale::kTest);

// The model of that name, of any scale. Throws Error where there is none.
const RegisteredModel& find_model(const std::string& name);

}  // namespace torch_ir

#define REGISTER_MODEL(Module, ...) REGISTER_MODEL_AS(Module, #Module, Module(), __VA_ARGS__)

// `id` tells the registrations of a file apart.
#define REGISTER_MODEL_AS(id, name, module, ...)                          \
  static const bool torch_ir_registered_##id = [] {                       \
    ::torch_ir::register_model(name, ::torch_ir::ModelSpec __VA_ARGS__,   \
                               [] { return ::torch_ir::Model(module); }); \
    return true;                                                          \
  }()
