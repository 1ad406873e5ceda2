// Versions of the format of the IR file.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using ::testing::ThrowsMessage;

std::string version_testdata(const std::string& name) {
  return read_file("src/torch_ir/ir/testdata/" + name);
}

void expect_version_refused(const std::string& text, const std::string& message) {
  EXPECT_THAT([&] { (void)deserialize_ir(text); }, ThrowsMessage<SerializationError>(message));
}

IR version_2_ir() {
  IR ir;
  ir.model_name = "Dynamic";
  ir.pytorch_version = "2.13.0";
  ir.graph_inputs = {dynamic("x", {"s0", "3"})};
  ir.range_constraints = {{"s0", 2, 16}, {"2*s0", 4, std::nullopt}};
  ir.guards = {"x.size()[0] % 2 == 0", "L['x']._base.size()[0] != 3"};
  ir.constant_inputs = {{"scale", 0.5}, {"mode", "sum"}, {"mask", Attribute()}};
  ir.weights = {meta("count", {}, "int64")};
  ir.weight_name_mapping.insert("b_count", "count");

  const TensorMeta x = made_by(dynamic("x", {"s0", "3"}), "x");
  const OpNode size = node("sym_size_int", "aten.sym_size.int", {x},
                           {number("sym_size_int", "int64", "s0")}, {{"dim", 0}});
  const OpNode twice = node("mul", "_operator.mul", {}, {number("mul", "int64", "2*s0")},
                            {{"a", 2}, {"b", ValueRef{"sym_size_int"}}});
  const OpNode add = node("add", "aten.add.Tensor", {meta("b_count", {}, "int64")},
                          {meta("add", {}, "int64")}, {{"other", 1}});
  const OpNode compare =
      node("gt", "_operator.gt", {}, {number("gt", "bool")}, {{"a", ValueRef{"mul"}}, {"b", 8}});

  IRGraph negative;
  negative.graph_inputs = {dynamic("arg0_1", {"s0", "3"})};
  const TensorMeta argument = made_by(dynamic("arg0_1", {"s0", "3"}), "arg0_1");
  negative.nodes = {node("neg", "aten.neg.default", {argument}, {dynamic("neg", {"s0", "3"})})};
  negative.graph_outputs = {made_by(dynamic("neg", {"s0", "3"}), "neg")};
  IRGraph same = negative;
  same.nodes.clear();
  same.graph_outputs = {argument};
  same.constant_outputs = {{1, Attribute()}};
  OpNode cond = node("cond", "higher_order.cond", {x}, {dynamic("cond", {"s0", "3"})});
  cond.attrs = {{"_tensor_list_sizes", Attribute::list({1})}, {"pred", ValueRef{"gt"}}};
  cond.graphs = {negative, same};
  const OpNode view =
      node("view", "aten.view.default", {made_by(dynamic("cond", {"s0", "3"}), "cond")},
           {dynamic("view", {"3*s0"})}, {{"size", Attribute::list({-1})}});
  ir.nodes = {size, twice, add, compare, cond, view};

  ir.graph_outputs = {made_by(meta("add", {}, "int64"), "add", 0),
                      made_by(dynamic("view", {"3*s0"}), "view", 0),
                      made_by(number("mul", "int64", "2*s0"), "mul", 0)};
  ir.graph_outputs[0].mutates = "b_count";
  ir.constant_outputs = {{2, Attribute()}, {4, 7}};
  return ir;
}

// The files of the versions of the format. A change of the format needs a new version and file.
TEST(JsonVersionTest, GoldenFilesAreReadAndWritten) {
  EXPECT_EQ(serialize_ir(extended_ir()), version_testdata("version_1.json"));
  EXPECT_EQ(deserialize_ir(version_testdata("version_1.json")), extended_ir());
  EXPECT_EQ(serialize_ir(version_2_ir()), version_testdata("version_2.json"));
  EXPECT_EQ(deserialize_ir(version_testdata("version_2.json")), version_2_ir());
  EXPECT_THAT(find_problems(version_2_ir()), ::testing::IsEmpty());
}

TEST(JsonVersionTest, OnlyWhatNeedsVersion2IsWrittenAsSuchAndVersion1NeedsNone) {
  EXPECT_EQ(format_version(extended_ir()), 1);
  EXPECT_EQ(format_version(version_2_ir()), 2);
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
