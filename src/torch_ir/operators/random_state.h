// RandomState: the state of the CPU's random number generator. Detects whether a call draws
// numbers, and undoes draws that a user should not notice.
#pragma once

#include <ATen/core/Tensor.h>

namespace torch_ir {

class RandomState {
 public:
  RandomState() : state_(current()) {}

  bool has_moved() const;
  void restore() const;

 private:
  static at::Tensor current();

  at::Tensor state_;
};

// Restores the generator when it ends.
class RandomStateGuard {
 public:
  RandomStateGuard() = default;
  ~RandomStateGuard() { state_.restore(); }
  RandomStateGuard(const RandomStateGuard&) = delete;
  RandomStateGuard& operator=(const RandomStateGuard&) = delete;

 private:
  const RandomState state_;
};

}  // namespace torch_ir
