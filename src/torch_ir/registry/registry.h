// The model registry: the test graphs that the harness and the benchmarks run.
//
// A model is a torch::nn module and one REGISTER_MODEL.
//
//   REGISTER_MODEL(SelfAttention,
//                  {.inputs = {{.shape = {1, 16, 64}}},
//                   .categories = {"attention"},
//                   .description = "Multi-head self-attention"});
//
// registers the module holder `SelfAttention`, made by its default constructor, under its name.
// REGISTER_MODEL_AS registers the result of an expression under any name, such as the same module
// in its published size, with `.scale = Scale::kFull`.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/base/failure_kind.h"
#include "torch_ir/base/tolerance.h"
#include "torch_ir/exporter/capture/model.h"

namespace torch_ir {

// An example input: its full shape, including the batch, and the range of its values.
struct ModelInput {
  // If empty, "x", or "x1", "x2", ... for models with several inputs.
  std::string name = {};
  std::vector<int64_t> shape = {};
  c10::ScalarType dtype = c10::ScalarType::Float;
  // Values are uniform in [low, high); integers for integer dtypes.
  double low = -1;
  double high = 1;
};

// Marks a model that is known to fail, and why. If it then passes, or fails in another way, that is
// a failure until the registration is updated.
struct ExpectedFailure {
  FailureKind kind = FailureKind::kOutputMismatch;
  std::string reason = {};
};

enum class Scale {
  kTest,
  // As published: extracted without its weights, which may not fit into memory.
  kFull,
};

std::string_view scale_name(Scale scale);

// Throws Error, listing both names, for an unknown one.
Scale parse_scale(std::string_view name);

struct ModelSpec {
  std::vector<ModelInput> inputs = {};
  std::vector<std::string> categories = {};
  std::string description = {};
  // Applies to all floating-point outputs, in place of the harness's default.
  std::optional<Tolerance> tolerance = std::nullopt;
  // Apply to single outputs of any dtype, by position.
  std::map<size_t, Tolerance> output_tolerances = {};
  std::optional<ExpectedFailure> expected_failure = std::nullopt;
  Scale scale = Scale::kTest;
};

struct RegisteredModel {
  std::string name;
  ModelSpec spec;
  // Makes a new module, in training mode, with the values of its constructor.
  std::function<Model()> make;
};

// Throws Error if the name is taken or cannot be a file name, or if the spec has no input or no
// category.
void register_model(std::string name, ModelSpec spec, std::function<Model()> make);

// Sorted by name. Thread-safe, as models register themselves before main, in any order.
std::vector<RegisteredModel> list_models(Scale scale = Scale::kTest);

std::vector<std::string> list_categories(Scale scale = Scale::kTest);

// Finds a model of any scale. Throws Error for an unknown name.
const RegisteredModel& find_model(const std::string& name);

}  // namespace torch_ir

#define REGISTER_MODEL(Module, ...) REGISTER_MODEL_AS(Module, #Module, Module(), __VA_ARGS__)

// `id` distinguishes the registrations of a file.
#define REGISTER_MODEL_AS(id, name, module, ...)                          \
  static const bool torch_ir_registered_##id = [] {                       \
    ::torch_ir::register_model(name, ::torch_ir::ModelSpec __VA_ARGS__,   \
                               [] { return ::torch_ir::Model(module); }); \
    return true;                                                          \
  }()
