// RandomState: where the generator of random numbers for the CPU stands.
//
// For those who run operators that nobody asked for (to learn shapes, to record calls), and must
// not change what is drawn after; and to learn whether a call draws at all.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

namespace torch_ir {

class RandomState {
 public:
  // As it is now.
  RandomState();

  // Whether anything was drawn since.
  bool has_moved() const;
  void restore() const;

 private:
  at::Tensor current() const;

  at::Generator generator_;
  at::Tensor state_;
};

// Puts the generator back when it ends.
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
