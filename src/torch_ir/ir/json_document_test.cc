#include "torch_ir/ir/json_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// As nlohmann's own parser, which other tests of the library trust.
TEST(JsonDocumentTest, IsWhatTheLibraryReads) {
  const std::string text =
      R"({"z": [1, -2, 18446744073709551615, 0.5, 1e300], "a": {"b": null, "c": [true, {}, []]},)"
      R"( "": "\u00e9\n"})";
  const auto expected = nlohmann::ordered_json::parse(text);
  const auto document = parse_json_document(text);
  EXPECT_EQ(document, expected);
  EXPECT_EQ(document.dump(), expected.dump());
  EXPECT_TRUE(document["z"][0].is_number_integer());
  EXPECT_TRUE(document["z"][2].is_number_unsigned());
}

TEST(JsonDocumentTest, IsLimited) {
  EXPECT_THAT([] { parse_json_document(R"({"a": 1, "a": 2})"); },
              ThrowsMessage<SerializationError>(HasSubstr("the key 'a' occurs twice")));
  EXPECT_THAT([] { parse_json_document('[' + std::string(kMaxDocumentValues, ',')); },
              ThrowsMessage<SerializationError>("more than 4194304 values"));
}

}  // namespace
}  // namespace torch_ir
