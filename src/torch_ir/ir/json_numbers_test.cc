#include <c10/util/BFloat16.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Half.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/json_constants.h"

namespace torch_ir {
namespace {

using c10::ScalarType;
using ::testing::ThrowsMessage;

std::string short_float(double value, ScalarType dtype) {
  return python_float(with_fewest_digits(value, dtype));
}

TEST(JsonNumbersTest, FloatsHaveTheFewestDigitsOfTheirType) {
  EXPECT_EQ(short_float(0.1f, ScalarType::Float), "0.1");
  EXPECT_EQ(python_float(0.1f), "0.10000000149011612");
  EXPECT_EQ(short_float(16777216.0f, ScalarType::Float), "16777216.0");
  EXPECT_EQ(short_float(std::numeric_limits<float>::max(), ScalarType::Float), "3.4028235e+38");
  EXPECT_EQ(short_float(std::numeric_limits<float>::denorm_min(), ScalarType::Float), "1e-45");
  EXPECT_EQ(short_float(c10::Half(0.1f), ScalarType::Half), "0.1");
  EXPECT_EQ(short_float(65504.0, ScalarType::Half), "65500.0");
  EXPECT_EQ(short_float(c10::BFloat16(0.1f), ScalarType::BFloat16), "0.1");
  EXPECT_EQ(short_float(c10::Float8_e4m3fn(0.1f), ScalarType::Float8_e4m3fn), "0.1");
  EXPECT_EQ(short_float(std::numeric_limits<double>::infinity(), ScalarType::Half), "Infinity");
}

TEST(JsonNumbersTest, EveryHalfReadsBack) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const c10::Half half(static_cast<uint16_t>(bits), c10::Half::from_bits());
    if (!std::isfinite(static_cast<float>(half))) continue;
    const std::string text = short_float(half, ScalarType::Half);
    const c10::Half read(static_cast<float>(std::strtod(text.c_str(), nullptr)));
    ASSERT_EQ(read.x, half.x) << text;
  }
}

TEST(JsonNumbersTest, ManyFloatsReadBack) {
  uint32_t bits = 1;
  for (int i = 0; i < 100000; ++i) {
    bits = bits * 1664525u + 1013904223u;
    const float value = std::bit_cast<float>(bits);
    if (!std::isfinite(value)) continue;
    const std::string text = short_float(value, ScalarType::Float);
    const auto read = static_cast<float>(std::strtod(text.c_str(), nullptr));
    ASSERT_EQ(std::bit_cast<uint32_t>(read), bits) << text;
  }
}

TEST(JsonNumbersTest, TypeWithoutFloatsIsRefused) {
  EXPECT_THAT(
      [] { short_float(1.0, ScalarType::Int); },
      ThrowsMessage<SerializationError>("elements of dtype int32 are not floating-point numbers"));
}

}  // namespace
}  // namespace torch_ir
