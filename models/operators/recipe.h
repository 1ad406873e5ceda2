// Recipe: how a tensor among the arguments of a case is made. See common.cases for what it can say.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/weights/seeded_tensor.h"

namespace torch_ir {

struct Recipe {
  c10::ScalarType dtype = c10::ScalarType::Float;
  std::vector<int64_t> shape = {};
  std::vector<double> values = {};
  // Of seeded values; the usual one of the dtype where there is none.
  std::optional<ValueRange> range = {};
  // "transposed", "with_nan", ..., in order; each one is_recipe_word.
  std::vector<std::string_view> words = {};
};

bool is_recipe_word(std::string_view word);

// The tensor `name` of the case `case_name`: the same bits everywhere.
at::Tensor make_tensor(const Recipe& recipe, const std::string& case_name, const std::string& name);

}  // namespace torch_ir
