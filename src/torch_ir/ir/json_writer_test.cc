#include "torch_ir/ir/json_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

TEST(JsonWriterTest, IndentsByTwoSpaces) {
  JsonWriter writer;
  writer.begin_object();
  writer.key("list");
  writer.begin_list();
  writer.integer(1);
  writer.null();
  writer.begin_object();
  writer.key("flag");
  writer.boolean(true);
  writer.end_object();
  writer.end_list();
  writer.key("number");
  writer.floating(0.5);
  writer.end_object();
  EXPECT_EQ(writer.take(), R"({
  "list": [
    1,
    null,
    {
      "flag": true
    }
  ],
  "number": 0.5
})");
}

TEST(JsonWriterTest, EmptyContainersStayOnOneLine) {
  JsonWriter writer;
  writer.begin_list();
  writer.begin_list();
  writer.end_list();
  writer.begin_object();
  writer.end_object();
  writer.end_list();
  EXPECT_EQ(writer.take(), "[\n  [],\n  {}\n]");
}

TEST(JsonWriterTest, IntegersKeepAll64Bits) {
  JsonWriter writer;
  writer.begin_list();
  writer.integer(std::numeric_limits<int64_t>::min());
  writer.unsigned_integer(std::numeric_limits<uint64_t>::max());
  writer.end_list();
  EXPECT_EQ(writer.take(), "[\n  -9223372036854775808,\n  18446744073709551615\n]");
}

TEST(JsonWriterTest, EscapesAllButPrintableAscii) {
  JsonWriter writer;
  writer.string("a\"\\/\n\x01\x7f\u00e9\U0001f600");
  EXPECT_EQ(writer.take(), R"("a\"\\/\n\u0001\u007f\u00e9\ud83d\ude00")");
}

TEST(JsonWriterTest, TextThatIsNotUtf8IsRefused) {
  JsonWriter writer;
  EXPECT_THAT([&] { writer.string("\xc3("); },
              ::testing::ThrowsMessage<SerializationError>(
                  "a name or a text is not valid UTF-8: '\\xc3('"));
}

}  // namespace
}  // namespace torch_ir
