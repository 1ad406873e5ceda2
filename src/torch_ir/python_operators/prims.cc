#include <ATen/TensorOperators.h>
#include <ATen/core/Generator.h>
#include <ATen/ops/_to_copy.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/copysign.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/prod.h>
#include <ATen/ops/sum.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "torch_ir/python_operators/definitions.h"

namespace torch_ir {
namespace {

using at::IntArrayRef;
using at::ScalarType;
using at::Tensor;

// Hands the arguments of an operator on to an operator of ATen: by name, otherwise by position.
class HandOn : public c10::OperatorKernel {
 public:
  HandOn(const c10::OperatorHandle& target, const c10::FunctionSchema& schema)
      : target_(target), is_unread_(schema.arguments().size(), true) {
    const std::vector<c10::Argument>& given = schema.arguments();
    for (const c10::Argument& argument : target.schema().arguments()) {
      const size_t place = sources_.size();
      const bool has_place = place < given.size() && !given[place].kwarg_only();
      const auto named = schema.argumentIndexWithName(argument.name());
      if (named || (has_place && !argument.kwarg_only())) {
        sources_.push_back({named ? static_cast<size_t>(*named) : place});
        is_unread_[*sources_.back().index] = false;
      } else {
        // Only the normalization of Fourier transforms has no default: there is none.
        sources_.push_back({std::nullopt, argument.default_value().value_or(0)});
      }
    }
  }

  void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack* stack) {
    const c10::ArrayRef<c10::IValue> given = torch::jit::last(*stack, is_unread_.size());
    for (size_t i = 0; i < given.size(); ++i) {
      // Plans have no gradients, so that `requires_grad` has no effect.
      TORCH_CHECK(!is_unread_[i] || given[i].isNone() || given[i].isBool(), "Unsupported argument ",
                  i, ", which PyTorch refuses too: ", given[i]);
    }
    torch::jit::Stack arguments;
    for (const Source& source : sources_) {
      arguments.push_back(source.index ? given[*source.index] : source.fixed);
    }
    torch::jit::drop(*stack, is_unread_.size());
    target_.callBoxed(arguments);
    std::ranges::move(arguments, std::back_inserter(*stack));
  }

 private:
  struct Source {
    std::optional<size_t> index;
    c10::IValue fixed = {};
  };

  c10::OperatorHandle target_;
  std::vector<Source> sources_;
  std::vector<bool> is_unread_;
};

// Operators that are one operator of ATen.
struct SameRow {
  const char* signature;
  // Of ATen's operators.
  const char* overload;
  // NAME, or NAME=ATEN_NAME.
  const char* names;
};

constexpr SameRow kSame[] = {
    {"(Tensor self) -> Tensor", "",
     "abs acos acosh asin asinh atan atanh bessel_i0=i0 bessel_i0e=special_i0e "
     "bessel_i1=special_i1 bessel_i1e=special_i1e bessel_j0=special_bessel_j0 "
     "bessel_j1=special_bessel_j1 bitwise_not ceil conj_physical=_conj_physical cos cosh digamma "
     "erf erf_inv=erfinv erfc erfcx=special_erfcx exp exp2 expm1 floor isfinite lgamma log log10 "
     "log1p log2 ndtri=special_ndtri neg reciprocal round rsqrt sign signbit sin sinh "
     "spherical_bessel_j0=special_spherical_bessel_j0 sqrt tan tanh trunc"},
    {"(Tensor self, Tensor other) -> Tensor", "",
     "atan2 fmax fmin gcd hypot igamma igammac maximum minimum nextafter zeta=special_zeta"},
    {"(Tensor self, Tensor other) -> Tensor", "Tensor",
     "add bitwise_and bitwise_or bitwise_xor eq fmod ge gt le lt mul ne remainder "
     "shift_left=bitwise_left_shift shift_right_arithmetic=bitwise_right_shift sub"},
    {"(Tensor self, Tensor other) -> Tensor", "Tensor_Tensor", "pow"},
    {"(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor", "", "amax amin"},
    {"(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor", "dim_IntList", "sum"},
    {"(Tensor inp, int[]? dims, float? correction=1, *, ScalarType? output_dtype=None) -> Tensor",
     "correction", "var"},
    {"(Tensor(a) self) -> Tensor(a)", "", "imag real"},
    {"(Tensor(a) a) -> Tensor(a)", "", "conj"},
    {"(Tensor(a) a, int[] dimensions) -> Tensor(a)", "dims", "squeeze"},
    {"(Tensor(a) a, int[] permutation) -> Tensor(a)", "", "transpose=permute"},
    {"(Tensor(a) a, ScalarType dtype) -> Tensor(a)", "dtype", "view_of_dtype=view"},
    {"(Tensor(a!) a, SymInt[] size, SymInt[] stride, SymInt storage_offset) -> Tensor(a!)", "",
     "as_strided"},
    {"(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt storage_offset) -> Tensor",
     "", "as_strided_scatter"},
    {"(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)", "",
     "_unsafe_index_put_=index_put_"},
    {"(Tensor(a!) a, Tensor b) -> Tensor(a!)", "", "copy_to=copy_"},
    {"(Tensor[] tensors, int dim) -> Tensor", "", "cat"},
    {"(Tensor a, int[] dims) -> Tensor", "", "rev=flip"},
    {"(Tensor pred, Tensor a, Tensor b) -> Tensor", "self", "where"},
    {"(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", "", "clone"},
    {"(Tensor self, Scalar value) -> Tensor", "Scalar", "fill"},
    {"(Tensor self) -> (Tensor mantissa, Tensor exponent)", "Tensor", "frexp"},
    {"(Tensor A, *, bool full_matrices) -> (Tensor U, Tensor S, Tensor Vh)", "", "svd=linalg_svd"},
    {"(Tensor self, *, int[] dim, bool forward) -> Tensor", "", "fft_c2c=_fft_c2c"},
    {"(Tensor self, *, int[] dim, SymInt last_dim_size) -> Tensor", "", "fft_c2r=_fft_c2r"},
    {"(Tensor self, *, int[] dim, bool onesided) -> Tensor", "", "fft_r2c=_fft_r2c"},
    {"(SymInt[] shape, *, ScalarType dtype, Device device, bool requires_grad) -> Tensor",
     "memory_format", "empty"},
    {"(SymInt[] shape, int[] physical_layout, *, ScalarType dtype, Device device, "
     "bool requires_grad) -> Tensor",
     "", "empty_permuted"},
    {"(SymInt[] shape, SymInt[] strides, *, ScalarType dtype, Device device, bool requires_grad)"
     " -> Tensor",
     "", "empty_strided"},
    {"(SymInt[] shape, Scalar fill_value, *, ScalarType dtype, Device device, bool requires_grad)"
     " -> Tensor",
     "", "full"},
    {"(Tensor a, Scalar fill_value, *, ScalarType dtype, Device device, bool requires_grad)"
     " -> Tensor",
     "", "full_like"},
    {"(Scalar s, *, ScalarType? dtype=None, Device? device=None) -> Tensor", "", "scalar_tensor"},
};

void add_same(const std::string& name, const SameRow& row, const std::string& aten_name,
              Definitions& definitions) {
  const auto target =
      c10::Dispatcher::singleton().findSchemaOrThrow(("aten::" + aten_name).c_str(), row.overload);
  const std::string schema = name + row.signature;
  definitions.add(schema,
                  torch::CppFunction::makeFromBoxedFunctor<HandOn>(
                      std::make_unique<HandOn>(target, torch::jit::parseSchema(schema))),
                  target.getTags().vec());
}

std::vector<int64_t> collapsed_shape(const Tensor& a, int64_t start, int64_t end) {
  std::vector<int64_t> shape = a.dim() == 0 ? std::vector<int64_t>{1} : a.sizes().vec();
  TORCH_CHECK(0 <= start && start <= end && end < std::ssize(shape), "Cannot collapse dimensions ",
              start, " to ", end, " of shape ", a.sizes());
  const auto first = shape.begin() + start;
  const auto last = shape.begin() + end + 1;
  *first = std::reduce(first, last, int64_t{1}, std::multiplies<>());
  shape.erase(first + 1, last);
  return shape;
}

Tensor broadcast_in_dim(const Tensor& a, IntArrayRef shape, IntArrayRef dimensions) {
  Tensor view = a;
  for (int64_t i = 0; i < std::ssize(shape); ++i) {
    if (std::ranges::find(dimensions, i) == dimensions.end()) view = view.unsqueeze(i);
  }
  return view.expand(shape);
}

Tensor split_dim(const Tensor& a, int64_t dim, int64_t outer_length) {
  TORCH_CHECK(dim >= 0 && outer_length > 0 && a.size(dim) % outer_length == 0,
              "Cannot split dimension ", dim, " of shape ", a.sizes(), " into ", outer_length,
              " parts");
  std::vector<int64_t> shape = a.sizes().vec();
  shape[dim] /= outer_length;
  shape.insert(shape.begin() + dim, outer_length);
  return a.view(shape);
}

// `_to_copy` changes the order of dimensions in memory that has gaps; Python's definition does not.
Tensor convert_prim(const Tensor& a, ScalarType dtype) {
  return a.is_non_overlapping_and_dense() ? at::_to_copy(a, dtype)
                                          : at::empty_like(a, a.options().dtype(dtype)).copy_(a);
}

Tensor prod(const Tensor& inp, at::OptionalIntArrayRef dims, std::optional<ScalarType> dtype) {
  TORCH_CHECK(dims && !dtype, "Expected dims and no output_dtype, as PyTorch does");
  if (dims->empty()) return inp.clone();
  std::vector<int64_t> sorted = dims->vec();
  std::ranges::sort(sorted, std::greater());
  Tensor result = inp;
  for (const int64_t dim : sorted) result = at::prod(result, dim);
  return result;
}

Tensor div(const Tensor& self, const Tensor& other) {
  const bool is_integral = c10::isIntegralType(self.scalar_type(), /*includeBool=*/false);
  return is_integral ? self.div(other, "trunc") : self.div(other);
}

TensorPair prepare_softmax_online(const Tensor& a, int64_t dim) {
  const Tensor greatest = at::amax(a, dim, /*keepdim=*/true);
  return {greatest, at::sum(a.sub(greatest).exp(), dim, /*keepdim=*/true)};
}

}  // namespace

void define_prims(Definitions& definitions) {
  for (const SameRow& row : kSame) {
    std::istringstream names(row.names);
    for (std::string name; names >> name;) {
      const size_t equals = name.find('=');
      add_same(name.substr(0, equals), row, name.substr(equals + 1), definitions);
    }
  }
  const auto add = [&](const char* schema, auto* function, const std::vector<at::Tag>& tags = {}) {
    definitions.add(schema, function, tags);
  };
  const std::vector<at::Tag> pointwise = {at::Tag::pointwise};
  const std::vector<at::Tag> random = {at::Tag::nondeterministic_seeded};
  add("_make_token() -> Tensor", +[] { return at::empty({0}); });
  add("_sink_tokens(Tensor[] tokens) -> ()", +[](at::TensorList) {});
  add("broadcast_in_dim(Tensor(a) a, SymInt[] shape, int[] broadcast_dimensions) -> Tensor(a)",
      broadcast_in_dim);
  add(
      "cbrt(Tensor self) -> Tensor",
      +[](const Tensor& self) { return at::copysign(self.abs().pow(1.0 / 3), self); }, pointwise);
  add(
      "collapse(Tensor a, int start, int end) -> Tensor",
      +[](const Tensor& a, int64_t start, int64_t end) {
        return a.clone(at::MemoryFormat::Contiguous).view(collapsed_shape(a, start, end));
      });
  add(
      "collapse_view(Tensor(a) a, int start, int end) -> Tensor(a)",
      +[](const Tensor& a, int64_t start, int64_t end) {
        return a.view(collapsed_shape(a, start, end));
      });
  add("convert_element_type(Tensor a, ScalarType dtype) -> Tensor", convert_prim, pointwise);
  add(
      "copy_strided(Tensor a, SymInt[] stride) -> Tensor",
      +[](const Tensor& a, IntArrayRef stride) {
        return at::empty_strided(a.sizes(), stride, a.options()).copy_(a);
      });
  add(
      "device_put(Tensor a, Device device, bool non_blocking=False) -> Tensor",
      +[](const Tensor& a, at::Device device, bool non_blocking) {
        return a.to(a.options().device(device), non_blocking);
      });
  add("div(Tensor self, Tensor other) -> Tensor", div, pointwise);
  add(
      "fma(Tensor a, Tensor b, Tensor c) -> Tensor",
      +[](const Tensor& a, const Tensor& b, const Tensor& c) { return a.mul(b).add(c); },
      pointwise);
  add(
      "iota(SymInt length, *, SymInt start, SymInt step, ScalarType dtype, Device device, "
      "bool requires_grad) -> Tensor",
      +[](int64_t length, int64_t start, int64_t step, ScalarType dtype, at::Device device, bool) {
        return at::arange(start, start + length * step, step, at::device(device).dtype(dtype));
      });
  add(
      "normal(SymInt[] shape, *, Scalar mean, Scalar std, ScalarType dtype, Device device, "
      "bool requires_grad, Generator? generator=None) -> Tensor",
      +[](IntArrayRef shape, const at::Scalar& mean, const at::Scalar& std, ScalarType dtype,
          at::Device device, bool, std::optional<at::Generator> generator) {
        return at::empty(shape, at::device(device).dtype(dtype))
            .normal_(mean.toDouble(), std.toDouble(), std::move(generator));
      },
      random);
  add("prepare_softmax_online(Tensor a, int dim) -> (Tensor, Tensor)", prepare_softmax_online);
  add("prod(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor", prod);
  add(
      "reshape(Tensor a, SymInt[] shape) -> Tensor", +[](const Tensor& a, IntArrayRef shape) {
        return a.reshape(shape).clone(at::MemoryFormat::Contiguous);
      });
  add("split_dim(Tensor(a) a, int dim, SymInt outer_length) -> Tensor(a)", split_dim);
  add(
      "uniform(SymInt[] shape, *, Scalar low, Scalar high, ScalarType dtype, Device device, "
      "SymInt[] stride, Generator? generator=None) -> Tensor",
      +[](IntArrayRef shape, const at::Scalar& low, const at::Scalar& high, ScalarType dtype,
          at::Device device, IntArrayRef stride, std::optional<at::Generator> generator) {
        return at::empty_strided(shape, stride, at::device(device).dtype(dtype))
            .uniform_(low.toDouble(), high.toDouble(), std::move(generator));
      },
      random);
  add("view_of(Tensor(a) a) -> Tensor(a)", +[](const Tensor& a) { return a.view(a.sizes()); });
}

}  // namespace torch_ir
