#include <ATen/ops/masked_fill_native.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/where_native.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "torch_ir/executor/kernels/clones.h"
#include "torch_ir/executor/kernels/families.h"
#include "torch_ir/executor/kernels/iterator_kernel.h"
#include "torch_ir/executor/kernels/out_function.h"

namespace torch_ir {

// Rows without gaps; `to` may be `chosen` or `other`. Outside of the unnamed namespace, so that
// they have clones. GCC makes vectors of the loop at O3 only.
#define TORCH_IR_SELECT_ROW(Element)                                                           \
  TORCH_IR_CLONES("avx512f", "avx2", "default")                                                \
  __attribute__((optimize("O3"))) void select_row(Element* to, const uint8_t* mask,            \
                                                  const Element* chosen, const Element* other, \
                                                  int64_t count) {                             \
    _Pragma("GCC ivdep") for (int64_t i = 0; i < count; ++i) {                                 \
      to[i] = mask[i] != 0 ? chosen[i] : other[i];                                             \
    }                                                                                          \
  }

TORCH_IR_SELECT_ROW(uint8_t)
TORCH_IR_SELECT_ROW(uint16_t)
TORCH_IR_SELECT_ROW(uint32_t)
TORCH_IR_SELECT_ROW(uint64_t)

namespace {

// A loop as at::TensorIterator calls it: pointers, strides in bytes, and the count.
using ElementLoop = void (*)(char** data, const int64_t* strides, int64_t count);

constexpr int64_t kBlock = 256;

// The elements of a row, or one that stands for all of them.
template <class Element>
class Source {
 public:
  Source(const char* data, int64_t stride)
      : data_(reinterpret_cast<const Element*>(data)), is_row_(stride != 0) {
    if (!is_row_) std::fill_n(repeated_, kBlock, *data_);
  }

  const Element* block(int64_t begin) const { return is_row_ ? data_ + begin : repeated_; }

 private:
  const Element* data_;
  bool is_row_;
  Element repeated_[kBlock];
};

template <class Element>
void select_rows(char** data, const int64_t* strides, int64_t count) {
  auto* to = reinterpret_cast<Element*>(data[0]);
  const auto* mask = reinterpret_cast<const uint8_t*>(data[1]);
  const Source<Element> chosen(data[2], strides[2]);
  const Source<Element> other(data[3], strides[3]);
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    select_row(to + begin, mask + begin, chosen.block(begin), other.block(begin),
               std::min(kBlock, count - begin));
  }
}

template <class Element>
void select(char** data, const int64_t* strides, int64_t count) {
  constexpr int64_t kSize = sizeof(Element);
  const auto is_row_or_one = [&](size_t i) { return strides[i] == kSize || strides[i] == 0; };
  if (strides[0] == kSize && strides[1] == 1 && is_row_or_one(2) && is_row_or_one(3)) {
    select_rows<Element>(data, strides, count);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    const bool is_chosen = data[1][i * strides[1]] != 0;
    std::memmove(data[0] + i * strides[0],
                 is_chosen ? data[2] + i * strides[2] : data[3] + i * strides[3], kSize);
  }
}

// data[0] = data[1] ? data[2] : data[3], for elements of so many bytes; null where there is none.
ElementLoop select_loop(int64_t element_size) {
  switch (element_size) {
    case 1:
      return select<uint8_t>;
    case 2:
      return select<uint16_t>;
    case 4:
      return select<uint32_t>;
    case 8:
      return select<uint64_t>;
    default:
      return nullptr;
  }
}

bool is_plain(const at::Tensor& tensor) {
  return tensor.layout() == c10::kStrided && tensor.device().is_cpu() && !tensor.is_conj() &&
         !tensor.is_neg();
}

// Calls `run_row` with what ElementLoop has, for each row of the iterator.
template <size_t kOperands, class RunRow>
void for_each_row(at::TensorIterator& iterator, const RunRow& run_row) {
  iterator.for_each([&](char** data, const int64_t* strides, int64_t count, int64_t rows) {
    std::array<char*, kOperands> row_data;
    std::copy_n(data, kOperands, row_data.begin());
    for (int64_t row = 0; row < rows; ++row) {
      run_row(row_data.data(), strides, count);
      for (size_t i = 0; i < kOperands; ++i) row_data[i] += strides[kOperands + i];
    }
  });
}

std::unique_ptr<PreparedKernel> prepare_where(const KernelCall& call) {
  const at::Tensor& condition = call.arguments[0].toTensor();
  const at::Tensor& chosen = call.arguments[1].toTensor();
  const at::Tensor& other = call.arguments[2].toTensor();
  const at::Tensor& output = call.outputs[0];
  const ElementLoop select = select_loop(output.element_size());
  // Where dtypes differ, the operands are converted to that of the result first.
  const bool is_select = select != nullptr && condition.dtype() == at::kBool &&
                         chosen.dtype() == output.dtype() && other.dtype() == output.dtype() &&
                         is_plain(condition) && is_plain(chosen) && is_plain(other);
  if (!is_select) return kOutFunction<&at::native::where_self_out>(call);
  at::TensorIteratorConfig config;
  config.check_all_same_dtype(false)
      .add_owned_output(output)
      .add_owned_const_input(condition)
      .add_owned_const_input(chosen)
      .add_owned_const_input(other);
  return prepare_iterator(
      call, config, [select](at::TensorIterator& iterator) { for_each_row<4>(iterator, select); });
}

constexpr auto kMaskedFillWithNumber =
    static_cast<at::Tensor& (*)(at::Tensor&, const at::Tensor&, const at::Scalar&)>(
        &at::native::masked_fill__cpu);
constexpr auto kMaskedFillWithTensor =
    static_cast<at::Tensor& (*)(at::Tensor&, const at::Tensor&, const at::Tensor&)>(
        &at::native::masked_fill__cpu);

std::unique_ptr<PreparedKernel> prepare_masked_fill_(const KernelCall& call) {
  const at::Tensor& self = call.arguments[0].toTensor();
  const at::Tensor& mask = call.arguments[1].toTensor();
  const at::Scalar& value = call.arguments[2].toScalar();
  const ElementLoop select = select_loop(self.element_size());
  if (select == nullptr || mask.dtype() != at::kBool || mask.dim() > self.dim() ||
      !is_plain(self) || !is_plain(mask)) {
    return kInPlaceFunction<kMaskedFillWithNumber>(call);
  }
  at::TensorIteratorConfig config;
  config.set_check_mem_overlap(false)
      .check_all_same_dtype(false)
      .resize_outputs(false)
      .add_owned_output(self)
      .add_owned_const_input(mask);
  const auto fill =
      [select, filler = at::scalar_tensor(value, self.options())](at::TensorIterator& iterator) {
        auto* filler_data = static_cast<char*>(filler.data_ptr());
        for_each_row<2>(iterator, [&](char** data, const int64_t* strides, int64_t count) {
          char* operands[] = {data[0], data[1], filler_data, data[0]};
          const int64_t operand_strides[] = {strides[0], strides[1], 0, strides[0]};
          select(operands, operand_strides, count);
        });
      };
  return prepare_iterator(call, config, fill);
}

constexpr KernelEntry kSelectionKernels[] = {
    {"aten::masked_fill_.Scalar", &prepare_masked_fill_},
    {"aten::masked_fill_.Tensor", kInPlaceFunction<kMaskedFillWithTensor>},
    {"aten::where.self", &prepare_where},
};

}  // namespace

KernelTable selection_kernels() { return kSelectionKernels; }

}  // namespace torch_ir
