#include "torch_ir/executor/kernels/select_elements.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__) && defined(__linux__) && !defined(__clang__)
#define TORCH_IR_SELECT_CLONES \
  __attribute__((target_clones("avx512f", "avx2", "default"), optimize("O3")))
#else
#define TORCH_IR_SELECT_CLONES
#endif

namespace torch_ir {

// Rows without gaps; `to` may be `chosen` or `other`. Outside of the unnamed namespace, where
// functions have no clones.
#define TORCH_IR_SELECT_ROW(Element)                                                             \
  TORCH_IR_SELECT_CLONES                                                                         \
  void select_row(Element* to, const uint8_t* mask, const Element* chosen, const Element* other, \
                  int64_t count) {                                                               \
    _Pragma("GCC ivdep") for (int64_t i = 0; i < count; ++i) {                                   \
      to[i] = mask[i] != 0 ? chosen[i] : other[i];                                               \
    }                                                                                            \
  }

TORCH_IR_SELECT_ROW(uint8_t)
TORCH_IR_SELECT_ROW(uint16_t)
TORCH_IR_SELECT_ROW(uint32_t)
TORCH_IR_SELECT_ROW(uint64_t)

namespace {

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

}  // namespace

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

}  // namespace torch_ir
