#include "torch_ir/ir/json.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <c10/util/complex.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/json_value.h"
#include "torch_ir/ir/validate.h"

namespace torch_ir {
namespace {

using ::testing::ThrowsMessage;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string testdata(const std::string& name) { return read_file("src/ir/testdata/" + name); }

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

// An IR with `node` as its only node and `rest` behind it.
std::string ir_text(const std::string& node, const std::string& rest = "") {
  return R"({"graph_inputs": [], "graph_outputs": [], "weights": [], "nodes": [)" + node + "]" +
         rest + "}";
}

std::string node_text(const std::string& input, const std::string& rest = "") {
  return R"({"name": "n", "op_type": "o", "inputs": [)" + input + R"(], "outputs": [])" + rest +
         "}";
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
      {"floats", Attribute::list(std::vector<double>{0.0,
                                                     -0.0,
                                                     1.0,
                                                     -1.5,
                                                     0.1,
                                                     1e-4,
                                                     1e-5,
                                                     0.00012345,
                                                     123456.789,
                                                     1e15,
                                                     9999999999999998.0,
                                                     1e16,
                                                     1.2345e16,
                                                     1e22,
                                                     1e23,
                                                     5e-324,
                                                     2.2250738585072014e-308,
                                                     1.7976931348623157e308,
                                                     0.30000000000000004,
                                                     100.0,
                                                     2.5e-10,
                                                     kNaN,
                                                     kInfinity,
                                                     -kInfinity})},
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
  OpNode bare;
  bare.name = "no_attributes";
  bare.op_type = op.op_type;
  ir.nodes = {op, bare};

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

TEST(JsonTest, WritesWhatPythonWrites) {
  EXPECT_EQ(serialize_ir(python_form_ir()), testdata("python_form.json"));
}

TEST(JsonTest, ReadsWhatPythonWrites) {
  EXPECT_EQ(deserialize_ir(testdata("python_form.json")), python_form_ir());
}

// --- Files of the Python package ---

TEST(JsonTest, FilesOfThePythonPackageReadAndWriteBackUnchanged) {
  const std::string text = testdata("python_package.json");
  EXPECT_EQ(serialize_ir(deserialize_ir(text)), text);
}

// Whether everything in `part` is in `whole`, which may have more members in its objects.
::testing::AssertionResult contains(const JsonValue& whole, const JsonValue& part) {
  if (const auto* members = part.get_if<JsonValue::Object>()) {
    const auto* others = whole.get_if<JsonValue::Object>();
    if (others == nullptr) return ::testing::AssertionFailure() << "is " << whole.kind();
    for (const auto& [key, value] : *members) {
      const auto other = std::ranges::find(*others, key, &JsonValue::Object::value_type::first);
      if (other == others->end()) return ::testing::AssertionFailure() << key << " is missing";
      if (auto result = contains(other->second, value); !result) return result << " in " << key;
    }
    return ::testing::AssertionSuccess();
  }
  if (const auto* items = part.get_if<JsonValue::List>()) {
    const auto* others = whole.get_if<JsonValue::List>();
    if (others == nullptr || others->size() != items->size()) {
      return ::testing::AssertionFailure() << "is another list";
    }
    for (size_t i = 0; i < items->size(); ++i) {
      if (auto result = contains((*others)[i], (*items)[i]); !result) return result << " in " << i;
    }
    return ::testing::AssertionSuccess();
  }
  if (whole == part) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "has another value";
}

class LiftedConstantExample : public ::testing::TestWithParam<const char*> {};

// The examples leave out attributes and the version; everything else has to be there.
TEST_P(LiftedConstantExample, WrittenFormHasEverythingThatTheExampleHas) {
  const std::string example = testdata(std::string(GetParam()) + ".json");
  const std::string written = serialize_ir(deserialize_ir(example));
  EXPECT_TRUE(contains(parse_json(written), parse_json(example)));
}

INSTANTIATE_TEST_SUITE_P(Json, LiftedConstantExample,
                         ::testing::Values("masked_linear", "gather_with_index",
                                           "buffer_vs_constant"),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST(JsonTest, OptionalKeysMayBeMissing) {
  const IR ir = deserialize_ir(R"({
    "graph_inputs": [], "graph_outputs": [], "weights": [],
    "nodes": [{"name": "n", "op_type": "o", "inputs": [], "outputs": []}]})");
  EXPECT_EQ(ir.model_name, "");
  EXPECT_EQ(ir.pytorch_version, "");
  EXPECT_TRUE(ir.weight_name_mapping.is_empty());
  EXPECT_TRUE(ir.constants.is_empty());
  EXPECT_TRUE(ir.nodes[0].attrs.empty());
}

TEST(JsonTest, ProducerMayBeNull) {
  const IR ir = deserialize_ir(R"({
    "graph_inputs": [{"name": "x", "shape": [], "dtype": "bool", "producer_node": null}],
    "graph_outputs": [], "weights": [], "nodes": []})");
  EXPECT_EQ(ir.graph_inputs[0].producer_node, std::nullopt);
}

// --- What the Python package can not express ---

// A node with attributes of every type, and an input that names its argument.
IR extended_ir() {
  IR ir;
  ir.model_name = "Extended";
  ir.pytorch_version = "2.13.0";
  ir.graph_inputs = {meta("x", {2}), meta("limit", {2})};
  ir.graph_outputs = {meta("clamp", {2})};
  OpNode factory;
  factory.name = "empty";
  factory.op_type = "aten.empty.memory_format";
  factory.outputs = {meta("empty", {1, 2, 3, 4}, "bfloat16")};
  factory.attrs = {{"size", Attribute::list({1, 2, 3, 4})},
                   {"dtype", c10::kBFloat16},
                   {"layout", c10::kStrided},
                   {"device", c10::Device(c10::kCPU)},
                   {"pin_memory", false},
                   {"memory_format", c10::MemoryFormat::ChannelsLast}};
  OpNode full;
  full.name = "full";
  full.op_type = "aten.full.default";
  full.outputs = {meta("full", {}, "complex128")};
  full.attrs = {{"size", Attribute::list({})},
                {"fill_value", std::complex<double>(0.5, -kInfinity)},
                {"device", c10::Device(c10::kCUDA, 1)}};
  OpNode clamp;
  clamp.name = "clamp";
  clamp.op_type = "aten.clamp.Tensor";
  clamp.inputs = {made_by(meta("x", {2}), "x", 0), made_by(meta("limit", {2}), "limit", 0)};
  clamp.inputs[1].arg = "max";
  clamp.outputs = {meta("clamp", {2})};
  ir.nodes = {factory, full, clamp};
  ir.weights = {meta("c", {0, 2}, "bfloat16"), meta("z", {2}, "complex64")};
  ir.weight_name_mapping.insert("c_c", "c");
  ir.weight_name_mapping.insert("c_z", "z");
  ir.constants.insert("c", at::empty({0, 2}, at::kBFloat16));
  ir.constants.insert("z", at::tensor({c10::complex<float>(0.1f, 0), c10::complex<float>(0, -1)}));
  return ir;
}

// The file of this version of the format. A change of the format needs a new version and file.
TEST(JsonTest, GoldenFileOfVersion1IsReadAndWritten) {
  EXPECT_EQ(serialize_ir(extended_ir()), testdata("version_1.json"));
  EXPECT_EQ(deserialize_ir(testdata("version_1.json")), extended_ir());
}

TensorMeta dynamic(std::string name, std::vector<std::string> sizes) {
  TensorMeta tensor = meta(std::move(name), {});
  for (std::string& size : sizes) {
    const bool is_number = size.find_first_not_of("0123456789") == std::string::npos;
    tensor.shape.push_back(is_number ? std::stoll(size) : kDynamicSize);
    tensor.symbolic_shape.push_back(is_number ? std::string() : std::move(size));
  }
  return tensor;
}

TensorMeta number(std::string name, std::string dtype, std::string expression = "") {
  TensorMeta value = meta(std::move(name), {}, std::move(dtype));
  value.is_scalar = true;
  value.expression = std::move(expression);
  return value;
}

// Everything that version 2 adds, in a graph that is well formed.
IR version_2_ir() {
  IR ir;
  ir.model_name = "Dynamic";
  ir.pytorch_version = "2.13.0";
  ir.graph_inputs = {dynamic("x", {"s0", "3"})};
  ir.range_constraints = {{"s0", 2, 16}, {"2*s0", 4, std::nullopt}};
  ir.constant_inputs = {{"scale", 0.5}, {"mode", "sum"}, {"mask", Attribute()}};
  ir.weights = {meta("count", {}, "int64")};
  ir.weight_name_mapping.insert("b_count", "count");

  OpNode size;
  size.name = "sym_size_int";
  size.op_type = "aten.sym_size.int";
  size.inputs = {made_by(dynamic("x", {"s0", "3"}), "x", 0)};
  size.outputs = {number("sym_size_int", "int64", "s0")};
  size.attrs = {{"dim", 0}};
  OpNode twice;
  twice.name = "mul";
  twice.op_type = "_operator.mul";
  twice.outputs = {number("mul", "int64", "2*s0")};
  twice.attrs = {{"a", 2}, {"b", ValueRef{"sym_size_int"}}};
  OpNode add;
  add.name = "add";
  add.op_type = "aten.add.Tensor";
  add.inputs = {meta("b_count", {}, "int64")};
  add.outputs = {meta("add", {}, "int64")};
  add.attrs = {{"other", 1}};
  OpNode compare;
  compare.name = "gt";
  compare.op_type = "_operator.gt";
  compare.outputs = {number("gt", "bool")};
  compare.attrs = {{"a", ValueRef{"mul"}}, {"b", 8}};

  Graph negative;
  negative.graph_inputs = {dynamic("arg0_1", {"s0", "3"})};
  OpNode neg;
  neg.name = "neg";
  neg.op_type = "aten.neg.default";
  neg.inputs = {made_by(dynamic("arg0_1", {"s0", "3"}), "arg0_1", 0)};
  neg.outputs = {dynamic("neg", {"s0", "3"})};
  negative.nodes = {neg};
  negative.graph_outputs = {made_by(dynamic("neg", {"s0", "3"}), "neg", 0)};
  Graph same = negative;
  same.nodes.clear();
  same.graph_outputs = {made_by(dynamic("arg0_1", {"s0", "3"}), "arg0_1", 0)};
  same.constant_outputs = {{1, Attribute()}};
  OpNode cond;
  cond.name = "cond";
  cond.op_type = "higher_order.cond";
  cond.inputs = {made_by(dynamic("x", {"s0", "3"}), "x", 0)};
  cond.outputs = {dynamic("cond", {"s0", "3"})};
  cond.attrs = {{"_tensor_list_sizes", Attribute::list({1})}, {"pred", ValueRef{"gt"}}};
  cond.graphs = {negative, same};
  OpNode view;
  view.name = "view";
  view.op_type = "aten.view.default";
  view.inputs = {made_by(dynamic("cond", {"s0", "3"}), "cond", 0)};
  view.outputs = {dynamic("view", {"3*s0"})};
  view.attrs = {{"size", Attribute::list({-1})}};
  ir.nodes = {size, twice, add, compare, cond, view};

  ir.graph_outputs = {made_by(meta("add", {}, "int64"), "add", 0),
                      made_by(dynamic("view", {"3*s0"}), "view", 0),
                      made_by(number("mul", "int64", "2*s0"), "mul", 0)};
  ir.graph_outputs[0].mutates = "b_count";
  ir.constant_outputs = {{2, Attribute()}, {4, 7}};
  return ir;
}

TEST(JsonTest, GoldenFileOfVersion2IsReadAndWritten) {
  EXPECT_EQ(serialize_ir(version_2_ir()), testdata("version_2.json"));
  EXPECT_EQ(deserialize_ir(testdata("version_2.json")), version_2_ir());
  EXPECT_THAT(find_problems(version_2_ir()), ::testing::IsEmpty());
}

TEST(JsonTest, OnlyWhatNeedsVersion2IsWrittenAsSuch) {
  EXPECT_EQ(format_version(extended_ir()), 1);
  EXPECT_EQ(format_version(version_2_ir()), 2);
  IR ir = extended_ir();
  ir.constant_outputs = {{0, Attribute()}};
  EXPECT_EQ(format_version(ir), 2);
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

TEST(JsonTest, NanReadsBackWhateverItsBits) {
  IR ir = extended_ir();
  ir.nodes[0].attrs.set("nan", -kNaN);
  ir.constants["c"] = at::tensor({-kNaN, 1.0}, at::kDouble).to(at::kBFloat16);
  EXPECT_EQ(deserialize_ir(serialize_ir(ir)), ir);
}

// No IR that makes sense has it, but what is written is what is read.
TEST(JsonTest, OutputIndexWithoutProducerReadsBack) {
  IR ir = extended_ir();
  ir.nodes[2].inputs[0].producer_node.reset();
  ir.nodes[2].inputs[0].producer_output_idx = 1;
  EXPECT_EQ(deserialize_ir(serialize_ir(ir)), ir);
}

TEST(JsonTest, TextThatIsNotUtf8IsNotWritten) {
  IR ir;
  ir.model_name = "\xff";
  EXPECT_THAT([&] { serialize_ir(ir); },
              ThrowsMessage<SerializationError>("a name or a text is not valid UTF-8: '\xff'"));
}

// --- The page and the schema of the format ---

TEST(JsonTest, ExampleOfThePageIsWellFormed) {
  const std::string page = read_file("src/ir/ir_format.md");
  const std::string fence = "```json\n";
  const size_t begin = page.find(fence) + fence.size();
  const IR ir = deserialize_ir(page.substr(begin, page.find("```", begin) - begin));
  EXPECT_EQ(ir.model_name, "MaskedLinear");
  EXPECT_THAT(find_problems(ir), ::testing::IsEmpty());
}

JsonValue& member(JsonValue& object, std::string_view key) {
  return std::ranges::find(*object.get_if<JsonValue::Object>(), key,
                           &JsonValue::Object::value_type::first)
      ->second;
}

TEST(JsonTest, ConstantsOfEveryDtypeOfTheSchemaAreRead) {
  JsonValue schema = parse_json(read_file("src/ir/ir.schema.json"));
  const auto& dtypes =
      *member(member(member(schema, "$defs"), "dtype"), "enum").get_if<JsonValue::List>();
  EXPECT_EQ(dtypes.size(), 21u);
  for (const JsonValue& dtype : dtypes) {
    const std::string& name = *dtype.get_if<std::string>();
    EXPECT_NO_THROW(deserialize_ir(
        ir_text("", R"(, "constants": {"c": {"data": [], "dtype": ")" + name + R"("}})")))
        << name;
  }
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
  EXPECT_THAT([&] { load_ir(path); },
              ThrowsMessage<SerializationError>(path + ": expected an object, found a list"));
  EXPECT_THAT([] { load_ir(::testing::TempDir() + "missing.json"); },
              ThrowsMessage<Error>("cannot open '" + ::testing::TempDir() +
                                   "missing.json': No such file or directory"));
}

// --- Texts that are no IR ---

void expect_refused(const std::string& text, const std::string& message) {
  EXPECT_THAT([&] { deserialize_ir(text); }, ThrowsMessage<SerializationError>(message));
}

TEST(JsonErrorTest, Truncation) {
  const std::string text = serialize_ir(extended_ir());
  for (size_t size = 0; size + 1 < text.size(); size += 7) {
    EXPECT_THAT([&] { deserialize_ir(text.substr(0, size)); },
                ThrowsMessage<SerializationError>(::testing::StartsWith("not valid JSON: ")));
  }
}

TEST(JsonErrorTest, UnknownKeys) {
  expect_refused(ir_text("", R"(, "extra": 1)"), "unknown key 'extra'");
  expect_refused(ir_text(node_text("", R"(, "extra": 1)")), "nodes[0]: unknown key 'extra'");
  expect_refused(ir_text(node_text(R"({"name": "x", "shape": [], "dtype": "bool", "extra": 1})")),
                 "nodes[0].inputs[0]: unknown key 'extra'");
}

TEST(JsonErrorTest, MissingKeys) {
  expect_refused("{}", "the key 'graph_inputs' is missing");
  expect_refused(ir_text(R"({"name": "n", "inputs": [], "outputs": []})"),
                 "nodes[0]: the key 'op_type' is missing");
  expect_refused(ir_text(node_text(R"({"name": "x", "dtype": "bool"})")),
                 "nodes[0].inputs[0]: the key 'shape' is missing");
}

TEST(JsonErrorTest, ValuesOfTheWrongType) {
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
}

TEST(JsonErrorTest, IntegerBeyond63BitsInAnAttribute) {
  expect_refused(ir_text(node_text("", R"(, "attrs": {"a": 9223372036854775808})")),
                 "nodes[0].attrs.a: expected a value or a list of values, found an integer beyond "
                 "63 bits");
}

TEST(JsonErrorTest, DuplicateKeys) {
  expect_refused(ir_text(node_text("", R"(, "attrs": {"a": 1, "a": 2})")),
                 "nodes[0].attrs: the key 'a' occurs twice");
}

TEST(JsonErrorTest, ConstantsAreNamed) {
  expect_refused(ir_text("", R"(, "constants": {"mask": {"data": [1], "dtype": "float31"}})"),
                 "constants.mask.dtype: unknown dtype 'float31'");
}

// --- Versions of the format ---

TEST(JsonVersionTest, Version1IsTheFormatWithoutAVersion) {
  EXPECT_EQ(deserialize_ir(ir_text("", R"(, "format_version": 1)")), deserialize_ir(ir_text("")));
}

TEST(JsonVersionTest, LaterVersionsAreRefused) {
  expect_refused(ir_text("", R"(, "format_version": 3)"),
                 "format_version: the file has version 3 of the IR format, this program reads "
                 "versions 1 to 2; read it with a newer program");
}

// What a later version brings would otherwise be reported as an unknown key.
TEST(JsonVersionTest, VersionIsCheckedFirst) {
  expect_refused(ir_text("", R"(, "symbols": {}, "format_version": 3)"),
                 "format_version: the file has version 3 of the IR format, this program reads "
                 "versions 1 to 2; read it with a newer program");
}

TEST(JsonVersionTest, VersionsThatDoNotExistAreRefused) {
  expect_refused(ir_text("", R"(, "format_version": 0)"),
                 "format_version: the file has version 0 of the IR format, this program reads "
                 "versions 1 to 2");
  expect_refused(ir_text("", R"(, "format_version": "1")"),
                 "format_version: expected an integer, found a string");
}

}  // namespace
}  // namespace torch_ir
