#include "torch_ir/exporter/pt2/schema_numbers.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <limits>
#include <span>
#include <string>

#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/json_fields.h"

namespace torch_ir {
namespace {

template <class T>
struct Numbered {
  int64_t number;
  T value;
};

constexpr Numbered<c10::ScalarType> kDtypes[] = {
    {1, c10::ScalarType::Byte},
    {2, c10::ScalarType::Char},
    {3, c10::ScalarType::Short},
    {4, c10::ScalarType::Int},
    {5, c10::ScalarType::Long},
    {6, c10::ScalarType::Half},
    {7, c10::ScalarType::Float},
    {8, c10::ScalarType::Double},
    {9, c10::ScalarType::ComplexHalf},
    {10, c10::ScalarType::ComplexFloat},
    {11, c10::ScalarType::ComplexDouble},
    {12, c10::ScalarType::Bool},
    {13, c10::ScalarType::BFloat16},
    {28, c10::ScalarType::UInt16},
    {29, c10::ScalarType::Float8_e4m3fn},
    {30, c10::ScalarType::Float8_e5m2},
    {31, c10::ScalarType::Float8_e4m3fnuz},
    {32, c10::ScalarType::Float8_e5m2fnuz},
#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 7
    {33, c10::ScalarType::Float8_e8m0fnu},
#endif
    {34, c10::ScalarType::UInt32},
    {35, c10::ScalarType::UInt64},
};

constexpr Numbered<c10::Layout> kLayouts[] = {
    {1, c10::kSparse},    {2, c10::kSparseCsr}, {3, c10::kSparseCsc}, {4, c10::kSparseBsr},
    {5, c10::kSparseBsc}, {6, c10::kMkldnn},    {7, c10::kStrided},
};

constexpr Numbered<c10::MemoryFormat> kMemoryFormats[] = {
    {1, c10::MemoryFormat::Contiguous},
    {2, c10::MemoryFormat::ChannelsLast},
    {3, c10::MemoryFormat::ChannelsLast3d},
    {4, c10::MemoryFormat::Preserve},
};

template <class T>
T look_up(std::span<const Numbered<T>> table, const JsonValue& value, const Place& place,
          const char* kind) {
  const int64_t number = as_integer(value, place);
  for (const Numbered<T>& entry : table) {
    if (entry.number == number) return entry.value;
  }
  place.fail(fmt::format("unknown {} number {}", kind, number));
}

}  // namespace

c10::ScalarType read_dtype(const JsonValue& value, const Place& place) {
  return look_up<c10::ScalarType>(kDtypes, value, place, "dtype");
}

c10::Layout read_layout(const JsonValue& value, const Place& place) {
  return look_up<c10::Layout>(kLayouts, value, place, "layout");
}

c10::MemoryFormat read_memory_format(const JsonValue& value, const Place& place) {
  return look_up<c10::MemoryFormat>(kMemoryFormats, value, place, "memory format");
}

c10::Device read_device(const JsonValue& value, const Place& place) {
  const Fields fields(value, place);
  const std::string& type = read_string(fields.get("type"), place.key("type"));
  const JsonValue* index = fields.find("index");
  const int64_t number = index == nullptr ? -1 : as_integer(*index, place.key("index"));
  if (number < -1 || number > std::numeric_limits<c10::DeviceIndex>::max()) {
    place.fail(fmt::format("no device has the index {}", number));
  }
  try {
    const c10::Device device(type);
    if (!device.has_index())
      return c10::Device(device.type(), static_cast<c10::DeviceIndex>(number));
  } catch (const c10::Error&) {
    // Said below.
  }
  place.fail(fmt::format("unknown device '{}'", printable(type)));
}

}  // namespace torch_ir
