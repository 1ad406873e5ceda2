// Seeded values: the weights and inputs that the harness verifies with.
//
// They are those of weights/seeded_tensor.h, under the names of the model.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/registry/registry.h"

namespace torch::nn {
class Module;
}

namespace torch_ir {

// Values of one model. A copy gives the same values.
class SeededValues {
 public:
  SeededValues(uint64_t seed, std::string model_name);

  // The inputs of the model, uniform in their ranges.
  std::vector<at::Tensor> inputs(const ModelSpec& spec) const;

  // Gives the parameters of `module` values in their parameter_range, and those buffers that have a
  // buffer_range. Other buffers keep the values that the module gave them.
  void fill(torch::nn::Module& module) const;

  // A tensor called `name`, uniform in [low, high); whole numbers for integer dtypes.
  at::Tensor tensor(std::string_view name, at::IntArrayRef shape, at::ScalarType dtype, double low,
                    double high) const;

 private:
  uint64_t seed_;
  std::string model_name_;
};

}  // namespace torch_ir
