#include "torch_ir/ir/json.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <sstream>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/ir/json_value.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string testdata(const std::string& name) {
  return read_file("src/torch_ir/ir/testdata/" + name);
}

// The numbers in `text`, as strtod reads them.
Attribute floats_in(const std::string& text) {
  Attribute::List floats;
  std::istringstream words(text);
  for (std::string word; words >> word;) floats.emplace_back(std::strtod(word.c_str(), nullptr));
  return floats;
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

  OpNode op = node("op", "no_such_library.op.default",
                   {made_by(meta("x", {1, 4}), "x"), meta("p_a_b", {2, 0})},
                   {meta("op_0", {1, 4}), meta("op_1", {0, 4}, "float64")});
  op.attrs = {
      {"floats", floats_in("0.0 -0.0 1.0 -1.5 0.1 1e-4 1e-5 0.00012345 123456.789 1e15 "
                           "9999999999999998.0 1e16 1.2345e16 1e22 1e23 5e-324 "
                           "2.2250738585072014e-308 1.7976931348623157e308 0.30000000000000004 "
                           "100.0 2.5e-10 nan inf -inf")},
      {"integers", Attribute::list(std::vector<int64_t>{0, -1, (int64_t{1} << 53) + 1,
                                                        std::numeric_limits<int64_t>::max(),
                                                        std::numeric_limits<int64_t>::min()})},
      {"nothing", Attribute()},
      {"flags", Attribute::list({true, false})},
      {"empty", Attribute::list({})},
      {"nested", Attribute::list({Attribute::list({1, Attribute::list({2, Attribute::list({})})}),
                                  Attribute::list({Attribute(), "NaN", "Infinity", "-Infinity"})})},
      {"text", "mean"},
      {"", "an empty name"}};
  op.module = "encoder.layers.0";
  ir.nodes = {op, node("no_attributes", op.op_type, {}, {})};

  ir.constants.insert("float64",
                      at::tensor({0.1, kNaN, -kInfinity, -0.0}, at::kDouble).view({2, 2}));
  ir.constants.insert("int64", at::tensor({std::numeric_limits<int64_t>::min(),
                                           std::numeric_limits<int64_t>::max()}));
  ir.constants.insert("bool", at::tensor({1, 0}).to(at::kBool));
  ir.constants.insert("scalar", at::empty({}, at::kInt).fill_(3));
  ir.constants.insert("rows", at::empty({2, 0}));
  ir.constants.insert("none", at::empty({0}, at::kHalf));
  return ir;
}

TEST(JsonTest, WritesAndReadsWhatPythonWrites) {
  EXPECT_EQ(serialize_ir(python_form_ir()), testdata("python_form.json"));
  EXPECT_EQ(deserialize_ir(testdata("python_form.json")), python_form_ir());
}

// --- Files of the Python package ---

TEST(JsonTest, FilesOfThePythonPackageReadAndWriteBackUnchanged) {
  const std::string text = testdata("python_package.json");
  EXPECT_EQ(serialize_ir(deserialize_ir(text)), text);
}

// The Python package writes a tensor of shape [0, 3] as [] and no shape.
TEST(JsonTest, AnEmptyConstantHasTheShapeOfItsWeight) {
  const IR ir = deserialize_ir(R"({"graph_inputs": [], "graph_outputs": [], "nodes": [],
      "weights": [{"name": "none", "shape": [0, 3], "dtype": "float32"}],
      "weight_name_mapping": {"c_none": "none"},
      "constants": {"none": {"data": [], "dtype": "float32"}}})");
  EXPECT_EQ(ir.constants["none"].sizes(), (std::vector<int64_t>{0, 3}));
  EXPECT_THAT(find_problems(ir), IsEmpty());
  EXPECT_EQ(deserialize_ir(serialize_ir(ir)), ir);
}

TEST(JsonTest, OptionalKeysMayBeMissingAndProducersNull) {
  const IR ir = deserialize_ir(
      ir_text(node_text(R"({"name": "x", "shape": [], "dtype": "bool", "producer_node": null})")));
  IR expected;
  expected.nodes = {node("n", "o", {meta("x", {}, "bool")}, {})};
  EXPECT_EQ(ir, expected);
}

TEST(JsonTest, AttributesOfUnknownOperatorsStayPlain) {
  IR ir = extended_ir();
  ir.nodes[0].op_type = "no_such_library.empty.default";
  const AttributeMap attrs = deserialize_ir(serialize_ir(ir)).nodes[0].attrs;
  EXPECT_EQ(*attrs.find("dtype"), Attribute("bfloat16"));
  EXPECT_EQ(*attrs.find("layout"), Attribute("strided"));
  EXPECT_EQ(*attrs.find("device"), Attribute("cpu"));
  EXPECT_EQ(*attrs.find("memory_format"), Attribute("channels_last"));
}

TEST(JsonTest, OddValuesReadBack) {
  IR ir = extended_ir();
  ir.nodes[0].attrs.set("nan", -kNaN);
  ir.constants["c"] = at::tensor({-kNaN, 1.0}, at::kDouble).to(at::kBFloat16);
  // No sensible IR has an output index without a producer.
  ir.nodes[2].inputs[0].producer_node.reset();
  ir.nodes[2].inputs[0].producer_output_idx = 1;
  EXPECT_EQ(deserialize_ir(serialize_ir(ir)), ir);
}

// --- The page and the schema of the format ---

TEST(JsonTest, ExampleOfThePageIsWellFormed) {
  const std::string page = read_file("src/torch_ir/ir/ir_format.md");
  const std::string fence = "```json\n";
  const size_t begin = page.find(fence) + fence.size();
  const IR ir = deserialize_ir(page.substr(begin, page.find("```", begin) - begin));
  EXPECT_EQ(ir.model_name, "MaskedLinear");
  EXPECT_THAT(find_problems(ir), IsEmpty());
}

TEST(JsonTest, ConstantsOfEveryDtypeOfTheSchemaAreRead) {
  const JsonValue schema = parse_json(read_file("src/torch_ir/ir/ir.schema.json"));
  const JsonValue& dtypes = schema.at(JsonValue::json_pointer("/$defs/dtype/enum"));
  EXPECT_EQ(dtypes.size(), 21u);
  for (const JsonValue& dtype : dtypes) {
    const auto name = dtype.get<std::string>();
    EXPECT_NO_THROW((void)deserialize_ir(
        ir_text("", R"(, "constants": {"c": {"data": [], "dtype": ")" + name + R"("}})")))
        << name;
  }
}

// --- Errors ---

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

// --- Versions ---

// The files of the versions of the format. A change of the format needs a new version and file.
TEST(JsonVersionTest, GoldenFilesAreReadAndWritten) {
  EXPECT_EQ(serialize_ir(extended_ir()), testdata("version_1.json"));
  EXPECT_EQ(deserialize_ir(testdata("version_1.json")), extended_ir());
  const std::string text = testdata("version_2.json");
  const IR ir = deserialize_ir(text);
  EXPECT_EQ(serialize_ir(ir), text);
  EXPECT_THAT(find_problems(ir), IsEmpty());
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
  IR ir = extended_ir();
  ir.constant_outputs = {{0, Attribute()}};
  EXPECT_EQ(parse_json(serialize_ir(ir)).at("format_version"), 2);
  EXPECT_EQ(deserialize_ir(ir_text("", R"(, "format_version": 1)")), deserialize_ir(ir_text("")));
}

TEST(JsonVersionTest, OtherVersionsAreRefusedFirst) {
  // Otherwise the additions of a later version would be reported as unknown keys.
  expect_refused(ir_text("", R"(, "symbols": {}, "format_version": 3)"),
                 "format_version: unsupported IR format version 3: this program reads "
                 "versions 1 to 2; use a newer program");
  expect_refused(
      ir_text("", R"(, "format_version": 0)"),
      "format_version: unsupported IR format version 0: this program reads versions 1 to 2");
  expect_refused(ir_text("", R"(, "format_version": "1")"),
                 "format_version: expected an integer, found a string");
}

// --- Files ---

TEST(JsonTest, SavedFilesLoad) {
  const std::string path = ::testing::TempDir() + "saved.json";
  extended_ir().save(path);
  EXPECT_EQ(read_file(path), extended_ir().to_json());
  EXPECT_EQ(IR::load(path), extended_ir());
}

TEST(JsonTest, ErrorsOfFilesStartWithTheirPath) {
  const std::string path = ::testing::TempDir() + "broken.json";
  write_file(path, "[]");
  EXPECT_THAT([&] { (void)load_ir(path); },
              ThrowsMessage<SerializationError>(path + ": expected an object, found a list"));
  EXPECT_THAT([] { (void)load_ir(::testing::TempDir() + "missing.json"); },
              ThrowsMessage<Error>("cannot open '" + ::testing::TempDir() +
                                   "missing.json': No such file or directory"));
}

}  // namespace
}  // namespace torch_ir
