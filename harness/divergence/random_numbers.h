// Random numbers for two runs side by side, each of which draws as if it ran alone.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace torch_ir {

// Where LibTorch's generator of the CPU is.
at::Tensor generator_state();
void set_generator_state(const at::Tensor& state);

// The numbers of one run that began with a seed. While a Use lives, operators draw from them, and
// after it again from where they drew before.
class RandomNumbers {
 public:
  explicit RandomNumbers(uint64_t seed);

  class Use {
   public:
    explicit Use(RandomNumbers& numbers);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    RandomNumbers& numbers_;
    at::Tensor outer_;
  };

 private:
  at::Tensor state_;
};

}  // namespace torch_ir
