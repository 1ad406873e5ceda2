// Archives of torch.export.save on the command line: import, ops, and as the FILE of other
// commands.

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "torch_ir/base/file.h"
#include "torch_ir/base/zip_archive.h"
#include "torch_ir/cli/testing/test_support.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/ir.h"
#include "torch_ir/ir/testing/test_graphs.h"
#include "torch_ir/weights/safetensors.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ArchiveCommandsTest : public CliTest {
 protected:
  // An input file for `ir`: threes, for sizes that differ from run to run too.
  std::string inputs_for(const IR& ir) const {
    std::vector<std::pair<std::string, at::Tensor>> tensors;
    for (const TensorMeta& input : ir.graph_inputs) {
      std::vector<int64_t> shape = input.shape;
      for (int64_t& size : shape) size = size == kDynamicSize ? 3 : size;
      tensors.emplace_back(input.name, at::full(shape, 3, find_dtype(input.dtype).value()));
    }
    return tensor_file("inputs.safetensors", tensors);
  }
};

// To the bit. Among them: how weights lie in memory; writes to a tensor of two names, as in shared
// observers; scans, maps.
TEST_F(ArchiveCommandsTest, ImportedFilesComputeWhatTheArchiveDoes) {
  for (const std::string name :
       {"small", "layout_2_7", "layout_2_8", "mutations", "strides", "shared_buffers", "loops"}) {
    const std::string file = archive(name + ".pt2");
    const std::string folder = path(name);
    EXPECT_THAT(printed({"import", file, "--output", folder}),
                StartsWith(folder + "/ir.json: IR(model_name="));
    const std::string graph = folder + "/ir.json";
    const std::string weights = folder + "/weights.safetensors";
    printed({"validate", graph, "--weights", weights});
    const std::string inputs = folder + "/inputs.safetensors";
    const std::string outputs = path("outputs.safetensors");
    printed({"execute", file, "--inputs", inputs, "--outputs", outputs});
    printed({"verify", graph, "--weights", weights, "--inputs", inputs, "--expected", outputs,
             "--rtol", "0", "--atol", "0"});
    if (name != "strides" && name != "loops") continue;
    // Python's results, from another machine.
    printed({"verify", graph, "--weights", weights, "--inputs", inputs, "--expected",
             archive(name + ".expected.pt")});
  }
  EXPECT_THAT(printed({"cut", archive("loops.pt2"), "-o", path("cases")}), HasSubstr("cases of "));
}

// So that `harness --ir FOLDER` runs the model.
TEST_F(ArchiveCommandsTest, ImportKeepsExampleInputs) {
  const std::string folder = path("m");
  EXPECT_THAT(printed({"import", archive("small.pt2"), "-o", folder}),
              HasSubstr(folder + "/inputs.safetensors: 1 tensor\n"));
  // An archive without examples leaves none of another model.
  std::string bytes = read_file(archive("small.pt2"));
  const std::string name = "sample_inputs/model.pt";
  for (size_t at = 0; (at = bytes.find(name, at)) != std::string::npos;) bytes[at] = 'S';
  EXPECT_THAT(torch_ir({"import", file("none.pt2", bytes), "-o", folder}).err,
              HasSubstr("no inputs.safetensors is written"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/weights.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/inputs.safetensors"));
}

TEST_F(ArchiveCommandsTest, ArchivesAreComparedAndShownWithTheirSymbols) {
  // The two were exported by different versions, and have other files inside.
  EXPECT_EQ(printed({"diff", archive("layout_2_7.pt2"), archive("layout_2_8.pt2")}),
            "no difference\n");
  EXPECT_EQ(torch_ir({"diff", archive("layout_2_7.pt2"), archive("weights.pt2")}).status, 1);
  EXPECT_THAT(printed({"info", archive("dynamic.pt2"), "--json"}), HasSubstr("\"s"));
  printed({"visualize", archive("dynamic.pt2")});
}

// The new value of a buffer goes by its name in the state dict too, and need not be expected.
TEST_F(ArchiveCommandsTest, ExecuteWritesWhatTheModelUpdates) {
  printed({"import", archive("mutations.pt2"), "--output", path("m")});
  const IR ir = IR::load(path("m/ir.json"));
  size_t num_updates = 0;
  for (const TensorMeta& output : ir.graph_outputs) num_updates += output.mutates.empty() ? 0 : 1;
  ASSERT_GT(num_updates, 0u);
  const std::string outputs = path("outputs.safetensors");
  printed({"execute", archive("mutations.pt2"), "--inputs", inputs_for(ir), "--outputs", outputs});
  const std::string compared = printed({"compare", outputs, outputs});
  for (const TensorMeta& output : ir.graph_outputs) {
    if (output.mutates.empty()) continue;
    const std::string* buffer = ir.weight_name_mapping.find(output.mutates);
    EXPECT_THAT(compared, HasSubstr(buffer == nullptr ? output.mutates : *buffer));
  }
}

TEST_F(ArchiveCommandsTest, InputsThatBreakAGuardAreRefused) {
  const std::string inputs = tensor_file(
      "inputs.safetensors",
      {{"x", at::ones({9, 3})}, {"pair_a_b_0", at::ones({6})}, {"n", at::full({}, 3, at::kLong)}});
  const std::string graph = archive("guards.pt2");
  const std::vector<std::string> commands[] = {
      {"execute", graph, "--inputs", inputs, "--outputs", path("o.safetensors")},
      {"verify", graph, "--inputs", inputs, "--expected", inputs},
      {"benchmark", graph, "--inputs", inputs}};
  for (const std::vector<std::string>& command : commands) {
    const Outcome outcome = torch_ir(command);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, HasSubstr("Guard failed: x.size()[0] % 4 == 0, got 9"));
  }
}

TEST_F(ArchiveCommandsTest, ImportRefusesWhatItCanNotStore) {
  const std::string graph = masked_linear().graph;
  expect_refused(torch_ir({"import", graph, "--output", path("folder")}),
                 graph + " is already an IR file; import reads archives (.pt2)");
  EXPECT_FALSE(std::filesystem::exists(path("folder")));
  const std::string file = archive("part.pt2");
  expect_refused(torch_ir({"import", file, "--output", path("folder")}),
                 file +
                     ": node 'as_strided' reads the storage of 'part', a part of a larger one; a "
                     "file of weights cannot store that: run the archive itself");
  expect_refused(torch_ir({"validate", archive("small.pt2"), "--weights-key", "model"}),
                 "--weights-key needs --weights");
}

TEST_F(ArchiveCommandsTest, ImportKeepsItsArchiveAndLeavesNothingWhereItFails) {
  const std::string bytes = read_file(archive("small.pt2"));
  std::filesystem::create_directory(path("own"));
  const std::string own = file("own/ir.json", bytes);
  expect_failed(torch_ir({"import", own, "--output", path("own")}),
                HasSubstr("writing there would overwrite the input '" + own + "'"));
  EXPECT_EQ(read_file(own), bytes);
  const std::string text = file("text.pt2", "PK\x03\x04 and nothing else");
  expect_failed(torch_ir({"import", text, "--output", path("folder")}), HasSubstr(text));
  EXPECT_FALSE(std::filesystem::exists(path("folder")));
  expect_failed(torch_ir({"import", archive("small.pt2"), "--output", file("blocked", "a file")}),
                HasSubstr("cannot create the folder"));
}

ByteRange entry_of(const ByteRange& zip, const std::string& entry) {
  return ZipArchive::open(zip, "zip").map(entry);
}

// A byte of a weight is changed, so that its checksum is wrong.
TEST_F(ArchiveCommandsTest, WhatNeedsNoValuesReadsNoWeights) {
  for (const char* name : {"small.pt2", "layout_2_7.pt2"}) {
    const std::string whole = archive(name);
    std::string bytes = read_file(whole);
    const ByteRange zip = {reinterpret_cast<std::byte*>(bytes.data()), bytes.size()};
    const ByteRange weight =
        whole.ends_with("small.pt2")
            ? entry_of(zip, "small/data/weights/weight_0")
            : entry_of(entry_of(zip, "serialized_state_dict.pt"), "archive/data/0");
    *weight.data ^= std::byte{1};
    const std::string damaged = file(std::string("damaged_") + name, bytes);
    for (const char* command : {"info", "visualize", "ops", "validate"}) {
      const std::string printed_of_whole = printed({command, whole, "--quiet"});
      EXPECT_EQ(printed({command, damaged, "--quiet"}), printed_of_whole) << command;
    }
    expect_failed(torch_ir({"diff", whole, damaged}), HasSubstr("match its checksum"));
    expect_failed(torch_ir({"import", damaged, "--output", path("folder")}),
                  HasSubstr("match its checksum"));
  }
}

TEST_F(ArchiveCommandsTest, ATiedWeightHasAnyOfItsNames) {
  const std::string folder = path("imported");
  printed({"import", archive("weights.pt2"), "--output", folder, "--quiet"});
  const IR ir = IR::load(folder + "/ir.json");
  ASSERT_THAT(ir.tied_weights, testing::ElementsAre(testing::ElementsAre("whole", "tied")));
  const std::string inputs = folder + "/inputs.safetensors";
  const std::string expected = path("expected.safetensors");
  printed({"execute", archive("weights.pt2"), "--inputs", inputs, "-o", expected, "--quiet"});
  for (const char* name : {"whole", "tied"}) {
    StateDict weights = load_weights(folder + "/weights.safetensors");
    weights.erase(name);
    const std::string some = path("some.safetensors");
    save_weights_safetensors(weights, some);
    printed({"verify", folder + "/ir.json", "--weights", some, "--inputs", inputs, "--expected",
             expected});
  }
}

TEST_F(ArchiveCommandsTest, OpsTellsHowEachOperatorRuns) {
  const IR ir = TestGraphBuilder("Ops")
                    .input("x", {4})
                    .op("n0", "aten.relu.default", {"x"}, {4})
                    .op("n1", "no_such_library.op.default", {"x"}, {4})
                    .op("n2", "aten.from_file.default", {}, {4}, {{"filename", "weights.bin"}})
                    .op("n3", "aten.relu.default", {"n0"}, {4})
                    .op("n4", "_operator.mul", {}, {}, {{"a", 2}, {"b", 3}})
                    .build();
  const std::string out = printed({"ops", graph_file("ops.json", ir), "--quiet"});
  EXPECT_THAT(out, StartsWith("operator"));
  EXPECT_THAT(out, HasSubstr("aten.relu.default                 2  kernel for CPU  "));
  EXPECT_THAT(out, HasSubstr("_operator.mul                     1  function on numbers  "));
  EXPECT_THAT(out, HasSubstr("no_such_library.op.default        1  unknown to LibTorch"));
  EXPECT_THAT(out, HasSubstr("aten.from_file.default            1  refused: it maps a file"));
}

TEST_F(ArchiveCommandsTest, OpsPrintsJson) {
  EXPECT_EQ(nlohmann::json::parse(printed({"ops", graph_file("a.json", masked_linear_graph()),
                                           graph_file("b.json", masked_linear_graph()), "--json"})),
            nlohmann::json::parse(R"({"operators": [
    {"op_type": "aten.linear.default", "calls": 2, "runs": true,
     "runs_as": "composite of other operators", "replayed": "yes"},
    {"op_type": "aten.mul.Tensor", "calls": 2, "runs": true, "runs_as": "kernel for CPU",
     "replayed": "yes"}
  ]})"));
}

// All but runs.
TEST_F(ArchiveCommandsTest, GraphsWithUnknownHigherOrderOperatorsAreShown) {
  for (const char* name : {"kept.pt2", "vmap.pt2"}) {
    const std::string file = archive(name);
    const std::string folder = path(name);
    printed({"import", file, "-o", folder});
    printed({"validate", file});
    printed({"diff", file, folder + "/ir.json"});
    EXPECT_THAT(printed({"ops", file}), HasSubstr("unknown to LibTorch"));
    printed({"info", file});
    printed({"visualize", file});
    const std::string inputs = folder + "/inputs.safetensors";
    expect_failed(torch_ir({"execute", file, "--inputs", inputs, "-o", path("o.safetensors")}),
                  HasSubstr("Unknown operator"));
  }
  EXPECT_THAT(printed({"visualize", archive("loops.pt2")}), HasSubstr("map_impl"));
}

TEST_F(ArchiveCommandsTest, ArchivesWithoutValuesNeedWeightsToRun) {
  const std::string file = archive("no_values.pt2");
  for (const char* command : {"info", "visualize", "validate", "ops"}) printed({command, file});
  printed({"diff", file, file});
  const std::string folder = path("m");
  const Outcome imported = torch_ir({"import", file, "-o", folder});
  EXPECT_EQ(imported.status, 0);
  EXPECT_THAT(imported.err, HasSubstr("the archive has no values for 2 of 2 weights, which "
                                      "weights.safetensors lacks"));
  const std::string inputs = tensor_file("x.safetensors", {{"x", at::ones({4, 3})}});
  const std::string outputs = path("y.safetensors");
  const std::string advice = "; give them with --weights FILE";
  expect_failed(torch_ir({"execute", file, "--inputs", inputs, "-o", outputs}), HasSubstr(advice));
  expect_failed(torch_ir({"benchmark", file, "--inputs", inputs}), HasSubstr(advice));
  const std::string weights = tensor_file(
      "w.safetensors", {{"linear.weight", at::ones({2, 3})}, {"linear.bias", at::ones({2})}});
  const std::string expected = tensor_file("e.safetensors", {{"linear", at::full({4, 2}, 4.f)}});
  printed({"verify", file, "--weights", weights, "--inputs", inputs, "--expected", expected});
}

TEST_F(ArchiveCommandsTest, AProgramOfSeveralIsChosen) {
  const std::string file = archive("programs.pt2");
  expect_refused(torch_ir({"info", file}),
                 file + ": has 2 programs ('prefill', 'decode'); choose one with --program");
  EXPECT_THAT(printed({"info", file, "--program", "decode"}), HasSubstr("[1, 3]"));
  EXPECT_THAT(printed({"info", file, "--program", "prefill"}), HasSubstr("[4, 3]"));
  const std::string folder = path("m");
  printed({"import", file, "--program", "decode", "-o", folder});
  expect_refused(torch_ir({"ops", file, "--program", "x"}),
                 file + ": has no program 'x'; it has 'prefill', 'decode'");
  const std::string graph = folder + "/ir.json";
  expect_refused(torch_ir({"validate", graph, "--program", "x"}),
                 graph + ": --program needs an archive (.pt2)");
}

}  // namespace
}  // namespace torch_ir
