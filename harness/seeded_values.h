// Seeded values: the weights and inputs that the harness verifies with.
//
// A value depends on the seed, the model's name, the tensor's name and the element's index, and on
// nothing else: not on the machine, the compiler, the version of LibTorch, or on what ran before.
// Element i of a tensor is splitmix64's output number i for a key hashed from the three; a range
// is a whole number of steps of 2^-20, so every value is made by integer arithmetic, exactly.
#ifndef TORCH_IR_HARNESS_SEEDED_VALUES_H_
#define TORCH_IR_HARNESS_SEEDED_VALUES_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/models/registry.h"

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

  // Gives the parameters of `module` values with which activations neither vanish nor explode:
  // matrices and kernels uniform with variance 1 / fan-in, vectors called "weight" (scales of
  // normalizations) around 1, all other vectors around 0. Running means are around 0, running
  // variances around 1. Other buffers keep the values that the module gave them.
  void fill(torch::nn::Module& module) const;

  // A tensor called `name`, uniform in [low, high); whole numbers for integer dtypes.
  at::Tensor tensor(std::string_view name, at::IntArrayRef shape, at::ScalarType dtype, double low,
                    double high) const;

 private:
  uint64_t seed_;
  std::string model_name_;
};

}  // namespace torch_ir

#endif  // TORCH_IR_HARNESS_SEEDED_VALUES_H_
