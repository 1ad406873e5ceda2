// Recipe: how a tensor among the arguments of a case is made. See call_text.h for what it can say.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace torch_ir {

struct Recipe {
  c10::ScalarType dtype = c10::ScalarType::Float;
  std::vector<int64_t> shape = {};
  std::vector<double> values = {};
  // "0.1..4", "transposed", ..., in order.
  std::vector<std::string> words = {};
};

// The tensor `name` of the case `case_name`: the same bits everywhere. Throws Error for a word that
// does not exist.
at::Tensor make_tensor(const Recipe& recipe, const std::string& case_name, const std::string& name);

}  // namespace torch_ir
