#include "models/operators/recipe.h"

#include <ATen/Dispatch.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/argsort.h>
#include <ATen/ops/diag_embed.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <limits>

namespace torch_ir {
namespace {

using at::Tensor;

ValueRange usual_range(c10::ScalarType dtype) {
  if (dtype == c10::ScalarType::Byte) return {0, 16};
  if (c10::isIntegralType(dtype, /*includeBool=*/false)) return {-8, 8};
  return {-2, 2};
}

bool has_word(const Recipe& recipe, std::string_view word) {
  return std::ranges::find(recipe.words, word) != recipe.words.end();
}

// `values`, again and again, as a tensor of `shape`.
Tensor repeated(const Tensor& values, at::IntArrayRef shape) {
  const int64_t count = c10::multiply_integers(shape);
  if (count == 0) return at::empty(shape, values.options());
  const Tensor positions = at::arange(count).remainder(values.numel());
  return values.index_select(0, positions).reshape(shape);
}

template <class T>
std::vector<T> special_numbers() {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::has_infinity) {
    return {T(0.0f),
            T(-0.0f),
            T(1.0f),
            T(-1.0f),
            Limits::infinity(),
            -Limits::infinity(),
            Limits::quiet_NaN(),
            Limits::max(),
            Limits::lowest(),
            Limits::min(),
            -Limits::min(),
            T(0.5f)};
  } else {
    return {Limits::min(), T(Limits::min() + 1), T(0), T(1), T(Limits::max() - 1), Limits::max()};
  }
}

template <class T>
std::vector<T> denormal_numbers() {
  using Limits = std::numeric_limits<T>;
  const T half = Limits::min() / T(2.0f);
  return {Limits::denorm_min(), -Limits::denorm_min(), half, -half, Limits::min(), T(0.0f)};
}

template <class T>
Tensor tensor_of(const std::vector<T>& numbers) {
  const Tensor tensor =
      at::empty({static_cast<int64_t>(numbers.size())}, c10::CppTypeToScalarType<T>::value);
  std::ranges::copy(numbers, tensor.mutable_data_ptr<T>());
  return tensor;
}

Tensor special_values(const Recipe& recipe) {
  if (recipe.dtype == at::kBool) return at::tensor({0, 1}, at::kLong).to(at::kBool);
  return AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, recipe.dtype, "special",
                                    [] { return tensor_of(special_numbers<scalar_t>()); });
}

Tensor denormal_values(const Recipe& recipe) {
  return AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, recipe.dtype, "denormal",
                                         [] { return tensor_of(denormal_numbers<scalar_t>()); });
}

Tensor seeded_values(const Recipe& recipe, const std::string& case_name, const std::string& name) {
  const ValueRange range = recipe.range.value_or(usual_range(recipe.dtype));
  return seeded_tensor(0, case_name, name, recipe.shape, recipe.dtype, range);
}

Tensor distinct_values(const Recipe& recipe, const std::string& case_name,
                       const std::string& name) {
  const int64_t count = c10::multiply_integers(recipe.shape);
  const ValueRange range = recipe.range.value_or(usual_range(recipe.dtype));
  const bool is_whole = c10::isIntegralType(recipe.dtype, /*includeBool=*/true);
  const double step =
      is_whole ? 1 : (range.high - range.low) / static_cast<double>(std::max<int64_t>(count, 1));
  const Tensor order =
      at::argsort(seeded_tensor(0, case_name, name, {count}, at::kDouble, {0, 1}), /*stable=*/true);
  return (order.to(at::kDouble) * step + range.low).to(recipe.dtype).reshape(recipe.shape);
}

Tensor given_values(const Recipe& recipe) {
  const bool is_whole = c10::isIntegralType(recipe.dtype, /*includeBool=*/true);
  Tensor numbers = tensor_of(recipe.values);
  // Large integers of int64 are not among explicit values: a double holds them all.
  if (is_whole) numbers = numbers.to(at::kLong);
  return repeated(numbers.to(recipe.dtype), recipe.shape);
}

Tensor values_of(const Recipe& recipe, const std::string& case_name, const std::string& name) {
  if (!recipe.values.empty()) return given_values(recipe);
  if (has_word(recipe, "special")) return repeated(special_values(recipe), recipe.shape);
  if (has_word(recipe, "denormal")) return repeated(denormal_values(recipe), recipe.shape);
  if (has_word(recipe, "distinct")) return distinct_values(recipe, case_name, name);
  return seeded_values(recipe, case_name, name);
}

// n, n + 1, ... on the diagonals of matrices: they outweigh all else, no two alike.
Tensor heavy_diagonal(const Tensor& matrices) {
  const int64_t n = matrices.size(-1);
  return at::diag_embed(at::arange(2 * n, 3 * n).to(matrices.scalar_type()));
}

Tensor with_nan(const Tensor& values) {
  values.view(-1)[1] = std::numeric_limits<double>::quiet_NaN();
  return values;
}

// The values in memory that is not contiguous.
Tensor laid_out(const Tensor& values, Tensor memory) { return memory.copy_(values); }

Tensor transposed(const Tensor& values) {
  return laid_out(values, at::empty_like(values.mT(), at::MemoryFormat::Contiguous).mT());
}

Tensor strided(const Tensor& values) {
  std::vector<int64_t> sizes = values.sizes().vec();
  sizes.back() = 2 * sizes.back() + 1;
  return laid_out(values, at::zeros(sizes, values.options())
                              .slice(-1, 1, std::nullopt, 2)
                              .narrow(-1, 0, values.size(-1)));
}

Tensor expanded(const Tensor& values) { return values.narrow(0, 0, 1).expand(values.sizes()); }

struct Word {
  std::string_view word;
  Tensor (*change)(const Tensor&);
};

// What is done with the values, in the order of the words.
constexpr std::array kWords = std::to_array<Word>({
    {"special", nullptr},
    {"denormal", nullptr},
    {"distinct", nullptr},
    {"with_nan", &with_nan},
    {"hermitian", [](const Tensor& it) { return (it + it.mH()) / 2 + heavy_diagonal(it); }},
    {"lower", [](const Tensor& it) { return (it + heavy_diagonal(it)).tril(); }},
    {"upper", [](const Tensor& it) { return (it + heavy_diagonal(it)).triu(); }},
    {"transposed", &transposed},
    {"strided", &strided},
    {"expanded", &expanded},
    {"channels_last",
     [](const Tensor& it) {
       return it.contiguous(it.dim() == 5 ? at::MemoryFormat::ChannelsLast3d
                                          : at::MemoryFormat::ChannelsLast);
     }},
});

}  // namespace

bool is_recipe_word(std::string_view word) {
  return std::ranges::find(kWords, word, &Word::word) != kWords.end();
}

Tensor make_tensor(const Recipe& recipe, const std::string& case_name, const std::string& name) {
  Tensor tensor = values_of(recipe, case_name, name);
  for (const std::string_view word : recipe.words) {
    const Word& found = *std::ranges::find(kWords, word, &Word::word);
    if (found.change != nullptr) tensor = found.change(tensor);
  }
  return tensor;
}

}  // namespace torch_ir
