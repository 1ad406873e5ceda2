#include "torch_ir/ir/json_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// The value that stands alone in `text`.
template <class T>
T parse_as(const std::string& text) {
  const JsonValue value = parse_json(text);
  const T* typed = value.get_ptr<const T*>();
  EXPECT_NE(typed, nullptr) << text << " is " << kind_of(value);
  return typed == nullptr ? T() : *typed;
}

void expect_no_json(const std::string& text, const std::string& message,
                    size_t max_values = kMaxJsonValues) {
  EXPECT_THAT([&] { parse_json(text, max_values); },
              ThrowsMessage<SerializationError>(HasSubstr(message)))
      << text.substr(0, 100);
}

TEST(JsonValueTest, ReadsScalars) {
  EXPECT_TRUE(parse_json("null").is_null());
  EXPECT_TRUE(parse_as<bool>("true"));
  EXPECT_EQ(parse_as<std::string>(R"("a\u00e9\n")"), "a\u00e9\n");
  EXPECT_EQ(parse_as<double>("-1.5e-3"), -1.5e-3);
  EXPECT_EQ(parse_as<int64_t>("-9223372036854775808"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(parse_as<int64_t>("9223372036854775807"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(parse_as<uint64_t>("9223372036854775808"), uint64_t{1} << 63);
  EXPECT_EQ(parse_as<uint64_t>("18446744073709551615"), std::numeric_limits<uint64_t>::max());
  EXPECT_TRUE(std::isnan(parse_as<double>("NaN")));
  EXPECT_EQ(parse_as<double>("Infinity"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse_as<double>("-Infinity"), -std::numeric_limits<double>::infinity());
}

TEST(JsonValueTest, NotJsonIsRefusedWithItsPlace) {
  expect_no_json(R"({"a": [0, 18446744073709551616]})",
                 "a[1]: the integer 18446744073709551616 does not fit into 64 bits");
  expect_no_json(R"({"a": -9223372036854775809})",
                 "a: the integer -9223372036854775809 does not fit into 64 bits");
  expect_no_json("[1e999]", "not valid JSON: line 1, column 6: number beyond double '1e999'");
  for (const char* text : {"-NaN", "+Infinity", "NaNs", "NaN0", "1NaN", "[NaN NaN]", "{NaN: 1}",
                           "Infinity5", "- Infinity", "nan", "-\"NaN\""}) {
    expect_no_json(text, "not valid JSON");
  }
  expect_no_json("[NaN, Infinity, -Infinity, x]", "line 1, column 28");
  expect_no_json(R"({"a": [{}, {"k": 1, "l": 2, "k": 3}]})", "a[1]: duplicate key 'k'");
  expect_no_json(R"({"a\n": {"k\n": 1, "k\n": 3}})", "a\\x0a: duplicate key 'k\\x0a'");
  std::string many = "{";
  for (int i = 0; i < 1000; ++i) many += "\"" + std::to_string(i) + "\": 0, ";
  expect_no_json(many + "\"500\": 0}", "duplicate key '500'");
  const std::string start = "not valid JSON: line ";
  expect_no_json("", start + "1, column 1: unexpected end of the text");
  expect_no_json("{", start + "1, column 2: unexpected end of the text");
  expect_no_json("[1,\n 2,\n", start + "3, column 1: unexpected end of the text");
  expect_no_json("\"a", start + "1, column 3: unexpected end of the text");
  expect_no_json("{} {}", start + "1, column 4: unexpected '{'");
  expect_no_json("[\n  1 \"two\"]", start + "2, column 9: unexpected '\"two\"'");
  expect_no_json("[1 NaN]", start + "1, column 6: unexpected 'NaN'");
  expect_no_json("\"\xff\"", start + "1, column 2: unexpected '\"\\xff'");
  expect_no_json("PK\x03\x04", start + "1, column 1: unexpected 'P'");
}

TEST(JsonValueTest, WhatIsLikeANonFiniteNumberStaysWhatItIs) {
  const auto list =
      parse_json("[NaN, 0E0, 0E000000, -0E000000, 0e0, 1E2]").get<std::vector<double>>();
  EXPECT_TRUE(std::isnan(list[0]));
  EXPECT_TRUE(std::signbit(list[3]));
  EXPECT_THAT(std::vector(list.begin() + 1, list.end()), ElementsAre(0.0, 0.0, 0.0, 0.0, 100.0));
  const JsonValue value = parse_json(R"({"NaN": NaN, "a": "\"NaN, Infinity\\", "b": "-Infinity"})");
  EXPECT_TRUE(value.contains("NaN"));
  EXPECT_EQ(value["a"], "\"NaN, Infinity\\");
  EXPECT_EQ(value["b"], "-Infinity");
}

// Compares with nlohmann's own parser.
TEST(JsonValueTest, IsWhatTheLibraryReads) {
  const std::string text =
      R"({"z": [1, -2, 18446744073709551615, 0.5, 1e300], "a": {"b": null, "c": [true, {}, []]},)"
      R"( "": "\u00e9\n"})";
  const JsonValue value = parse_json(text);
  EXPECT_EQ(value.dump(), JsonValue::parse(text).dump());
  EXPECT_STREQ(kind_of(value["z"][0]), "an integer");
  EXPECT_STREQ(kind_of(value["z"][2]), "an integer beyond 63 bits");
}

TEST(JsonValueTest, NestingAndNumbersOfValuesAndDigitsAreLimited) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_NO_THROW(parse_json(nested(512)));
  expect_no_json(nested(513), "nested deeper than 512 levels");
  expect_no_json(std::string(1000000, '['), "nested deeper than 512 levels");
  EXPECT_NO_THROW(parse_json("[1,[2],\"3,[{4\\\",\"]", 6));
  expect_no_json("[1,[2],3,4,5]", "more than 6 values", 6);
  expect_no_json(R"({"a":{"b":[1,2]},"c":3})", "more than 5 values", 5);
  // Rejected before it is parsed.
  std::string text = "[NaN, x";
  text.append(2 * kMaxJsonValues, ',');
  expect_no_json(text, "more than 16777216 values");
  const auto number = [](size_t digits) { return "[1." + std::string(digits, '9') + "]"; };
  EXPECT_NO_THROW(parse_json(number(10'000), 100));
  expect_no_json(number(10'001), "a number has more than 10000 digits", 100);
}

TEST(PythonJsonTest, TextThatIsNotUtf8IsRefused) {
  EXPECT_THAT([] { python_json("\xc3("); },
              ThrowsMessage<SerializationError>("invalid UTF-8 in a string: '\\xc3('"));
}

}  // namespace
}  // namespace torch_ir
