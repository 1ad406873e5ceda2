#include "torch_ir/weights/testing/test_support.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <new>
#include <string_view>

#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"

namespace torch_ir {
namespace {

std::string items_text(const std::vector<PickleValue::Pointer>& items) {
  std::string text;
  for (const PickleValue* item : items) text += (text.empty() ? "" : ", ") + text_of(*item);
  return text;
}

struct TextOf {
  std::string operator()(const PickleValue::None&) const { return "None"; }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return fmt::format("{}f", value); }
  std::string operator()(const std::string& value) const { return "'" + printable(value) + "'"; }
  std::string operator()(const PickleValue::Tuple& value) const {
    return "(" + items_text(value.items) + ")";
  }
  std::string operator()(const PickleValue::List& value) const {
    return "[" + items_text(value.items) + "]";
  }
  std::string operator()(const PickleValue::Dict& value) const {
    std::string text;
    for (const auto& [key, item] : value.items) {
      text += (text.empty() ? "" : ", ") + text_of(*key) + ": " + text_of(*item);
    }
    return "{" + text + "}";
  }
  std::string operator()(const PickleValue::Name& value) const { return value.text; }
  std::string operator()(const PickleValue::Object& value) const {
    std::string text;
    for (const auto& [name, item] : value.attributes) {
      text += (text.empty() ? "" : ", ") + name + "=" + text_of(*item);
    }
    return value.class_name + "(" + text + ")";
  }
  std::string operator()(const at::Tensor& value) const {
    return fmt::format("tensor({}, [{}])", dtype_name(value.scalar_type()),
                       fmt::join(value.sizes(), ", "));
  }
  std::string operator()(const PickleValue::Storage&) const { return "storage"; }
  std::string operator()(const PickleValue::Unsupported& value) const {
    const std::string parts = items_text(value.parts);
    return "<" + value.what + ">" + (parts.empty() ? "" : "(" + parts + ")");
  }
};

}  // namespace

std::string text_of(const PickleValue& value) { return std::visit(TextOf(), value.value); }

void expect_same_tensors(const at::Tensor& actual, const at::Tensor& expected) {
  EXPECT_EQ(actual.scalar_type(), expected.scalar_type());
  ASSERT_EQ(actual.sizes(), expected.sizes());
  const auto bytes_of = [](const at::Tensor& tensor) {
    return std::string_view(static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes());
  };
  EXPECT_TRUE(bytes_of(actual.contiguous()) == bytes_of(expected.contiguous()));
}

void expect_same_tensors(const StateDict& actual, const StateDict& expected) {
  EXPECT_EQ(actual.size(), expected.size());
  for (const auto& item : expected) {
    SCOPED_TRACE(item.key());
    ASSERT_TRUE(actual.contains(item.key()));
    expect_same_tensors(actual[item.key()], item.value());
  }
}

ByteRange range_of(const std::string& bytes) {
  constexpr auto kAlignment = std::align_val_t(64);
  auto* data = static_cast<std::byte*>(::operator new(bytes.size() + 1, kAlignment));
  std::memcpy(data, bytes.data(), bytes.size());
  return {data, bytes.size(),
          std::shared_ptr<void>(data, [](void* memory) { ::operator delete(memory, kAlignment); })};
}

std::string weights_testdata(const std::string& name) {
  return "src/torch_ir/weights/testdata/" + name;
}

std::string temporary_path(const std::string& name) { return ::testing::TempDir() + name; }

std::string little_endian(uint64_t value, size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i, value >>= 8) bytes += static_cast<char>(value);
  return bytes;
}

std::string pickled_text(const std::string& text) {
  return "\x8c" + little_endian(text.size(), 1) + text;
}

}  // namespace torch_ir
