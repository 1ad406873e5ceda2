// torch-ir split.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "torch_ir/base/file.h"
#include "torch_ir/cases/case_files.h"
#include "torch_ir/cli/testing/test_support.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string archive_of(const std::string& name) {
  return "src/torch_ir/exporter/pt2/testdata/" + name;
}

class SplitCommandTest : public CliTest {
 protected:
  Outcome split(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "split");
    arguments.insert(arguments.end(), {"-o", suite_});
    return torch_ir(arguments);
  }

  std::vector<CaseInfo> cases() const { return read_suite(suite_); }

  json case_json(const CaseInfo& info) const {
    return json::parse(read_file(case_folder(suite_, info.name) + "/case.json"));
  }

  // Each case computes its expected outputs, to the bit.
  void expect_that_each_passes() const {
    for (const CaseInfo& info : cases()) {
      const std::string folder = case_folder(suite_, info.name);
      std::vector<std::string> arguments = {"verify",     folder + "/ir.json",
                                            "--inputs",   folder + "/inputs.safetensors",
                                            "--expected", folder + "/expected.safetensors",
                                            "--rtol",     "0",
                                            "--atol",     "0"};
      if (fs::exists(folder + "/weights.safetensors")) {
        arguments.insert(arguments.end(), {"--weights", folder + "/weights.safetensors"});
      }
      // A file has no strides: elements of a transposed tensor may be added in another order.
      if (!case_json(info)["strides"].empty()) arguments[7] = arguments[9] = "1e-6";
      printed(arguments);
    }
  }

  std::map<std::string, std::string> suite_files() const {
    std::map<std::string, std::string> contents;
    for (const auto& entry : fs::recursive_directory_iterator(suite_)) {
      if (entry.is_regular_file()) contents[entry.path()] = read_file(entry.path());
    }
    return contents;
  }

  const std::string suite_ = path("suite");
};

TEST_F(SplitCommandTest, WritesACaseForEachDifferentCall) {
  const Outcome outcome = split({archive_of("small.pt2")});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, StartsWith(suite_ + ": "));
  const std::vector<CaseInfo> infos = cases();
  const auto linear = std::ranges::find(infos, "aten.linear.default", &CaseInfo::op_type);
  ASSERT_NE(linear, infos.end());
  const json fields = case_json(*linear);
  EXPECT_EQ(fields["name"], linear->name);
  EXPECT_EQ(fields["operator"], "aten.linear.default");
  EXPECT_EQ(fields["dtype"], "float32");
  EXPECT_EQ(fields["occurrences"],
            json::parse(R"([{"model": "small", "node": "linear", "module": "linear"}])"));
  ASSERT_EQ(fields["outputs"].size(), 1u);
  EXPECT_GE(fields["outputs"].front()["rtol"], 0);
  EXPECT_TRUE(fields["outputs"].front()["float64_distance"].is_number());
  EXPECT_THAT(read_file(suite_ + "/README.md"), HasSubstr("# Cases of small\n"));
  expect_that_each_passes();
}

TEST_F(SplitCommandTest, TakesEveryKindOfArchive) {
  for (const char* name : {"layout_2_7.pt2", "mutations.pt2", "dynamic.pt2", "recurrent.pt2",
                           "control_flow.pt2", "lists.pt2", "signature.pt2", "wrappers.pt2"}) {
    const Outcome outcome = split({archive_of(name)});
    ASSERT_EQ(outcome.status, 0) << name << ": " << outcome.err;
    EXPECT_FALSE(cases().empty()) << name;
    expect_that_each_passes();
  }
}

TEST_F(SplitCommandTest, MakesWeightsAndInputsUpWhereThereAreNone) {
  const MaskedLinear model = masked_linear();
  const Outcome outcome = split({model.graph});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, suite_ + ": 2 cases of 2 calls\n");
  EXPECT_EQ(case_json(cases().at(0))["occurrences"].front()["node"], "linear");
  expect_that_each_passes();
  const auto before = suite_files();
  ASSERT_EQ(split({model.graph}).status, 0);
  EXPECT_EQ(suite_files(), before);
}

TEST_F(SplitCommandTest, TakesTheUsersTensors) {
  const MaskedLinear model = masked_linear();
  const Outcome outcome =
      split({model.graph, "--weights", model.weights, "--inputs", model.inputs});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const SuiteCase last = read_case(case_folder(suite_, cases().at(1).name));
  EXPECT_TRUE(last.content.expected.at(0).equal(model.output));
}

TEST_F(SplitCommandTest, WritesEachCallOfSeveralModelsOnce) {
  const Outcome outcome = split({archive_of("layout_2_7.pt2"), archive_of("layout_2_8.pt2")});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(read_file(suite_ + "/README.md"), HasSubstr("# Cases of 2 models\n"));
  for (const CaseInfo& info : cases()) {
    const auto count = [&](const char* model) {
      return std::ranges::count(info.occurrences, model, &CaseOccurrence::model);
    };
    EXPECT_EQ(count("layout_2_7"), count("layout_2_8")) << info.name;
  }
}

TEST_F(SplitCommandTest, LeavesTheFilesOfOthersAlone) {
  fs::create_directories(suite_);
  write_file(suite_ + "/thesis.txt", "years");
  expect_refused(
      split({archive_of("small.pt2")}),
      "'" + suite_ + "' holds 'thesis.txt', which is not part of a suite; use an empty folder");
  EXPECT_EQ(suite_files().size(), 1u);
}

TEST_F(SplitCommandTest, KeepsAnEarlierSuiteWhereItFails) {
  ASSERT_EQ(split({archive_of("small.pt2")}).status, 0);
  const auto before = suite_files();
  const std::string text = file("notes.json", "no graph");
  expect_failed(split({archive_of("lists.pt2"), text}), StartsWith("torch-ir: " + text + ": "));
  EXPECT_EQ(suite_files(), before);
}

TEST_F(SplitCommandTest, LeavesNothingWhereItFails) {
  IR ir = masked_linear_graph();
  ir.nodes[0].op_type = "aten.no_such.default";
  const Outcome outcome = split({graph_file("unknown.json", ir)});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("unknown.json: 2 of 2 nodes are left out: 1 with an "
                                     "unsupported operator (aten.no_such.default)"));
  EXPECT_FALSE(fs::exists(suite_));
}

TEST_F(SplitCommandTest, IsNoSuccessWhereItLeavesCallsOut) {
  IR ir = masked_linear_graph();
  ir.nodes[1].op_type = "aten.no_such.default";
  const Outcome outcome = split({graph_file("unknown.json", ir)});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, suite_ + ": 1 case of 1 call\n");
  EXPECT_THAT(outcome.err, HasSubstr("unknown.json: 1 of 2 nodes are left out: "));
  expect_that_each_passes();
}

TEST_F(SplitCommandTest, TakesTensorsForOneGraphOnly) {
  const MaskedLinear model = masked_linear();
  for (const auto& [flag, file] :
       {std::pair("--inputs", model.inputs), {"--weights", model.weights}}) {
    expect_refused(split({model.graph, archive_of("small.pt2"), flag, file}),
                   "--inputs and --weights belong to one graph, but several are given; split them "
                   "one by one");
    EXPECT_FALSE(fs::exists(suite_));
  }
}

}  // namespace
}  // namespace torch_ir
