#include "torch_ir/ir/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace torch_ir {
namespace {

auto fails_with(const std::string& message) {
  return ::testing::ThrowsMessage<SerializationError>(message);
}

TEST(PlaceTest, NamesTheWayFromTheRoot) {
  const Place root;
  const Place nodes = root.key("nodes");
  const Place node = nodes.item(3);
  const Place attributes = node.key("attrs");
  EXPECT_THAT([&] { root.fail("what"); }, fails_with("what"));
  EXPECT_THAT([&] { attributes.fail("what"); }, fails_with("nodes[3].attrs: what"));
  EXPECT_THAT([&] { attributes.key("").item(0).fail("what"); },
              fails_with("nodes[3].attrs.[0]: what"));
}

TEST(ObjectReaderTest, UnknownMembersAreRefused) {
  const JsonValue value = parse_json(R"({"a": 1, "z\n": 2})");
  EXPECT_THAT([&] { ObjectReader(value, Place(), {"a"}); }, fails_with("unknown key 'z\\x0a'"));
}

TEST(ObjectReaderTest, ReadsMembers) {
  const JsonValue value = parse_json(R"({"a": [1, 2], "n": null})");
  const Place root;
  const Place place = root.key("top");
  const ObjectReader members(value, place, {"a", "b", "n"});
  EXPECT_EQ(members.get("a", as_sizes), (std::vector<int64_t>{1, 2}));
  int64_t number = 7;
  members.find("b", as_integer, number);
  EXPECT_EQ(number, 7);
  EXPECT_THAT([&] { members.get("a", as_integer); },
              fails_with("top.a: expected an integer, found a list"));
  EXPECT_THAT([&] { members.find("n", as_integer, number); },
              fails_with("top.n: expected an integer, found null"));
}

TEST(ObjectReaderTest, FormatsThatGrowMayHaveOtherMembersAndNulls) {
  const JsonValue value = parse_json(R"({"a": 1, "n": null})");
  const Place root;
  const ObjectReader members(value, root);
  EXPECT_EQ(members.get("a", as_integer), 1);
  EXPECT_EQ(members.find("n"), nullptr);
  EXPECT_THAT([&] { members.get("n"); }, fails_with("missing key 'n'"));
}

TEST(JsonReaderTest, FloatsAreNumbersAndTheWordsForNonFiniteOnes) {
  const Place root;
  const auto read = [&](const char* text) { return as_float(parse_json(text), root); };
  EXPECT_EQ(read("1.5"), 1.5);
  EXPECT_EQ(read("2"), 2.0);
  EXPECT_EQ(read("\"-Infinity\""), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(read("\"NaN\"")));
  EXPECT_THAT([&] { read("\"one\""); }, fails_with("expected a float, found a string"));
}

}  // namespace
}  // namespace torch_ir
