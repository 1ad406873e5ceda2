// Versions of the format of the IR file.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::ThrowsMessage;

std::string version_testdata(const std::string& name) {
  return read_file("src/torch_ir/ir/testdata/" + name);
}

void expect_version_refused(const std::string& text, const std::string& message) {
  EXPECT_THAT([&] { (void)deserialize_ir(text); }, ThrowsMessage<SerializationError>(message));
}

// The files of the versions of the format. A change of the format needs a new version and file.
TEST(JsonVersionTest, GoldenFilesAreReadAndWritten) {
  EXPECT_EQ(serialize_ir(extended_ir()), version_testdata("version_1.json"));
  EXPECT_EQ(deserialize_ir(version_testdata("version_1.json")), extended_ir());
  const std::string text = version_testdata("version_2.json");
  const IR ir = deserialize_ir(text);
  EXPECT_EQ(serialize_ir(ir), text);
  EXPECT_EQ(format_version(ir), 2);
  EXPECT_THAT(find_problems(ir), ::testing::IsEmpty());
  // The additions of version 2.
  EXPECT_EQ(ir.graph_inputs, std::vector{dynamic("x", {"s0", "3"})});
  EXPECT_EQ(ir.graph_outputs[0].mutates, "b_count");
  EXPECT_EQ(ir.graph_outputs[2], made_by(number("mul", "int64", "2*s0"), "mul"));
  EXPECT_EQ(ir.constant_outputs, (std::vector<ConstantOutput>{{2, Attribute()}, {4, 7}}));
  EXPECT_EQ(ir.constant_inputs,
            (AttributeMap{{"scale", 0.5}, {"mode", "sum"}, {"mask", Attribute()}}));
  EXPECT_EQ(ir.range_constraints,
            (std::vector<SymbolRange>{{"s0", 2, 16}, {"2*s0", 4, std::nullopt}}));
  EXPECT_THAT(ir.guards, ElementsAre("x.size()[0] % 2 == 0", "L['x']._base.size()[0] != 3"));
  EXPECT_EQ(ir.nodes[1].attrs, (AttributeMap{{"a", 2}, {"b", ValueRef{"sym_size_int"}}}));
  const std::vector<IRGraph>& graphs = ir.nodes[4].graphs;
  ASSERT_EQ(graphs.size(), 2u);
  EXPECT_EQ(graphs[0].nodes[0].op_type, "aten.neg.default");
  EXPECT_EQ(graphs[1].constant_outputs, (std::vector<ConstantOutput>{{1, Attribute()}}));
}

TEST(JsonVersionTest, OnlyWhatNeedsVersion2IsWrittenAsSuchAndVersion1NeedsNone) {
  EXPECT_EQ(format_version(extended_ir()), 1);
  IR ir = extended_ir();
  ir.constant_outputs = {{0, Attribute()}};
  EXPECT_EQ(format_version(ir), 2);
  EXPECT_EQ(deserialize_ir(ir_text("", R"(, "format_version": 1)")), deserialize_ir(ir_text("")));
}

TEST(JsonVersionTest, OtherVersionsAreRefusedFirst) {
  // Otherwise the additions of a later version would be reported as unknown keys.
  expect_version_refused(ir_text("", R"(, "symbols": {}, "format_version": 3)"),
                         "format_version: unsupported IR format version 3: this program reads "
                         "versions 1 to 2; use a newer program");
  expect_version_refused(
      ir_text("", R"(, "format_version": 0)"),
      "format_version: unsupported IR format version 0: this program reads versions 1 to 2");
  expect_version_refused(ir_text("", R"(, "format_version": "1")"),
                         "format_version: expected an integer, found a string");
}

}  // namespace
}  // namespace torch_ir
