#include "torch_ir/exporter/pt2/pt2.h"

#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "torch_ir/base/file.h"
#include "torch_ir/base/testing/error_of.h"
#include "torch_ir/base/testing/zip_builder.h"
#include "torch_ir/base/zip_archive.h"
#include "torch_ir/converter/converter.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/testing/program_graphs.h"
#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/weights/pt.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::ThrowsMessage;
using ::testing::UnorderedElementsAre;

std::string data_path(const std::string& name) {
  return "src/torch_ir/exporter/pt2/testdata/" + name;
}

class ArchiveTest : public ::testing::TestWithParam<const char*> {};

// Made by testdata/make_testdata.py, with the results of PyTorch.
TEST_P(ArchiveTest, RunsAsInPython) {
  const StateDict expected = load_weights_pt(data_path(GetParam() + std::string(".expected.pt")));
  const Pt2Model model = read_pt2(data_path(GetParam() + std::string(".pt2")));
  const IR ir = convert_exported_program(model.program);
  const std::vector<at::Tensor> outputs =
      compile(ir, model.weights).run(model.examples.for_graph(model.program));
  size_t compared = 0;
  for (size_t i = 0; i < ir.graph_outputs.size(); ++i) {
    const TensorMeta& output = ir.graph_outputs[i];
    if (!output.mutates.empty()) continue;
    ASSERT_TRUE(expected.contains(output.name)) << output.name;
    // Python's numbers became tensors on the way into the file: floats as float32.
    const at::Tensor value =
        output.is_scalar && output.dtype == "float64" ? outputs[i].to(at::kFloat) : outputs[i];
    EXPECT_EQ(value.scalar_type(), expected[output.name].scalar_type()) << output.name;
    ASSERT_EQ(value.sizes(), expected[output.name].sizes()) << output.name;
    EXPECT_TRUE(at::allclose(value, expected[output.name], 1e-5, 1e-6)) << output.name;
    ++compared;
  }
  EXPECT_GT(compared, 0);
  EXPECT_EQ(IR::from_json(ir.to_json()), ir);
}

INSTANTIATE_TEST_SUITE_P(All, ArchiveTest,
                         ::testing::Values("loops", "inlined", "small", "weights", "wrappers",
                                           "recurrent", "control_flow", "dynamic", "mutations",
                                           "effects", "signature", "lists", "strides", "part",
                                           "objects"));

TEST(Pt2Test, AllLayoutsHoldTheSameModel) {
  const Pt2Model newest = read_pt2(data_path("small.pt2"));
  EXPECT_EQ(newest.program.model_name, "Small");
  EXPECT_EQ(newest.program.torch_version, "2.13.0");
  const IR ir = convert_exported_program(newest.program);
  for (const char* name : {"layout_2_7.pt2", "layout_2_8.pt2"}) {
    const Pt2Model older = read_pt2(data_path(name));
    EXPECT_EQ(convert_exported_program(older.program), ir) << name;
    EXPECT_EQ(older.weights.keys(), newest.weights.keys());
    for (const auto& weight : older.weights) {
      EXPECT_TRUE(at::equal(weight.value(), newest.weights[weight.key()])) << weight.key();
    }
    EXPECT_THAT(read_pt2_example_inputs(data_path(name))->keys(), ElementsAre("x"));
  }
}

TEST(Pt2Test, SeparatesWeightsFromConstants) {
  const Pt2Model model = read_pt2(data_path("small.pt2"));
  EXPECT_THAT(model.weights.keys(), ElementsAre("linear.weight", "linear.bias", "scale"));
  // A checkpoint lacks buffers that are not persistent, so the graph keeps them.
  const StateDict constants = convert_exported_program(model.program).constants;
  EXPECT_THAT(constants.keys(), ElementsAre("shift", "lifted_tensor_0"));
  EXPECT_TRUE(at::equal(constants["shift"], at::tensor({0.5, -0.5})));
}

TEST(Pt2Test, WeightsKeepSharingStridesAndShapes) {
  const StateDict weights = read_pt2(data_path("weights.pt2")).weights;
  const at::Tensor base = at::arange(12, at::kFloat).reshape({3, 4});
  EXPECT_TRUE(at::equal(weights["whole"], base));
  EXPECT_TRUE(at::equal(weights["transposed"], base.t()));
  EXPECT_TRUE(at::equal(weights["row"], base[1]));
  EXPECT_TRUE(at::equal(weights["column"], base.select(1, 2)));
  for (const char* name : {"tied", "transposed", "row", "column"}) {
    EXPECT_EQ(weights[name].storage().data(), weights["whole"].storage().data()) << name;
  }
  EXPECT_EQ(weights["expanded"].strides().vec(), std::vector<int64_t>{0});
  EXPECT_EQ(weights["expanded"].storage().nbytes(), sizeof(float));
  EXPECT_EQ(weights["scalar"].dim(), 0);
  EXPECT_EQ(weights["empty"].sizes().vec(), (std::vector<int64_t>{2, 0}));
  EXPECT_TRUE(at::equal(weights["unused"], at::tensor({1, 2}, at::kLong)));
}

// Also those that convolutions choose by where shape and contiguity say nothing.
TEST(Pt2Test, GraphsHaveTheStridesOfWeightsAndConstants) {
  const IR ir = convert_exported_program(read_pt2(data_path("strides.pt2")).program);
  std::map<std::string, std::vector<int64_t>> strides;
  std::vector<std::string> trainable;
  for (const TensorMeta& weight : ir.weights) {
    strides[weight.name] = weight.strides;
    if (weight.requires_grad) trainable.push_back(weight.name);
  }
  EXPECT_THAT(strides,
              UnorderedElementsAre(
                  Pair("turned", ElementsAre(1, 4)), Pair("images", ElementsAre(36, 1, 12, 4)),
                  Pair("depthwise", ElementsAre(9, 1, 3, 1)), Pair("buffer", ElementsAre(1, 4)),
                  Pair("repeated", ElementsAre(1, 0)), Pair("windows", ElementsAre(1, 1)),
                  Pair("constant", ElementsAre(1, 3))));
  EXPECT_THAT(trainable, ElementsAre("turned", "images", "depthwise"));
  for (const TensorMeta& weight :
       convert_exported_program(read_pt2(data_path("small.pt2")).program).weights) {
    EXPECT_THAT(weight.strides, IsEmpty()) << weight.name;
  }
}

TEST(Pt2Test, CallsOfAGraphAreInlined) {
  const Program program = read_pt2(data_path("inlined.pt2")).program;
  std::vector<std::string> modules;
  for (const Node& node : program.nodes) {
    EXPECT_THAT(node.target, ::testing::StartsWith("aten."));
    if (node.target == "aten.linear.default") modules.push_back(node.origin.module);
  }
  // The second is the same module.
  EXPECT_THAT(modules, ElementsAre("parts.semi;colon, comma.0", "parts.semi;colon, comma.0"));
}

// They do not run, but all that they say is kept.
TEST(Pt2Test, OtherHigherOrderOperatorsAreKept) {
  const IR ir = convert_exported_program(read_pt2(data_path("kept.pt2")).program);
  const auto find = [&](const std::string& op_type) {
    return *std::ranges::find(ir.nodes, op_type, &OpNode::op_type);
  };
  const OpNode functionalized = find("higher_order.auto_functionalized_v2");
  ASSERT_EQ(functionalized.inputs.size(), 2);
  EXPECT_EQ(functionalized.inputs[0].arg, "y");
  EXPECT_EQ(functionalized.inputs[1].arg, "_all_bases.0");
  EXPECT_EQ(*functionalized.attrs.find("arg0"), Attribute("make_testdata.add_.default"));
  EXPECT_EQ(*functionalized.attrs.find("_x_size"), Attribute::list({3}));
  EXPECT_EQ(*find("higher_order.out_dtype").attrs.find("arg1"), Attribute("int32"));
  const std::pair<const char*, const char*> messages[] = {
      {"kept.pt2",
       "Unknown operator 'higher_order.auto_functionalized_v2' of node "
       "'auto_functionalized_v2': LibTorch"},
      {"vmap.pt2", "ExportedProgram.run_decompositions() before torch.export.save may replace it"},
      {"associative_scan.pt2",
       "Unknown operator 'higher_order.associative_scan' of node 'associative_scan': LibTorch"},
      {"associative_scan.pt2",
       "with combine_mode='generic', ExportedProgram.run_decompositions() replaces it"},
  };
  for (const auto& [name, message] : messages) {
    const IR read = convert_exported_program(read_pt2(data_path(name)).program);
    EXPECT_EQ(IR::from_json(read.to_json()), read) << name;
    EXPECT_THAT([&] { (void)compile(read, StateDict()); },
                ThrowsMessage<ExecutionError>(::testing::HasSubstr(message)));
  }
}

// As PyTorch declared them on the GPU.
TEST(Pt2Test, AutocastOnCudaGivesTheSameDtypesOnTheCpu) {
  const Pt2Model model = read_pt2(data_path("autocast_cuda.pt2"));
  StateDict weights;
  for (const auto& weight : model.weights) {
    weights.insert(weight.key(), at::ones(weight.value().sizes()));
  }
  const IR ir = convert_exported_program(model.program);
  const std::vector<at::Tensor> outputs = compile(ir, weights).run({at::ones({3, 3})});
  ASSERT_EQ(outputs.size(), 8u);
  std::set<std::string> dtypes;
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_EQ(outputs[i].scalar_type(), model.program[model.program.outputs[i]].dtype) << i;
    dtypes.insert(dtype_name(outputs[i].scalar_type()));
  }
  EXPECT_THAT(dtypes, ::testing::ElementsAre("float16", "float32"));
}

TEST(Pt2Test, WeightsWithoutValuesAreOnTheMetaDevice) {
  const std::string path = data_path("no_values.pt2");
  const Pt2Model model = read_pt2(path);
  EXPECT_TRUE(model.weights["linear.weight"].is_meta());
  EXPECT_EQ(model.weights["linear.weight"].sizes(), (at::IntArrayRef{2, 3}));
  EXPECT_THAT(
      [&] { check_have_values(path, model.weights); },
      ThrowsMessage<Error>(path + ": the archive has no values for 2 of 2 weights "
                                  "('linear.weight', 'linear.bias'); give them with --weights "
                                  "FILE, or for harness in NAME.weights.safetensors beside it"));
  EXPECT_THAT([&] { model.examples.for_graph(model.program); },
              ThrowsMessage<Error>(::testing::HasSubstr(
                  "the example input 'x' is a tensor of FakeTensorMode, neither a tensor nor a "
                  "number; give inputs with --inputs")));
}

TEST(Pt2Test, FixedInputsAndOutputsAreKeptApart) {
  const Program program = read_pt2(data_path("dynamic.pt2")).program;
  EXPECT_EQ(program.constant_inputs, (AttributeMap{{"flag", true}, {"text", "text"}}));
  ASSERT_EQ(program.inputs.size(), 2);
  EXPECT_TRUE(value_of(program, "n").is_scalar);
  EXPECT_EQ(program.constant_outputs,
            (std::vector<ConstantOutput>{{5, 3}, {6, Attribute()}, {7, 2.5}, {8, true}}));
  EXPECT_EQ(value_of(program, "floordiv").expression,
            value_of(program, "x").symbolic_shape[0] + "//2");
}

TEST(Pt2Test, MutationsNameThePlaceholders) {
  const Program program = read_pt2(data_path("mutations.pt2")).program;
  ASSERT_EQ(program.mutations.size(), 2);
  EXPECT_EQ(program.mutations[0].output, 0);
  EXPECT_EQ(program[program.mutations[0].placeholder].name, "b_count");
  EXPECT_EQ(program.mutations[1].output, 1);
  EXPECT_EQ(program[program.mutations[1].placeholder].name, "x");
}

// As Python's module; make_testdata.py prints what it takes.
TEST(Pt2Test, RunsCheckTheGuardsOfTheModel) {
  const Pt2Model model = read_pt2(data_path("guards.pt2"));
  const ExecutionPlan plan = compile(convert_exported_program(model.program), StateDict());
  const auto problem = [&](int64_t rows, int64_t others, int64_t n) {
    return error_of<ExecutionError>([&] {
      (void)plan.run({at::ones({rows, 3}), at::ones({others}), at::scalar_tensor(n, at::kLong)});
    });
  };
  EXPECT_EQ(problem(8, 6, 3), "");
  EXPECT_EQ(problem(9, 6, 3), "Guard failed: x.size()[0] % 4 == 0, got 9");
  EXPECT_EQ(problem(8, 8, 3),
            "Guard failed: x.size()[0] > pair_a_b_0.size()[0], got x.size()[0] = "
            "8, pair_a_b_0.size()[0] = 8");
  EXPECT_EQ(problem(8, 6, 4), "Guard failed: n % 3 != 1, got 4");
  EXPECT_EQ(problem(12, 6, 3),
            "Guard failed: math.ceil(0.3*torch.sym_float(x.size()[0])) != 4, got 12");
  EXPECT_EQ(problem(16, 15, 5), "");
}

TEST(Pt2Test, ExampleInputsAreFlattenedInTheOrderOfTheTree) {
  EXPECT_THAT(read_pt2_example_inputs(data_path("signature.pt2"))->keys(),
              ElementsAre("tree_first", "tree_pair_0", "tree_pair_1", "rest_0", "scale"));
  const auto numbers = read_pt2_example_inputs(data_path("dynamic.pt2"));
  EXPECT_THAT(numbers->keys(), ElementsAre("x", "n"));
  EXPECT_EQ((*numbers)["n"].dim(), 0);
  EXPECT_EQ((*numbers)["n"].item().toLong(), 3);
}

// Each under the name that the model's class gives it, although only its order is known here.
TEST(Pt2Test, ExampleInputsAreTakenOutOfObjects) {
  const auto inputs = read_pt2_example_inputs(data_path("objects.pt2"));
  EXPECT_THAT(inputs->keys(),
              ElementsAre("x", "cache_keys_0", "cache_keys_1", "cache_values_0", "cache_values_1",
                          "pair_left", "pair_right", "scaled_by"));
  const std::string path = ::testing::TempDir() + "/objects.pt2";
  const ZipArchive archive = ZipArchive::open(map_file(data_path("objects.pt2")), "objects.pt2");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::vector<ZipEntry> entries;
    for (const std::string& entry : archive.entries()) {
      std::string text(archive.read(entry).text());
      for (size_t at = 0; entry == "objects/models/model.json" && at != text.npos;) {
        at = text.find(from, at);
        if (at != text.npos) text.replace(at, from.size(), to);
      }
      entries.push_back({entry, text});
    }
    write_file(path, build_zip(entries));
    return [path] { read_pt2_example_inputs(path); };
  };
  EXPECT_THAT(with(R"([{"as_int":3}])", R"([{"as_int":4}])"),
              ThrowsMessage<ExportError>(EndsWith(
                  "the example inputs hold an object of class 'make_testdata.Cache': no tensor "
                  "fits the input 'pair_left' (float32 [4])")));
  EXPECT_THAT(
      with(R"({"user_input":{"arg":{"as_tensor":{"name":"scaled_by"}}}},)", ""),
      ThrowsMessage<ExportError>(EndsWith("wrong number of example inputs: 9, expected 8")));
  EXPECT_THAT(
      with(R"("user_input")", R"("other")"),
      ThrowsMessage<ExportError>(::testing::HasSubstr(": graph_module.signature.input_specs[")));
}

TEST(Pt2Test, OnlyZipArchivesAreTakenForOne) {
  EXPECT_TRUE(is_pt2_archive(data_path("small.pt2")));
  EXPECT_FALSE(is_pt2_archive(data_path("make_testdata.py")));
}

TEST(Pt2Test, ErrorsNameTheFileAndThePlace) {
  const std::string path = ::testing::TempDir() + "/broken.pt2";
  write_file(path, build_zip({{"r/models/model.json", "{\"schema_version\": 8}"},
                              {"r/data/weights/model_weights_config.json", "{}"},
                              {"r/data/constants/model_constants_config.json", "{}"}}));
  EXPECT_THAT(
      [&] { read_pt2(path); },
      ThrowsMessage<ExportError>(
          path + ": r/models/model.json: schema_version: expected an object, found an integer"));
}

}  // namespace
}  // namespace torch_ir
