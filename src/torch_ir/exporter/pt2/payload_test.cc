#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/testing/zip_builder.h"
#include "torch_ir/exporter/pt2/archive.h"
#include "torch_ir/ir/testing/program_graphs.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::ThrowsMessage;

auto fails_with(const std::string& message) { return ThrowsMessage<ExportError>(message); }

// Four int16: 1, 2, 3, 256.
const std::string kStorage = {'\x01', 0, '\x02', 0, '\x03', 0, 0, '\x01'};

std::string integers(const std::vector<int64_t>& values) {
  std::string text;
  for (const int64_t value : values) {
    text += fmt::format("{}{{\"as_int\": {}}}", text.empty() ? "" : ", ", value);
  }
  return "[" + text + "]";
}

std::string item(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
                 int64_t offset = 0, const std::string& entry = "weight_0", int dtype = 3) {
  return fmt::format(R"({{"path_name": "{}", "is_param": true, "use_pickle": false, "tensor_meta":)"
                     R"( {{"dtype": {}, "sizes": {}, "strides": {},)"
                     R"( "storage_offset": {{"as_int": {}}}, "layout": 7}}}})",
                     entry, dtype, integers(sizes), integers(strides), offset);
}

Pt2Archive archive_of(const std::string& config) {
  const auto bytes = std::make_shared<std::string>(build_zip(
      {{"w/config.json", config}, {"w/weight_0", kStorage}, {"w/weight_1", ""}, {"x", kStorage}}));
  const ByteRange range = {reinterpret_cast<std::byte*>(bytes->data()), bytes->size(), bytes};
  Pt2Archive archive{ZipArchive::open(range, "a.pt2"), "", {}, {}, {}};
  archive.weights = {"", "w/config.json", "w/"};
  return archive;
}

at::Tensor find(const std::string& value) {
  const Pt2Archive archive = archive_of(R"({"config": {"name": )" + value + "}}");
  return open_payload(archive, archive.weights)["name"]();
}

at::Tensor shorts(std::initializer_list<int64_t> values) {
  return at::tensor(at::ArrayRef<int64_t>(values), at::kShort);
}

TEST(PayloadTest, TensorsAreWhereTheConfigurationSays) {
  EXPECT_TRUE(at::equal(find(item({4}, {1})), shorts({1, 2, 3, 256})));
  EXPECT_TRUE(at::equal(find(item({2}, {2}, 1)), shorts({2, 256})));
  EXPECT_TRUE(at::equal(find(item({2, 2}, {1, 2})), shorts({1, 3, 2, 256}).view({2, 2})));
  EXPECT_TRUE(at::equal(find(item({3}, {0}, 2)), shorts({3, 3, 3})));
  EXPECT_TRUE(at::equal(find(item({}, {}, 3)), shorts({256})[0]));
  EXPECT_EQ(find(item({0, 3}, {3, 1}, 0, "weight_1")).sizes().vec(), (std::vector<int64_t>{0, 3}));
}

TEST(PayloadTest, NamesThatShareAnEntryShareMemory) {
  const Pt2Archive archive =
      archive_of(R"({"config": {"b": )" + item({4}, {1}) + R"(, "a": )" + item({2}, {1}, 2) + "}}");
  const auto payload = open_payload(archive, archive.weights);
  EXPECT_THAT(payload.keys(), ElementsAre("b", "a"));
  EXPECT_EQ(payload["a"]().storage().data(), payload["b"]().storage().data());
}

TEST(PayloadTest, WhatDoesNotFitIsNamed) {
  const std::string place = "a.pt2: tensor 'name': ";
  const std::pair<std::string, std::string> cases[] = {
      {item({5}, {1}),
       place +
           "in the entry 'w/weight_0': shape [5] with strides [1] at offset 0 needs 10 bytes, but "
           "the storage has 8"},
      {item({4}, {1}, 0, "weight_7"), place + "missing entry 'w/weight_7'"},
      {item({4}, {1}, 0, "../x"), place + "missing entry 'w/../x'"},
      {R"({"path_name": "weight_0"})", place + "has no shape and dtype"},
      {item({4}, {1}, 0, "weight_0", 99),
       "a.pt2: w/config.json: config.name.tensor_meta.dtype: unknown dtype number 99"},
      {R"({"path_name": "weight_0", "tensor_meta": {"dtype": 3, "sizes": [{"as_expr": )"
       R"json({"expr_str": "Symbol('s0')"}}], "strides": []}})json",
       "a.pt2: w/config.json: config.name.tensor_meta.sizes[0]: expected a fixed size for a "
       "weight, found s0"},
  };
  for (const auto& [value, message] : cases) {
    EXPECT_THAT([&] { find(value); }, fails_with(message));
  }
}

// torch.export.save writes so what it exported on the meta device, and gives all tensors of
// FakeTensorMode one storage.
TEST(PayloadTest, TensorsWithoutValuesHaveAnEmptyStorage) {
  const std::string empty = item({4}, {1}, 0, "weight_1");
  const auto with_others = [&](const std::string& others) { return find(empty + others); };
  std::string on_meta = empty;
  on_meta.insert(on_meta.rfind("}}"), R"(, "device": {"type": "meta", "index": null})");
  EXPECT_FALSE(find(on_meta).defined());
  EXPECT_FALSE(with_others(R"(, "b": )" + item({2}, {1}, 0, "weight_1")).defined());
  EXPECT_TRUE(find(item({0}, {1}, 0, "weight_1")).defined());
  const auto is_damaged =
      fails_with("a.pt2: tensor 'name': the entry 'w/weight_1' is empty: the archive is damaged");
  EXPECT_THAT([&] { find(empty); }, is_damaged);
  EXPECT_THAT([&] { with_others(R"(, "tied": )" + empty + R"(, "b": )" + item({4}, {1})); },
              is_damaged);
}

TEST(PayloadTest, WeightsAreAsTheGraphSays) {
  const Pt2Archive archive = archive_of(R"({"config": {"w": )" + item({4}, {1}) + "}}");
  const Payload weights = open_payload(archive, archive.weights);
  const auto take = [&](const Value& meta) {
    Program program;
    add_input(program, "p_w", meta, InputKind::kParameter, "w");
    return take_weights("a.pt2", weights, Payload(), program);
  };
  EXPECT_TRUE(at::equal(take({{4}, at::kShort})["w"], shorts({1, 2, 3, 256})));
  EXPECT_THAT([&] { take({{4}, at::kHalf}); },
              fails_with("a.pt2: weight 'w' has shape [4] and dtype int16, but shape [4] and dtype "
                         "float16 in the graph"));
  EXPECT_THAT([&] { take({{2, 2}, at::kShort}); },
              fails_with("a.pt2: weight 'w' has shape [4] and dtype int16, but shape [2, 2] and "
                         "dtype int16 in the graph"));
}

TEST(PayloadTest, ConfigurationsAreChecked) {
  const Pt2Archive archive = archive_of("[]");
  EXPECT_THAT([&] { open_payload(archive, archive.weights); },
              fails_with("a.pt2: w/config.json: expected an object, found a list"));
}

}  // namespace
}  // namespace torch_ir
