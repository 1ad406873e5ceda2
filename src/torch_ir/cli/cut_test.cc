// torch-ir cut.

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
using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CutCommandTest : public CliTest {
 protected:
  Outcome cut(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "cut");
    arguments.insert(arguments.end(), {"-o", suite_});
    return torch_ir(arguments);
  }
  // Also expects success; returns what it prints.
  std::string made(const std::vector<std::string>& arguments) const {
    const Outcome outcome = cut(arguments);
    EXPECT_EQ(outcome.status, 0) << arguments.front() << ": " << outcome.err;
    return outcome.out;
  }

  std::vector<CaseInfo> cases() const { return read_suite(suite_); }

  Json case_json(const CaseInfo& info) const {
    return Json::parse(read_file(case_folder(suite_, info.name) + "/case.json"));
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

TEST_F(CutCommandTest, WritesACaseForEachDifferentCall) {
  const Outcome outcome = cut({archive("small.pt2")});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, StartsWith(suite_ + ": "));
  const std::vector<CaseInfo> infos = cases();
  const auto linear = std::ranges::find(infos, "aten.linear.default", &CaseInfo::op_type);
  ASSERT_NE(linear, infos.end());
  const Json fields = case_json(*linear);
  EXPECT_EQ(fields["name"], linear->name);
  EXPECT_EQ(fields["operator"], "aten.linear.default");
  EXPECT_EQ(fields["dtype"], "float32");
  EXPECT_EQ(
      fields["occurrences"],
      Json::parse(R"([{"model": "small", "node": "linear", "module": "linear", "source": ""}])"));
  ASSERT_EQ(fields["outputs"].size(), 1u);
  EXPECT_GE(fields["outputs"].front()["rtol"], 0);
  EXPECT_TRUE(fields["outputs"].front()["float64_distance"].is_number());
  EXPECT_THAT(read_file(suite_ + "/README.md"), HasSubstr("# Cases of small\n"));
  expect_that_each_passes();
}

TEST_F(CutCommandTest, TakesEveryKindOfArchive) {
  for (const char* name : {"layout_2_7.pt2", "mutations.pt2", "dynamic.pt2", "recurrent.pt2",
                           "control_flow.pt2", "lists.pt2", "signature.pt2", "wrappers.pt2"}) {
    made({archive(name)});
    EXPECT_FALSE(cases().empty()) << name;
    expect_that_each_passes();
  }
}

TEST_F(CutCommandTest, MakesWeightsAndInputsUpWhereThereAreNone) {
  const MaskedLinear model = masked_linear();
  EXPECT_EQ(made({model.graph}), suite_ + ": 2 cases of 2 calls\n");
  EXPECT_EQ(case_json(cases().at(0))["occurrences"].front()["node"], "linear");
  expect_that_each_passes();
  const auto before = suite_files();
  made({model.graph});
  EXPECT_EQ(suite_files(), before);
}

TEST_F(CutCommandTest, TakesTheUsersTensors) {
  const MaskedLinear model = masked_linear();
  made({model.graph, "--weights", model.weights, "--inputs", model.inputs});
  const SuiteCase last = read_case(case_folder(suite_, cases().at(1).name));
  EXPECT_TRUE(last.content.expected.at(0).equal(model.output));
}

TEST_F(CutCommandTest, WritesEachCallOfSeveralModelsOnce) {
  made({archive("layout_2_7.pt2"), archive("layout_2_8.pt2")});
  EXPECT_THAT(read_file(suite_ + "/README.md"), HasSubstr("# Cases of 2 models\n"));
  for (const CaseInfo& info : cases()) {
    const auto count = [&](const char* model) {
      return std::ranges::count(info.occurrences, model, &CaseOccurrence::model);
    };
    EXPECT_EQ(count("layout_2_7"), count("layout_2_8")) << info.name;
  }
}

// The nodes of a module or a range are one group; values inside it are no outputs.
TEST_F(CutCommandTest, WritesNodesModulesAndRangesAsCases) {
  const std::string small = archive("small.pt2");
  const std::vector<std::string> parts[] = {{small, "--node", "linear"},
                                            {small, "--module", "linear"},
                                            {small, "--from", "linear", "--to", "linear"}};
  for (const std::vector<std::string>& arguments : parts) {
    EXPECT_EQ(made(arguments), suite_ + ": 1 case of 1 part\n");
    const Case part = load_case(suite_);
    ASSERT_EQ(part.program->nodes.size(), 1u);
    EXPECT_EQ(part.program->nodes[0].name, "linear");
    printed({"verify", suite_ + "/ir.json", "--weights", suite_ + "/weights.safetensors",
             "--inputs", suite_ + "/inputs.safetensors", "--expected",
             suite_ + "/expected.safetensors"});
  }
  fs::remove_all(suite_);
  made({masked_linear().graph, "--node", "linear", "--node", "mul"});
  EXPECT_EQ(cases().size(), 2u);
}

TEST_F(CutCommandTest, SaysThatPartsShareANode) {
  const Outcome outcome = cut({archive("small.pt2"), "--node", "linear", "--module", "linear"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, suite_ + ": 1 case of 2 parts\n");
  EXPECT_THAT(outcome.err, HasSubstr("not every part became a case: it shares a node"));
}

TEST_F(CutCommandTest, RefusesPartsThatAreNotThere) {
  const std::string small = archive("small.pt2");
  expect_failed(cut({small, "--node", "linaer"}),
                HasSubstr("unknown node 'linaer'; did you mean 'linear'?"));
  expect_failed(cut({small, "--module", "encoder"}), HasSubstr("no node is in a module 'encoder'"));
  expect_refused(cut({small, "--from", "linear"}), "give both --from and --to");
  EXPECT_FALSE(fs::exists(suite_));
}

// A case in the folder is replaced, and so are the cases of a suite.
TEST_F(CutCommandTest, WritesOverNoneOfItsInputs) {
  const std::string small = archive("small.pt2");
  const auto expect_refused_in_place = [&](const std::string& input,
                                           const std::vector<std::string>& arguments) {
    const auto before = suite_files();
    expect_refused(cut(arguments), suite_ + ": writing there would overwrite the input '" + input +
                                       "'; write elsewhere");
    EXPECT_EQ(suite_files(), before);
  };
  made({small, "--node", "linear"});
  const std::string graph = suite_ + "/ir.json";
  expect_refused_in_place(graph, {graph, "--node", "linear"});
  const std::string weights = suite_ + "/weights.safetensors";
  expect_refused_in_place(weights, {small, "--node", "linear", "--weights", weights});
  fs::remove_all(suite_);
  made({small});
  const std::string of_case = case_folder(suite_, cases().at(0).name) + "/ir.json";
  expect_refused_in_place(of_case, {of_case});
}

TEST_F(CutCommandTest, KeepsAnEarlierSuiteWhereItFails) {
  made({archive("small.pt2")});
  const auto before = suite_files();
  const std::string text = file("notes.json", "no graph");
  expect_failed(cut({archive("lists.pt2"), text}), StartsWith("torch-ir: " + text + ": "));
  EXPECT_EQ(suite_files(), before);
}

TEST_F(CutCommandTest, KeepsAnEarlierCaseWhereItFails) {
  const std::vector<std::string> arguments = {archive("small.pt2"), "--node", "linear"};
  made(arguments);
  fs::remove(suite_ + "/inputs.safetensors");
  fs::create_directories(suite_ + "/inputs.safetensors/folder");
  const auto before = suite_files();
  expect_failed(cut(arguments), HasSubstr("inputs.safetensors"));
  EXPECT_EQ(suite_files(), before);
}

TEST_F(CutCommandTest, IsNoSuccessWhereItLeavesCallsOut) {
  const auto cut_without = [&](size_t node) {
    IR ir = masked_linear_graph();
    ir.nodes[node].op_type = "aten.no_such.default";
    Outcome outcome = cut({graph_file("unknown.json", ir)});
    EXPECT_EQ(outcome.status, 1);
    return outcome;
  };
  const Outcome nothing = cut_without(0);
  EXPECT_EQ(nothing.out, "");
  EXPECT_THAT(nothing.err, HasSubstr("unknown.json: 2 of 2 nodes are left out: 1 with an "
                                     "unsupported operator (aten.no_such.default)"));
  EXPECT_FALSE(fs::exists(suite_));
  const Outcome one = cut_without(1);
  EXPECT_EQ(one.out, suite_ + ": 1 case of 1 call\n");
  EXPECT_THAT(one.err, HasSubstr("unknown.json: 1 of 2 nodes are left out: "));
  expect_that_each_passes();
}

TEST_F(CutCommandTest, TakesTensorsForOneGraphOnly) {
  const MaskedLinear model = masked_linear();
  for (const auto& [flag, file] :
       {std::pair("--inputs", model.inputs), {"--weights", model.weights}}) {
    expect_refused(cut({model.graph, archive("small.pt2"), flag, file}),
                   "parts, --inputs and --weights belong to one graph, but several are given; cut "
                   "them one by one");
    EXPECT_FALSE(fs::exists(suite_));
  }
}

}  // namespace
}  // namespace torch_ir
