// Invalid IR texts, and the errors that they cause.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using ::testing::ThrowsMessage;

void expect_refused(const std::string& text, const std::string& message) {
  EXPECT_THAT([&] { (void)deserialize_ir(text); }, ThrowsMessage<SerializationError>(message));
}

TEST(JsonErrorTest, Truncation) {
  const std::string text = serialize_ir(extended_ir());
  for (size_t size = 0; size + 1 < text.size(); size += 7) {
    EXPECT_THAT([&] { (void)deserialize_ir(text.substr(0, size)); },
                ThrowsMessage<SerializationError>(::testing::StartsWith("not valid JSON: ")));
  }
}

TEST(JsonErrorTest, KeysAndValuesThatDoNotFitAreRefusedWithTheirPlace) {
  expect_refused(ir_text("", R"(, "extra": 1)"), "unknown key 'extra'");
  expect_refused(ir_text(node_text("", R"(, "extra": 1)")), "nodes[0]: unknown key 'extra'");
  expect_refused(ir_text(node_text(R"({"name": "x", "shape": [], "dtype": "bool", "extra": 1})")),
                 "nodes[0].inputs[0]: unknown key 'extra'");
  expect_refused("{}", "missing key 'graph_inputs'");
  expect_refused(ir_text(R"({"name": "n", "inputs": [], "outputs": []})"),
                 "nodes[0]: missing key 'op_type'");
  expect_refused(ir_text(node_text(R"({"name": "x", "dtype": "bool"})")),
                 "nodes[0].inputs[0]: missing key 'shape'");
  expect_refused(ir_text(node_text(R"({"name": "x", "shape": 3, "dtype": "bool"})")),
                 "nodes[0].inputs[0].shape: expected a list, found an integer");
  expect_refused(ir_text(node_text(R"({"name": "x", "shape": [1, 2.0], "dtype": "bool"})")),
                 "nodes[0].inputs[0].shape[1]: expected an integer, found a float");
  expect_refused(ir_text(node_text(R"({"name": null, "shape": [], "dtype": "bool"})")),
                 "nodes[0].inputs[0].name: expected a string, found null");
  expect_refused(ir_text("", R"(, "weight_name_mapping": {"p_w": 1})"),
                 "weight_name_mapping.p_w: expected a string, found an integer");
  expect_refused(ir_text("", R"(, "weight_name_mapping": [])"),
                 "weight_name_mapping: expected an object, found a list");
  expect_refused(ir_text(node_text("", R"(, "attrs": {"a": [1, {"b": 2}]})")),
                 "nodes[0].attrs.a[1]: unknown key 'b'");
  expect_refused(ir_text(node_text("", R"(, "attrs": {"a": 9223372036854775808})")),
                 "nodes[0].attrs.a: expected a value or a list of values, found an integer beyond "
                 "63 bits");
  expect_refused(ir_text(node_text("", R"(, "attrs": {"a": 1, "a": 2})")),
                 "nodes[0].attrs: duplicate key 'a'");
  expect_refused(ir_text("", R"(, "constants": {"mask": {"data": [1], "dtype": "float31"}})"),
                 "constants.mask.dtype: unknown dtype 'float31'");
}

}  // namespace
}  // namespace torch_ir
