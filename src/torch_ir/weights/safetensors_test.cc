#include "torch_ir/weights/safetensors.h"

#include <ATen/ops/_empty_affine_quantized.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/util/complex.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string_view>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/weights/safetensors_writer.h"
#include "torch_ir/weights/testing/test_support.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr const char* kDtypes[] = {
    "bool",    "uint8",       "int8",          "int16",           "int32",           "int64",
    "uint16",  "uint32",      "uint64",        "float16",         "bfloat16",        "float32",
    "float64", "float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "complex64"};

// The tensors that testdata/make_safetensors.py writes.
StateDict tensors_of_every_dtype() {
  const at::Tensor values = at::tensor({0, 1, 2, 3, 5, 7}, at::kDouble).view({2, 3});
  StateDict tensors;
  for (const char* name : kDtypes) tensors.insert(name, values.to(find_dtype(name).value()));
  return tensors;
}

StateDict tensors_of_odd_shapes() {
  return {{"scalar", at::empty({}, at::kLong).fill_(3)},
          {"empty", at::zeros({2, 0})},
          {"quote \" line\n \x7f caf\u00e9 \x01", at::ones({1})},
          {"b", at::zeros({1})},
          {"a", at::ones({1, 1, 1})}};
}

std::string written(const StateDict& tensors) {
  const std::string path = temporary_path("written.safetensors");
  save_weights_safetensors(tensors, path);
  return read_file(path);
}

// --- Against Python's package ---

TEST(SafetensorsTest, ReadsAndWritesWhatPythonWrites) {
  expect_same_tensors(load_weights_safetensors(weights_testdata("dtypes.safetensors")),
                      tensors_of_every_dtype());
  expect_same_tensors(load_weights_safetensors(weights_testdata("shapes.safetensors")),
                      tensors_of_odd_shapes());
  expect_same_tensors(load_weights_safetensors(weights_testdata("nothing.safetensors")),
                      StateDict());
  EXPECT_EQ(written(tensors_of_every_dtype()), read_file(weights_testdata("dtypes.safetensors")));
  EXPECT_EQ(written(tensors_of_odd_shapes()), read_file(weights_testdata("shapes.safetensors")));
  EXPECT_EQ(written(StateDict()), read_file(weights_testdata("nothing.safetensors")));
  const StateDict tensors = load_weights_safetensors(weights_testdata("metadata.safetensors"));
  ASSERT_EQ(tensors.size(), 1u);
  expect_same_tensors(tensors["a"], at::ones({2}));
}

// --- Writing ---

TEST(SafetensorsTest, WritesViewsAsTheirValues) {
  const at::Tensor base = at::arange(6, at::kFloat).view({2, 3});
  StateDict views = {{"transposed", base.t()},
                     {"expanded", base.select(0, 1).expand({2, 3})},
                     {"conjugated", at::tensor({c10::complex<float>(1, 2)}).conj()},
                     {"parameter", base.clone().requires_grad_()}};
  written(views);
  const StateDict read = load_weights_safetensors(temporary_path("written.safetensors"));
  expect_same_tensors(read["transposed"], base.t());
  expect_same_tensors(read["expanded"], at::tensor({3.f, 4.f, 5.f, 3.f, 4.f, 5.f}).view({2, 3}));
  expect_same_tensors(read["conjugated"], at::tensor({c10::complex<float>(1, -2)}));
  expect_same_tensors(read["parameter"], base);
}

TEST(SafetensorsTest, ComplexDtypesThatTheFormatDoesNotHave) {
  StateDict tensors = {
      {"c32", at::tensor({c10::complex<float>(1, 2)}).to(at::kComplexHalf)},
      {"c128", at::tensor({c10::complex<double>(1, 2), c10::complex<double>(3, 4)})},
      {"f32", at::ones({1})}};
  EXPECT_THAT(written(tensors),
              HasSubstr(R"({"c128":{"dtype":"C128","shape":[2],"data_offsets":[0,32]},)"
                        R"("f32":{"dtype":"F32","shape":[1],"data_offsets":[32,36]},)"
                        R"("c32":{"dtype":"C32","shape":[1],"data_offsets":[36,40]}})"));
  expect_same_tensors(load_weights_safetensors(temporary_path("written.safetensors")), tensors);
}

TEST(SafetensorsTest, TensorsWithoutAFormAreNotWritten) {
  const std::string path = temporary_path("unwritten.safetensors");
  const struct {
    std::string name;
    at::Tensor tensor;
    const char* problem;
  } tensors[] = {
      {"q", at::_empty_affine_quantized({1}, at::kQInt8, 1.0, 0),
       "'q': safetensors has no dtype for qint8"},
      {"m", at::empty({1}, at::TensorOptions(at::kMeta)),
       "'m': it is on the meta device and has no values"},
      {"u", at::Tensor(), "'u': it is undefined"},
      {"s", at::ones({1}).to_sparse(), "'s': its layout is not strided; make it dense first"},
      {"__metadata__", at::ones({1}), "'__metadata__': safetensors reserves this name"},
      {"\xff", at::ones({1}), "'\\xff': its name is not UTF-8"},
  };
  for (const auto& [name, tensor, problem] : tensors) {
    StateDict dict = {{name, tensor}};
    EXPECT_THAT([&] { save_weights_safetensors(dict, path); },
                ThrowsMessage<WeightError>(std::string("cannot write tensor ") + problem));
    EXPECT_FALSE(std::filesystem::exists(path));
  }
}

TEST(SafetensorsTest, TensorsOneAtATimeMakeTheSameFile) {
  StateDict tensors = {{"mask", at::tensor({1.0, 0.0, 1.0}).to(at::kBool)},
                       {"empty", at::zeros({0, 3})},
                       {"large", at::rand({600, 1000})},
                       {"view", at::rand({3, 2}, at::kDouble).t()}};
  const std::string pieces = temporary_path("pieces.safetensors");
  {
    SafetensorsWriter writer(pieces);
    writer.commit();
    for (const auto& item : tensors) writer.add(item.key(), item.value());
    EXPECT_FALSE(std::filesystem::exists(pieces));
    writer.commit();
  }
  EXPECT_TRUE(read_file(pieces) == written(tensors));
  EXPECT_FALSE(std::filesystem::exists(pieces + ".part"));
  SafetensorsWriter(pieces + "2").add("x", at::zeros({1}));
  EXPECT_FALSE(std::filesystem::exists(pieces + "2"));
}

// --- Mapping ---

TEST(SafetensorsTest, TensorsOutliveTheStateDictAndSmallOnesAreAligned) {
  const at::Tensor tensor =
      load_weights_safetensors(weights_testdata("dtypes.safetensors"))["int64"];
  expect_same_tensors(tensor, tensors_of_every_dtype()["int64"]);
  for (const auto& item : load_weights_safetensors(weights_testdata("dtypes.safetensors"))) {
    const auto address = reinterpret_cast<uintptr_t>(item.value().const_data_ptr());
    EXPECT_EQ(address % 64, 0u) << item.key();
  }
}

TEST(SafetensorsTest, LargeTensorsOfOneFileShareItsMappingAndDoNotWriteToIt) {
  constexpr int64_t kSize = (1 << 20) + 1;
  const std::string path = temporary_path("large.safetensors");
  StateDict tensors = {{"a", at::ones({kSize}, at::kByte)}, {"b", at::ones({kSize}, at::kByte)}};
  save_weights_safetensors(tensors, path);
  const StateDict loaded = load_weights_safetensors(path);
  const auto* first = static_cast<const char*>(loaded["a"].const_data_ptr());
  const auto* second = static_cast<const char*>(loaded["b"].const_data_ptr());
  EXPECT_EQ(second - first, kSize);
  at::Tensor(loaded["a"]).fill_(2);
  expect_same_tensors(load_weights_safetensors(path)["a"], tensors["a"]);
}

// --- Files that break the rules ---

// A file with this header and `data_size` bytes of data.
std::string file_with(std::string_view header, size_t data_size) {
  std::string content;
  for (size_t i = 0; i < 8; ++i) content += static_cast<char>(header.size() >> (8 * i) & 0xff);
  content += header;
  for (size_t i = 0; i < data_size; ++i) content += static_cast<char>(i);
  return content;
}

StateDict load(const std::string& content) {
  const std::string path = temporary_path("crafted.safetensors");
  write_file(path, content);
  return load_weights_safetensors(path);
}

// Expects that a file with `content` is rejected with its path and `message`.
void expect_not_read(const std::string& content, const std::string& message) {
  EXPECT_THAT([&] { load(content); },
              ThrowsMessage<WeightError>(temporary_path("crafted.safetensors") + ": " + message));
}

// The member of a header for the tensor "a".
std::string entry_of(const std::string& dtype, const std::string& shape,
                     const std::string& offsets) {
  return fmt::format(R"("a":{{"dtype":"{}","shape":{},"data_offsets":{}}})", dtype, shape, offsets);
}

// A file with two tensors of two bytes, of which the second begins at `begin`.
std::string file_with_two(int begin, size_t data_size) {
  return file_with("{" + entry_of("U8", "[2]", "[0,2]") +
                       fmt::format(R"(,"b":{{"dtype":"U8","shape":[2],"data_offsets":[{},{}]}}}})",
                                   begin, begin + 2),
                   data_size);
}

TEST(SafetensorsRulesTest, TensorsComeInTheOrderOfTheirDataAndUnknownMembersMeanNothing) {
  const StateDict tensors =
      load(file_with(R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2],"x":1},)" +
                         entry_of("U8", "[1]", "[0,1]") + "}",
                     2));
  EXPECT_EQ(tensors.keys(), (std::vector<std::string>{"a", "b"}));
  expect_same_tensors(tensors["b"], at::ones({1}, at::kByte));
}

TEST(SafetensorsRulesTest, BrokenFilesAreRefused) {
  const std::string rest(4, '\0');
  const std::string one = "{" + entry_of("U8", "[2]", "[0,2]") + "}";
  const std::pair<std::string, const char*> files[] = {
      {"", "not a safetensors file: 0 bytes are too few for the length of a header"},
      {file_with("{}", 0).substr(0, 9),
       "the header has 2 bytes, but the file ends after 1 of them; it is truncated"},
      {std::string(8, '\xff') + "{}",
       "the header has 18446744073709551615 bytes; at most 100000000 are allowed"},
      // 100,000,001 and 100,000,000, the least byte first.
      {"\x01\xe1\xf5\x05" + rest + "{}",
       "the header has 100000001 bytes; at most 100000000 are allowed"},
      {std::string("\0\xe1\xf5\x05", 4) + rest + "{}",
       "the header has 100000000 bytes, but the file ends after 2 of them; it is truncated"},
      {file_with_two(1, 3), "overlap before tensor 'b': its data starts at byte 1, expected 2"},
      {file_with_two(0, 2), "overlap before tensor 'b': its data starts at byte 0, expected 2"},
      {file_with_two(3, 5), "gap before tensor 'b': its data starts at byte 3, expected 2"},
      {file_with(one, 3), "1 unexpected byte after the data of the last tensor"},
      {file_with(one, 1),
       "the data of tensor 'a' ends at byte 2, but the data of the file ends at byte 1; it is "
       "truncated"},
  };
  for (const auto& [content, message] : files) expect_not_read(content, message);
}

void expect_header_refused(const std::string& header, const std::string& message) {
  expect_not_read(file_with(header, 0), "header of the safetensors file: " + message);
}

TEST(SafetensorsRulesTest, BrokenHeadersAreRefused) {
  expect_header_refused("{", "not valid JSON: line 1, column 2: unexpected end of the text");
  expect_header_refused("[]", "expected an object, found a list");
  expect_header_refused(R"({"__metadata__":{"epoch":3}})",
                        "__metadata__.epoch: expected a string, found an integer");
  const std::string valid = entry_of("U8", "[1]", "[0,1]");
  const std::pair<std::string, const char*> entries[] = {
      {valid + "," + valid, "duplicate key 'a'"},
      {R"("a":{"dtype":"U8","shape":[1]})", "a: missing key 'data_offsets'"},
      {entry_of("F4", "[2]", "[0,1]"), "a.dtype: unknown dtype 'F4'"},
      {entry_of("U8", "[-1]", "[0,1]"), "a.shape[0]: negative size -1"},
      {entry_of("F32", "[2,2]", "[0,12]"),
       "a: shape [2, 2] of float32 needs 16 bytes, data_offsets has 12"},
      {entry_of("F32", "[4294967296,4294967296]", "[0,4]"),
       "a: shape [4294967296, 4294967296] is too large"},
      {entry_of("U8", "[0,4294967296,4294967296]", "[0,0]"),
       "a: shape [0, 4294967296, 4294967296] is too large"},
      {entry_of("U8", "[1]", "[1,0]"),
       "a.data_offsets: expected [begin, end] with begin <= end, found [1, 0]"},
      {entry_of("U8", "[1]", "[0]"), "a.data_offsets: expected [begin, end], found 1 numbers"},
      {entry_of("U8", "[1]", "[0,9223372036854775808]"),
       "a.data_offsets[1]: expected an integer, found an integer beyond 63 bits"},
      {entry_of("U8", fmt::format("[{}]", fmt::join(std::vector<int>(65, 1), ",")), "[0,1]"),
       "a: 65 dimensions; a tensor can have at most 64"}};
  for (const auto& [entry, message] : entries) expect_header_refused("{" + entry + "}", message);
}

TEST(SafetensorsRulesTest, HeadersBeyondTheLimitsAreRefused) {
  EXPECT_THAT([] { load(file_with("{\"\xff\": 0}", 0)); },
              ThrowsMessage<WeightError>(HasSubstr("line 1, column 3: unexpected")));
  std::string numbers = "1";
  for (size_t i = 0; i < kMaxDocumentValues; ++i) numbers += ",1";
  EXPECT_THAT([&] { load(file_with("{\"a\":[" + numbers + "]}", 0)); },
              ThrowsMessage<WeightError>(HasSubstr("more than 4194304 values")));
}

}  // namespace
}  // namespace torch_ir
