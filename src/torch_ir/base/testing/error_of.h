// error_of: the message of the error that a call throws.
#pragma once

#include <exception>
#include <string>

namespace torch_ir {

// Without the backtrace of a c10::Error; empty if `call` throws nothing.
template <class Thrown = std::exception, class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Thrown& error) {
    if constexpr (requires { error.what_without_backtrace(); }) {
      return error.what_without_backtrace();
    } else {
      return error.what();
    }
  }
  return "";
}

}  // namespace torch_ir
