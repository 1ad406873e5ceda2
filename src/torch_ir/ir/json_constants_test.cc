#include "torch_ir/ir/json_constants.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Half.h>
#include <c10/util/complex.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/strided_copy.h"

namespace torch_ir {
namespace {

using ::testing::ThrowsMessage;

std::string write(const at::Tensor& tensor) { return python_json(constant_to_json("c", tensor)); }

// Drops line breaks and indentation, to keep the tests readable.
std::string write_compact(const at::Tensor& tensor) {
  std::string text = write(tensor);
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

std::string constant(const std::string& data, const std::string& dtype,
                     const std::string& rest = "") {
  return R"({"data": )" + data + R"(, "dtype": ")" + dtype + '"' + rest + "}";
}

at::Tensor read(const std::string& text) {
  return read_constant(parse_json(text), Place().key("constants").key("c"));
}

void expect_not_read(const std::string& text, const std::string& message) {
  EXPECT_THAT([&] { read(text); }, ThrowsMessage<SerializationError>("constants.c" + message));
}

void expect_not_written(const at::Tensor& tensor, const std::string& message) {
  EXPECT_THAT([&] { write(tensor); },
              ThrowsMessage<SerializationError>("cannot write constant 'c': " + message));
}

constexpr const char* kConstantDtypes[] = {
    "bool",      "uint8",       "int8",          "int16",           "int32",           "int64",
    "uint16",    "uint32",      "uint64",        "float16",         "bfloat16",        "float32",
    "float64",   "float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "complex32",
    "complex64", "complex128"};

TEST(JsonConstantsTest, WhatIsWrittenOfEveryDtypeReadsBack) {
  std::vector<at::Tensor> tensors = {at::tensor({0, 1, 2, 3, 5, 7}, at::kDouble).view({2, 3})};
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{}, {0}, {2, 0}, {0, 2}, {3, 0, 2}, {1, 1, 1}}) {
    tensors.push_back(at::empty(shape).fill_(1));
  }
  for (const char* dtype : kConstantDtypes) {
    SCOPED_TRACE(dtype);
    for (const at::Tensor& values : tensors) {
      const at::Tensor tensor = values.to(find_dtype(dtype).value());
      const at::Tensor again = read(write(tensor));
      EXPECT_TRUE(again.is_contiguous());
      EXPECT_TRUE(same_elements(again, tensor));
    }
  }
}

TEST(JsonConstantsTest, WritesTheFormOfThePythonPackageAndAShapeWhereTheDataCanNotTellIt) {
  EXPECT_EQ(write_compact(at::tensor({1.0, 0.0}, at::kFloat)),
            R"({"data":[1.0,0.0],"dtype":"float32"})");
  EXPECT_EQ(write_compact(at::tensor({1, 2, 3, 4}, at::kLong).view({2, 2})),
            R"({"data":[[1,2],[3,4]],"dtype":"int64"})");
  EXPECT_EQ(write_compact(at::tensor({1, 0}).to(at::kBool)),
            R"({"data":[true,false],"dtype":"bool"})");
  EXPECT_EQ(write_compact(at::empty({}, at::kInt).fill_(7)), R"({"data":7,"dtype":"int32"})");
  EXPECT_EQ(write_compact(at::empty({2, 0})), R"({"data":[[],[]],"dtype":"float32"})");
  EXPECT_EQ(write_compact(at::empty({0, 2})), R"({"data":[],"dtype":"float32","shape":[0,2]})");
  EXPECT_EQ(write_compact(at::empty({2, 0, 3})),
            R"({"data":[[],[]],"dtype":"float32","shape":[2,0,3]})");
}

TEST(JsonConstantsTest, WritesTheShortestTextOfTheDtype) {
  const at::Tensor values = at::tensor({0.1, -0.0, 1e-5}, at::kDouble);
  for (const auto dtype : {at::kFloat, at::kHalf, at::kBFloat16}) {
    EXPECT_THAT(write_compact(values.to(dtype)),
                ::testing::StartsWith(R"({"data":[0.1,-0.0,1e-05])"));
  }
}

TEST(JsonConstantsTest, WritesComplexElementsAsPairsAndStridedTensorsInTheOrderOfTheirIndices) {
  const at::Tensor tensor = at::tensor({c10::complex<float>(0.1f, -2), c10::complex<float>(0, 1)});
  EXPECT_EQ(write_compact(tensor), R"({"data":[[0.1,-2.0],[0.0,1.0]],"dtype":"complex64"})");
  EXPECT_EQ(write_compact(tensor.conj()), R"({"data":[[0.1,2.0],[0.0,-1.0]],"dtype":"complex64"})");
  EXPECT_EQ(write_compact(at::tensor({1, 2, 3, 4}, at::kLong).view({2, 2}).t()),
            R"({"data":[[1,3],[2,4]],"dtype":"int64"})");
}

std::string short_float(double value, c10::ScalarType dtype) {
  return python_float(with_fewest_digits(value, dtype));
}

TEST(JsonConstantsTest, FloatsHaveTheFewestDigitsOfTheirType) {
  EXPECT_EQ(short_float(0.1f, c10::kFloat), "0.1");
  EXPECT_EQ(python_float(0.1f), "0.10000000149011612");
  EXPECT_EQ(short_float(16777216.0f, c10::kFloat), "16777216.0");
  EXPECT_EQ(short_float(std::numeric_limits<float>::max(), c10::kFloat), "3.4028235e+38");
  EXPECT_EQ(short_float(std::numeric_limits<float>::denorm_min(), c10::kFloat), "1e-45");
  EXPECT_EQ(short_float(c10::Half(0.1f), c10::kHalf), "0.1");
  EXPECT_EQ(short_float(65504.0, c10::kHalf), "65500.0");
  EXPECT_EQ(short_float(c10::BFloat16(0.1f), c10::kBFloat16), "0.1");
  EXPECT_EQ(short_float(c10::Float8_e4m3fn(0.1f), c10::kFloat8_e4m3fn), "0.1");
  EXPECT_EQ(short_float(std::numeric_limits<double>::infinity(), c10::kHalf), "Infinity");
}

TEST(JsonConstantsTest, EveryHalfAndManyFloatsReadBack) {
  const at::Tensor halves = at::arange(0x10000, at::kInt).to(at::kShort).view(at::kHalf);
  const at::Tensor bits = at::arange(100'000, at::kLong) * 2'654'435'761;
  for (const at::Tensor& values : {halves, bits.to(at::kInt).view(at::kFloat)}) {
    const at::Tensor finite = values.masked_select(values.isfinite());
    const at::Tensor again = read(write(finite));
    EXPECT_TRUE(same_elements(again, finite)) << finite.masked_select(again != finite);
  }
}

TEST(JsonConstantsTest, NumbersAreReadAsTheDtypeSays) {
  EXPECT_TRUE(at::equal(read(constant("[1, 0.5]", "float32")), at::tensor({1.0f, 0.5f})));
  const at::Tensor tensor = read(constant("[18446744073709551615, 0]", "uint64"));
  EXPECT_EQ(tensor.const_data_ptr<uint64_t>()[0], std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(write_compact(tensor), R"({"data":[18446744073709551615,0],"dtype":"uint64"})");
}

TEST(JsonConstantsTest, WhatIsNoConstantIsRefusedWithItsPlace) {
  const auto other_list = [](const std::string& length, const std::string& found) {
    return ".data[1]: expected a list of length " + length +
           ", like the others at its level, found " + found;
  };
  expect_not_read(constant("[1]", "float31"), ".dtype: unknown dtype 'float31'");
  expect_not_read(constant("[[1, 2], [3]]", "int64"), other_list("2", "a list of length 1"));
  expect_not_read(constant("[[1, 2], 3]", "int64"), other_list("2", "an integer"));
  expect_not_read(constant("[[], [3]]", "int64"), other_list("0", "a list of length 1"));
  expect_not_read(constant("[1, [2]]", "int64"), ".data[1]: expected an integer, found a list");
  expect_not_read(constant("[1.5]", "int64"), ".data[0]: expected an integer, found a float");
  expect_not_read(constant("[1]", "bool"), ".data[0]: expected true or false, found an integer");
  expect_not_read(constant("\"1\"", "float32"), ".data: expected a number, found a string");
  expect_not_read(constant("[[1, 2], [3, 4, 5]]", "complex64"),
                  ".data[1]: expected [re, im], found a list");
  expect_not_read(constant("[127, 128]", "int8"), ".data[1]: 128 is out of range for int8");
  expect_not_read(constant("-1", "uint64"), ".data: -1 is out of range for uint64");
  expect_not_read(constant("[1e39]", "float32"), ".data: 1e+39 is out of range for float32");
  expect_not_read(constant("[[0.0, 7e4]]", "complex32"),
                  ".data: 70000.0 is out of range for complex32");
  expect_not_read(constant("[Infinity]", "float8_e4m3fn"),
                  ".data: Infinity is out of range for float8_e4m3fn");
  expect_not_read(constant("[1, 2]", "int64", R"(, "shape": [2, 1])"),
                  ".shape: expected data of shape [2, 1], found shape [2]");
  expect_not_read(constant("[]", "int64", R"(, "shape": [0, -1])"), ".shape[1]: negative size -1");
  expect_not_read(constant(std::string(65, '[') + std::string(65, ']'), "int64"),
                  ": 65 dimensions; a tensor can have at most 64");
  expect_not_read(R"({"data": [1]})", ": missing key 'dtype'");
  expect_not_read(constant("[1]", "int64", R"(, "device": "cpu")"), ": unknown key 'device'");
}

// The Python package writes no shape, and its lists end at the first empty dimension.
TEST(JsonConstantsTest, OfAnEmptyTensorTheDeclaredShapeDecides) {
  const auto shape_of_data = [](const std::string& data, std::vector<int64_t> declared) {
    const JsonValue value = parse_json(constant(data, "float32"));
    return read_constant(value, Place(), &declared).sizes().vec();
  };
  using Shape = std::vector<int64_t>;
  EXPECT_EQ(shape_of_data("[]", {0, 3}), (Shape{0, 3}));
  EXPECT_EQ(shape_of_data("[[], []]", {2, 0, 3, 4}), (Shape{2, 0, 3, 4}));
  // Validation reports shapes that contradict the data.
  EXPECT_EQ(shape_of_data("[]", {3, 0}), (Shape{0}));
  EXPECT_EQ(shape_of_data("[]", {0, -1}), (Shape{0}));
  EXPECT_EQ(shape_of_data("[1]", {1, 1}), (Shape{1}));
}

TEST(JsonConstantsTest, TensorsWithoutDenseValuesAreNotWritten) {
  expect_not_written(at::empty({2}, at::TensorOptions(at::kMeta)),
                     "it is on the meta device and has no values");
  expect_not_written(at::Tensor(), "it is undefined");
  expect_not_written(at::tensor({1.0f}).to_sparse(),
                     "its layout is not strided; make it dense first");
}

}  // namespace
}  // namespace torch_ir
