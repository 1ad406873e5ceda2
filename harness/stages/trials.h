// Trials: the inputs that a model is tried with. One lucky draw proves little.
//
// Called by the candidates. The first trial has the normal values of the model, the second zeros
// and ones, the third large magnitudes, all further ones other normal values. Each depends on the
// seed and the names of model and input only, see weights/seeded_tensor.h.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/registry/registry.h"
#include "torch_ir/weights/seeded_tensor.h"

namespace torch::nn {
class Module;
}

namespace torch_ir {

// By how much large magnitudes exceed normal values.
inline constexpr double kLargeMagnitude = 1e3;

// "normal values", "zeros and ones", "large magnitudes", "normal values 2", ...; trials count from
// 0.
std::string trial_name(int trial);

// `message`, and at the end of its first line which inputs it took to see that: "It differs (with
// zeros and ones)." As it is for the first trial.
std::string with_trial(std::string message, int trial);

struct TrialInput {
  std::string name;
  // What the first trial has.
  at::Tensor normal;
  // Of its normal values. Where nobody knows it, whole numbers and booleans stay what they are:
  // they may be indices.
  std::optional<ValueRange> range = std::nullopt;
};

// What `trial` has in place of `input.normal`, in its shape and dtype. Whole numbers never leave
// their range: small ones are those nearest to 0 and 1, large ones its ends.
at::Tensor trial_values(int trial, const TrialInput& input, uint64_t seed,
                        const std::string& model);

// The weights and inputs of one model are those of weights/seeded_tensor.h, under its names.

// The inputs of `model`, uniform in their ranges.
std::vector<at::Tensor> seeded_inputs(const ModelSpec& spec, uint64_t seed,
                                      const std::string& model);

// Gives the parameters of `module` values in their parameter_range, and those buffers that have a
// buffer_range. Other buffers keep the values that the module gave them.
void fill_weights(torch::nn::Module& module, uint64_t seed, const std::string& model);

}  // namespace torch_ir
