#include "torch_ir/ir/json.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string testdata(const std::string& name) {
  return read_file("src/ir/testdata/" + name);
}

TensorMeta meta(std::string name, std::vector<int64_t> shape, std::string dtype = "float32") {
  TensorMeta tensor;
  tensor.name = std::move(name);
  tensor.shape = std::move(shape);
  tensor.dtype = std::move(dtype);
  return tensor;
}

TensorMeta made_by(TensorMeta tensor, std::string producer, int64_t index) {
  tensor.producer_node = std::move(producer);
  tensor.producer_output_idx = index;
  return tensor;
}

// The IR that testdata/make_python_form.py writes.
IR python_form_ir() {
  IR ir;
  ir.model_name = "caf\u00e9 \"quoted\" \\ / \b\f\n\r\t \x01 \x7f \u2028 \U0001f600";
  ir.pytorch_version = "2.13.0";
  ir.graph_inputs = {meta("x", {1, 4}), meta("scalar", {}, "int64")};
  ir.graph_outputs = {made_by(meta("op_1", {0, 4}, "float64"), "op", 1)};
  ir.weights = {meta("a.b", {2, 0})};
  ir.weight_name_mapping.insert("p_a_b", "a.b");
  ir.weight_name_mapping.insert("c_\u00fc", "\u00fc");

  OpNode op;
  op.name = "op";
  op.op_type = "no_such_library.op.default";
  op.inputs = {made_by(meta("x", {1, 4}), "x", 0), meta("p_a_b", {2, 0})};
  op.outputs = {meta("op_0", {1, 4}), meta("op_1", {0, 4}, "float64")};
  op.attrs = {
      {"floats", Attribute::list(std::vector<double>{
                     0.0, -0.0, 1.0, -1.5, 0.1, 1e-4, 1e-5, 0.00012345, 123456.789, 1e15,
                     9999999999999998.0, 1e16, 1.2345e16, 1e22, 1e23, 5e-324,
                     2.2250738585072014e-308, 1.7976931348623157e308, 0.30000000000000004, 100.0,
                     2.5e-10, kNaN, kInfinity, -kInfinity})},
      {"integers", Attribute::list(std::vector<int64_t>{
                       0, -1, (int64_t{1} << 53) + 1, std::numeric_limits<int64_t>::max(),
                       std::numeric_limits<int64_t>::min()})},
      {"nothing", Attribute()},
      {"flags", Attribute::list({true, false})},
      {"empty", Attribute::list({})},
      {"nested",
       Attribute::list({Attribute::list({1, Attribute::list({2, Attribute::list({})})}),
                        Attribute::list({Attribute(), "NaN", "Infinity", "-Infinity"})})},
      {"text", "mean"},
      {"", "an empty name"}};
  OpNode bare;
  bare.name = "no_attributes";
  bare.op_type = op.op_type;
  ir.nodes = {op, bare};

  ir.constants.insert("float64", at::tensor({0.1, kNaN, -kInfinity, -0.0}, at::kDouble).view({2, 2}));
  ir.constants.insert("int64", at::tensor({std::numeric_limits<int64_t>::min(),
                                           std::numeric_limits<int64_t>::max()}));
  ir.constants.insert("bool", at::tensor({1, 0}).to(at::kBool));
  ir.constants.insert("scalar", at::empty({}, at::kInt).fill_(3));
  ir.constants.insert("rows", at::empty({2, 0}));
  ir.constants.insert("none", at::empty({0}, at::kHalf));
  return ir;
}

TEST(JsonTest, WritesWhatPythonWrites) {
  EXPECT_EQ(serialize_ir(python_form_ir()), testdata("python_form.json"));
}

TEST(JsonTest, ReadsWhatPythonWrites) {
  EXPECT_EQ(deserialize_ir(testdata("python_form.json")), python_form_ir());
}

}  // namespace
}  // namespace torch_ir
