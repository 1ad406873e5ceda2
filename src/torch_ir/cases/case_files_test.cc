#include "torch_ir/cases/case_files.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/ir/document.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/weights/safetensors.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

SuiteCase softmax_case(const std::string& variant) {
  const OperatorCase operator_case{
      .op_type = "aten.softmax.int",
      .variant = variant,
      .category = "attention",
      .note = "columns first in memory",
      .arguments =
          [] { return std::vector<c10::IValue>{at::arange(12, at::kFloat).view({3, 4}).t(), -1}; },
      .tolerance = Tolerance{.rtol = 0.5, .atol = 0.25},
      .tolerance_reason = "a test"};
  return make_suite_case(operator_case);
}

class CaseFilesTest : public ::testing::Test {
 protected:
  CaseFilesTest() { fs::remove_all(directory_); }

  void write(const std::vector<std::string>& variants) const {
    SuiteWriter writer(directory_, "tests");
    std::vector<CaseInfo> infos;
    for (const std::string& variant : variants) {
      const SuiteCase suite_case = softmax_case(variant);
      write_case(suite_case, writer.unfinished());
      infos.push_back(suite_case.info);
      infos.back().occurrences = {{.model = "m", .node = "n", .module = "a.b", .source = "f.py:3"}};
    }
    writer.finish(infos);
  }

  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_)) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  const std::string directory_ = ::testing::TempDir() + "case_files_test";
};

TEST_F(CaseFilesTest, GiveBackWhatWasWritten) {
  write({"usual", "other"});
  ASSERT_TRUE(is_suite(directory_));
  const std::vector<CaseInfo> infos = read_suite(directory_);
  ASSERT_EQ(infos.size(), 2u);
  const SuiteCase written = softmax_case("usual");
  const SuiteCase read = read_case(case_folder(directory_, infos[0].name));
  EXPECT_EQ(to_ir(*read.content.program), to_ir(*written.content.program));
  EXPECT_EQ(read.info.name, "aten.softmax.int/float32/usual");
  EXPECT_EQ(read.info.note, written.info.note);
  EXPECT_EQ(read.info.tolerance, written.info.tolerance);
  EXPECT_THAT(
      read.info.occurrences,
      ElementsAre(CaseOccurrence{.model = "m", .node = "n", .module = "a.b", .source = "f.py:3"}));
  EXPECT_TRUE(at::equal(read.content.inputs.at(0), written.content.inputs.at(0)));
  EXPECT_THAT(read.content.inputs.at(0).strides(), ElementsAre(1, 4));
  EXPECT_TRUE(at::equal(read.content.expected.at(0), written.content.expected.at(0)));
}

TEST_F(CaseFilesTest, ReplaceAnEarlierSuite) {
  write({"usual", "other"});
  write({"third"});
  EXPECT_EQ(read_suite(directory_).size(), 1u);
  EXPECT_FALSE(fs::exists(directory_ + "/cases/aten.softmax.int/float32/usual"));
}

TEST_F(CaseFilesTest, AreNotTwoInOneFolder) {
  SuiteWriter writer(directory_, "tests");
  const SuiteCase suite_case = softmax_case("usual");
  write_case(suite_case, writer.unfinished());
  EXPECT_THAT([&] { writer.finish({suite_case.info, suite_case.info}); },
              ThrowsMessage<Error>(HasSubstr("duplicate case folder ")));
  EXPECT_FALSE(is_suite(directory_));
}

TEST_F(CaseFilesTest, HaveNamesOfAThousandBytesAtMost) {
  write({"usual"});
  const std::string list = directory_ + "/suite.json";
  nlohmann::json json = nlohmann::json::parse(read_file(list));
  const auto rename = [&](size_t size) {
    json["cases"][0]["name"] = std::string(size, 'n');
    write_file(list, json.dump());
  };
  rename(1000);
  EXPECT_EQ(read_suite(directory_).size(), 1u);
  rename(1001);
  EXPECT_THAT([&] { read_suite(directory_); },
              ThrowsMessage<SerializationError>(
                  HasSubstr("the name of a case has 1001 bytes; at most 1000 are allowed")));
}

TEST_F(CaseFilesTest, HaveOnlyTheFilesOfWhatTheCaseHas) {
  Case content = softmax_case("usual").content;
  const std::vector<at::Tensor> expected = std::exchange(content.expected, {});
  save_case(content, directory_);
  EXPECT_THAT(files(), ElementsAre("inputs.safetensors", "ir.json"));
  Case read = load_case(directory_);
  EXPECT_EQ(to_ir(*read.program), to_ir(*content.program));
  EXPECT_TRUE(at::equal(read.inputs.at(0), content.inputs.at(0)));
  EXPECT_TRUE(read.expected.empty());
  EXPECT_THAT([&] { read_case(directory_); },
              ThrowsMessage<Error>(directory_ + ": missing expected.safetensors"));
  content.expected = expected;
  save_case(content, directory_, WeightsFile::kAlways);
  EXPECT_THAT(files(), ElementsAre("expected.safetensors", "inputs.safetensors", "ir.json",
                                   "weights.safetensors"));
  read = load_case(directory_);
  EXPECT_TRUE(at::equal(read.expected.at(0), expected.at(0)));
}

TEST_F(CaseFilesTest, DoNotReplaceOtherFiles) {
  fs::create_directories(directory_);
  write_file(directory_ + "/thesis.txt", "years");
  EXPECT_THAT([&] { SuiteWriter(directory_, "tests"); },
              ThrowsMessage<Error>(
                  "'" + directory_ +
                  "' holds 'thesis.txt', which is not part of a suite; use an empty folder"));
  EXPECT_EQ(read_file(directory_ + "/thesis.txt"), "years");
  EXPECT_THAT([&] { SuiteWriter(directory_ + "/thesis.txt", "tests"); },
              ThrowsMessage<Error>("'" + directory_ + "/thesis.txt' is not a folder"));
}

TEST_F(CaseFilesTest, DoNotReplaceWhatOnlyLooksLikeASuite) {
  fs::create_directories(directory_ + "/cases");
  write_file(directory_ + "/suite.json", R"({"suite": "of my own"})");
  EXPECT_THROW(SuiteWriter(directory_, "tests"), Error);
  EXPECT_TRUE(fs::exists(directory_ + "/suite.json"));
  fs::remove_all(directory_);
  write({"usual"});
  const std::string own = directory_ + "/cases/aten.softmax.int/actual.safetensors";
  write_file(own, "mine");
  EXPECT_THAT([&] { SuiteWriter(directory_, "tests"); },
              ThrowsMessage<Error>(HasSubstr("holds 'cases/aten.softmax.int/actual.safetensors'")));
  EXPECT_EQ(read_file(own), "mine");
}

TEST_F(CaseFilesTest, StayInTheirFolderWhateverTheyAreCalled) {
  EXPECT_EQ(case_folder("suite", "../../etc/passwd"), "suite/cases/_../_../etc/passwd");
  EXPECT_EQ(case_folder("suite", "<built-in function getitem>/x//"),
            "suite/cases/_built-in_function_getitem_/x/_/_");
}

TEST_F(CaseFilesTest, AreRefusedWithTheirPlace) {
  write({"usual"});
  const std::string suite = directory_ + "/suite.json";
  write_file(suite, R"({"format": "torch-ir suite", "version": 2, "cases": []})");
  EXPECT_THAT([&] { read_suite(directory_); },
              ThrowsMessage<SerializationError>(
                  suite + ": not a suite of cases that this program can read"));
  write_file(suite, R"({"format": "torch-ir suite", "version": 1, "cases": [{"name": 3}]})");
  EXPECT_THAT(
      [&] { read_suite(directory_); },
      ThrowsMessage<SerializationError>(suite + ": /cases/0/name: expected a string, found 3"));
  const std::string folder = case_folder(directory_, "aten.softmax.int/float32/usual");
  const std::string text = read_file(folder + "/case.json");
  const auto refuses = [&](const char* place, nlohmann::json value, const std::string& message) {
    nlohmann::json json = nlohmann::json::parse(text);
    json[nlohmann::json::json_pointer(place)] = std::move(value);
    write_file(folder + "/case.json", json.dump());
    EXPECT_THAT([&] { read_case(folder); },
                ThrowsMessage<SerializationError>(folder + "/case.json: " + message));
  };
  refuses("/compare", "valeus", "/compare: unknown case property 'valeus'");
  const std::string input = nlohmann::json::parse(text)["strides"].begin().key();
  refuses("/strides/other", {1, 4}, "strides: unknown input 'other'");
  refuses(("/strides/" + input).c_str(), {1.5, 4},
          "/strides/" + input + "/0: expected an integer, found 1.5");
  refuses("/tolerance", {{"rtol", 0.1}}, "/tolerance: missing key 'atol'");
  refuses("/tolerance/rtol", -1, "tolerance: expected a number of 0 or more, got -1");
}

TEST_F(CaseFilesTest, HaveTheCallThatAPropertyIsOf) {
  write({"usual"});
  const std::string folder = case_folder(directory_, "aten.softmax.int/float32/usual");
  const std::string info = read_file(folder + "/case.json");
  const auto write_info = [&](const std::string& op_type) {
    nlohmann::json json = nlohmann::json::parse(info);
    json["compare"] = "in_range";
    json["operator"] = op_type;
    write_file(folder + "/case.json", json.dump());
  };
  const auto expect_refused = [&](const std::string& op_type) {
    write_info(op_type);
    EXPECT_THAT(
        [&] { read_case(folder); },
        ThrowsMessage<SerializationError>(
            folder + "/case.json: compare: 'in_range' requires a graph of one node, a call of '" +
            op_type + "'"));
  };
  write_info("aten.softmax.int");
  EXPECT_EQ(read_case(folder).info.property, CaseProperty::kInRange);
  // Its property would look for the argument `high`, which softmax lacks.
  expect_refused("aten.randint.low");
  IR ir = load_ir(folder + "/ir.json");
  const OpNode node = ir.nodes.front();
  ir.nodes.push_back(node);
  ir.nodes.back().name = ir.nodes.back().outputs.at(0).name = "other";
  save_ir(ir, folder + "/ir.json");
  expect_refused("aten.softmax.int");
  ir.nodes.clear();
  ir.graph_outputs = ir.graph_inputs;
  save_ir(ir, folder + "/ir.json");
  save_weights_safetensors(load_weights(folder + "/inputs.safetensors"),
                           folder + "/expected.safetensors");
  expect_refused("aten.softmax.int");
}

}  // namespace
}  // namespace torch_ir
