#include "torch_ir/operators/random_state.h"

#include <ATen/CPUGeneratorImpl.h>

#include <cstring>
#include <mutex>

namespace torch_ir {

at::Tensor RandomState::current() {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  return generator.get_state();
}

bool RandomState::has_moved() const {
  const at::Tensor now = current();
  return std::memcmp(now.const_data_ptr(), state_.const_data_ptr(), state_.nbytes()) != 0;
}

void RandomState::restore() const {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_state(state_);
}

}  // namespace torch_ir
