#include "torch_ir/ir/dtype.h"

#include <algorithm>
#include <iterator>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

template <class T>
struct Named {
  T value;
  std::string_view name;
};

// If Python has two names for a dtype ("half"), this is the one that `str(dtype)` gives.
constexpr Named<c10::ScalarType> kDtypes[] = {
    {c10::ScalarType::Float, "float32"},
    {c10::ScalarType::Long, "int64"},
    {c10::ScalarType::Bool, "bool"},
    {c10::ScalarType::Half, "float16"},
    {c10::ScalarType::BFloat16, "bfloat16"},
    {c10::ScalarType::Double, "float64"},
    {c10::ScalarType::Int, "int32"},
    {c10::ScalarType::Byte, "uint8"},
    {c10::ScalarType::Char, "int8"},
    {c10::ScalarType::Short, "int16"},
    {c10::ScalarType::UInt16, "uint16"},
    {c10::ScalarType::UInt32, "uint32"},
    {c10::ScalarType::UInt64, "uint64"},
    {c10::ScalarType::ComplexHalf, "complex32"},
    {c10::ScalarType::ComplexFloat, "complex64"},
    {c10::ScalarType::ComplexDouble, "complex128"},
    {c10::ScalarType::Float8_e4m3fn, "float8_e4m3fn"},
    {c10::ScalarType::Float8_e5m2, "float8_e5m2"},
    {c10::ScalarType::Float8_e4m3fnuz, "float8_e4m3fnuz"},
    {c10::ScalarType::Float8_e5m2fnuz, "float8_e5m2fnuz"},
    {c10::ScalarType::Float8_e8m0fnu, "float8_e8m0fnu"},
    {c10::ScalarType::QInt8, "qint8"},
    {c10::ScalarType::QUInt8, "quint8"},
    {c10::ScalarType::QInt32, "qint32"},
};

constexpr Named<c10::Layout> kLayouts[] = {
    {c10::kStrided, "strided"},      {c10::kSparse, "sparse_coo"},
    {c10::kSparseCsr, "sparse_csr"}, {c10::kSparseCsc, "sparse_csc"},
    {c10::kSparseBsr, "sparse_bsr"}, {c10::kSparseBsc, "sparse_bsc"},
    {c10::kMkldnn, "_mkldnn"},       {c10::kJagged, "jagged"},
};

constexpr Named<c10::MemoryFormat> kMemoryFormats[] = {
    {c10::MemoryFormat::Contiguous, "contiguous_format"},
    {c10::MemoryFormat::Preserve, "preserve_format"},
    {c10::MemoryFormat::ChannelsLast, "channels_last"},
    {c10::MemoryFormat::ChannelsLast3d, "channels_last_3d"},
};

std::string name_of(const auto& table, auto value, const char* kind) {
  for (const auto& entry : table) {
    if (entry.value == value) return std::string(entry.name);
  }
  throw Error(std::string(kind) + " " + std::to_string(static_cast<int>(value)) +
              " has no name in Python");
}

template <class T, size_t kSize>
std::optional<T> find(const Named<T> (&table)[kSize], std::string_view name) {
  const auto* const entry = std::ranges::find(table, name, &Named<T>::name);
  return entry == std::end(table) ? std::nullopt : std::optional(entry->value);
}

}  // namespace

std::string dtype_name(c10::ScalarType dtype) { return name_of(kDtypes, dtype, "dtype"); }
std::string layout_name(c10::Layout layout) { return name_of(kLayouts, layout, "layout"); }
std::string memory_format_name(c10::MemoryFormat format) {
  return name_of(kMemoryFormats, format, "memory format");
}

std::optional<c10::ScalarType> find_dtype(std::string_view name) { return find(kDtypes, name); }
std::optional<c10::Layout> find_layout(std::string_view name) { return find(kLayouts, name); }
std::optional<c10::MemoryFormat> find_memory_format(std::string_view name) {
  return find(kMemoryFormats, name);
}

}  // namespace torch_ir
