#include "harness/divergence/random_numbers.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <mutex>

namespace torch_ir {

at::Tensor generator_state() {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

void set_generator_state(const at::Tensor& state) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

RandomNumbers::RandomNumbers(uint64_t seed) {
  const at::Tensor outer = generator_state();
  at::manual_seed(seed);
  state_ = generator_state();
  set_generator_state(outer);
}

RandomNumbers::Use::Use(RandomNumbers& numbers) : numbers_(numbers), outer_(generator_state()) {
  set_generator_state(numbers.state_);
}

RandomNumbers::Use::~Use() {
  numbers_.state_ = generator_state();
  set_generator_state(outer_);
}

}  // namespace torch_ir
