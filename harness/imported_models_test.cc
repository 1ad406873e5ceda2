// The command line on archives, with those of testdata.

#include <ATen/ops/zeros_like.h>
#include <c10/util/StringUtil.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/results/testing/schema_problem.h"
#include "harness/testing/run_command_line.h"
#include "torch_ir/analysis/cost.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/testing/zip_builder.h"
#include "torch_ir/base/zip_archive.h"
#include "torch_ir/converter/converter.h"
#include "torch_ir/exporter/pt2/pt2.h"
#include "torch_ir/weights/safetensors.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kData = "harness/testdata/";

class ImportedModelsTest : public HarnessTest {
 protected:
  // A copy of a file of testdata.
  std::string put(const std::string& source, const std::string& name) {
    fs::create_directories(fs::path(path(name)).parent_path());
    fs::copy_file(kData + source, path(name), fs::copy_options::overwrite_existing);
    return path(name);
  }
  std::string write(const std::string& name, const std::string& content) {
    write_file(path(name), content);
    return path(name);
  }
};

// Every operator is counted but one, which LibTorch does not have.
TEST_F(ImportedModelsTest, MultiplyAddsAreThoseOfPython) {
  // Counted by torch.utils.flop_counter of PyTorch 2.13 on the example inputs, divided by two.
  std::map<std::string, int64_t> expected = {
      {"gru", 258'688},    {"mobilenet_v2", 499'344}, {"mobilenet_v3", 121'656},
      {"resnet", 286'016}, {"resnet50", 468'224},
  };
  for (const auto& file : fs::directory_iterator(kData)) {
    if (file.path().extension() != ".pt2") continue;
    const std::string name = file.path().stem();
    const CostTotals totals = cost_of(read_pt2(file.path()).program).totals;
    if (const auto count = expected.extract(name)) {
      EXPECT_EQ(not_counted_text(totals), "") << name;
      EXPECT_EQ(totals.multiply_adds, count.mapped()) << name;
    }
    for (const NotCounted& one : totals.not_counted) {
      if (one.op_type == "transformers.grouped_mm_fallback.default") continue;
      EXPECT_EQ(one.reason, "sizes differ from run to run") << name << one.op_type;
    }
  }
  EXPECT_TRUE(expected.empty());
}

// As the flop_counter again, which counts attention only where it is computed with matrix products
// (SDPBackend.MATH); in results.json, and with thousands separators on the pages.
TEST_F(ImportedModelsTest, CostsOfDynamicGraphsAreThoseOfTheFirstTrial) {
  struct Expected {
    std::string name, symbol, size, multiply_adds, on_page;
  };
  const Expected expected[] = {{"llama", "s70", "12", "264192", "| 264,192 |"},
                               {"unet", "s77", "2", "3317760", "| 3,317,760 |"},
                               {"vit", "s99", "2", "1108224", "| 1,108,224 |"}};
  for (const Expected& one : expected) put(one.name + ".pt2", "models/" + one.name + ".pt2");
  run({"--pt2", path("models")}).expect_status(0);
  for (const Expected& one : expected) {
    EXPECT_THAT(reports().at("results.json"),
                AllOf(HasSubstr("\"" + one.symbol + "\": " + one.size),
                      HasSubstr("\"multiply_adds\": " + one.multiply_adds + ",")));
    EXPECT_THAT(reports().at(one.name + ".md"),
                AllOf(HasSubstr(one.on_page), Not(HasSubstr("Not counted")),
                      HasSubstr("Bytes and multiply-adds are for the sizes of the first trial: `" +
                                one.symbol + "` = " + one.size + ".\n")));
  }
}

TEST_F(ImportedModelsTest, AnArchiveAloneLeavesTheRegistryOut) {
  const HarnessOutcome result = run({"--pt2", put("llama.pt2", "m/llama.pt2")}).expect_status(0);
  EXPECT_THAT(
      result.out,
      StartsWith(
          "[1/1] llama  PASSED  max abs. error 0, within the tolerance\n1 of 1 models passed"));
  EXPECT_THAT(report_names(), ElementsAre("SUMMARY.md", "index.html", "ir/llama.json", "junit.xml",
                                          "llama.md", "results.json", "svg/llama.svg"));
  EXPECT_THAT(
      reports().at("llama.md"),
      AllOf(HasSubstr("those of its operators run one by one"),
            HasSubstr("Imported from `llama.pt2`, exported by PyTorch "),
            HasSubstr(" from `LlamaForCausalLM`."), HasSubstr("| Input | `input_ids` | `1xs"),
            HasSubstr("Categories: `imported`\n")));
}

TEST_F(ImportedModelsTest, TheFilesBesideAnArchiveAreUsed) {
  const std::string archive = put("gru.pt2", "gru.pt2");
  put("gru.inputs.safetensors", "gru.inputs.safetensors");
  put("gru.expected.safetensors", "gru.expected.safetensors");
  run({"--pt2", archive, "--save-tensors"}).expect_status(0);
  EXPECT_THAT(report_names(),
              ElementsAre("SUMMARY.md", "gru.md", "index.html", "ir/gru.json", "junit.xml",
                          "results.json", "svg/gru.svg", "tensors/gru.expected.safetensors",
                          "tensors/gru.inputs.safetensors", "tensors/gru.outputs.safetensors",
                          "tensors/gru.weights.safetensors"));
  EXPECT_THAT(reports().at("gru.md"),
              AllOf(HasSubstr("the outputs match those in `gru.expected.safetensors`"),
                    HasSubstr("the archive's weights and the inputs in `gru.inputs.safetensors`"),
                    HasSubstr("--pt2 " + archive + " --save-tensors\n")));
  // Weights replace the archive's own.
  const StateDict weights = read_pt2(archive).weights;
  save_weights_safetensors(weights, path("gru.weights.safetensors"));
  run({archive}).expect_status(0);
  EXPECT_THAT(reports().at("gru.md"), HasSubstr("the weights in `gru.weights.safetensors`"));
  StateDict zeros;
  for (const std::string& name : weights.keys()) zeros.insert(name, at::zeros_like(weights[name]));
  save_weights_safetensors(zeros, path("gru.weights.safetensors"));
  run({archive}).expect_status(1);
}

// As with --pt2.
TEST_F(ImportedModelsTest, ArchivesNeedNoFlag) {
  const std::string archive = put("gru.pt2", "m/gru.pt2");
  run({"-j2", "--", archive}).expect_status(0);
  const HarnessOutcome two = run({path("m"), put("lstm.pt2", "lstm.pt2"), "--jobs=2"});
  EXPECT_THAT(two.out, HasSubstr("2 of 2 models passed"));
  EXPECT_THAT(run_command_line({archive, "-qo", path("short")}).err, "");
  EXPECT_TRUE(fs::exists(path("short/gru.md")));
}

TEST_F(ImportedModelsTest, ReportsDoNotSayWhereTheFilesAre) {
  const auto run_in = [&](const std::string& folder) {
    put("llama.pt2", folder + "/llama.pt2");
    put("llama.inputs.safetensors", folder + "/llama.inputs.safetensors");
    write(folder + "/broken.pt2", "PK no archive");
    ::setenv("BUILD_WORKING_DIRECTORY", path(folder).c_str(), /*replace=*/1);
    run({"--pt2", "llama.pt2", "--pt2", "broken.pt2"}).expect_status(1);
    ::unsetenv("BUILD_WORKING_DIRECTORY");
    const auto files = reports();
    for (const auto& [name, content] : files) EXPECT_THAT(content, Not(HasSubstr(scratch_)));
    fs::remove_all(output_);
    return files;
  };
  EXPECT_EQ(run_in("a"), run_in("another/folder"));
}

// The second file has other sizes; PyTorch computed both expected outputs.
TEST_F(ImportedModelsTest, EachFileOfInputsIsATrial) {
  const std::string archive = put("exports/dyn_derived_dim.pt2", "m.pt2");
  for (const std::string kind : {"inputs", "expected"}) {
    put("exports/dyn_derived_dim." + kind + ".safetensors", "m." + kind + ".safetensors");
    put("exports/dyn_derived_dim.other." + kind + ".safetensors", "m." + kind + ".2.safetensors");
  }
  run({archive}).expect_status(0);
  EXPECT_THAT(reports().at("m.md"),
              AllOf(HasSubstr("the inputs in `m.inputs.safetensors`, `m.inputs.2.safetensors`"),
                    HasSubstr("those in `m.expected.safetensors`, `m.expected.2.safetensors`"),
                    HasSubstr("| m.inputs.safetensors |"), HasSubstr("| m.inputs.2.safetensors |"),
                    HasSubstr("--pt2 " + archive + "\n")));
  EXPECT_EQ(schema_problem(results()), "");
  expect_bad_usage({archive, "--export-suite", path("suite")},
                   "export writes one set of inputs of a model; '" + archive + "' has 2");

  // The second file is named where it differs.
  put("exports/dyn_derived_dim.expected.safetensors", "m.expected.2.safetensors");
  run({archive}).expect_status(1);
  EXPECT_THAT(reports().at("m.md"), HasSubstr("(with m.inputs.2.safetensors"));
}

// Without files of expected outputs there are other values and sizes too.
TEST_F(ImportedModelsTest, FilesOfInputsComeBeforeOtherSizesAndValues) {
  const std::string archive = put("exports/dyn_derived_dim.pt2", "m.pt2");
  put("exports/dyn_derived_dim.inputs.safetensors", "m.inputs.safetensors");
  const std::string second =
      put("exports/dyn_derived_dim.other.inputs.safetensors", "m.inputs.2.safetensors");
  run({archive, "--trials", "2"}).expect_status(0);
  const auto json = results();
  std::vector<std::string> names;
  for (const auto& trial : json["models"][0]["trials"]) names.push_back(trial["name"]);
  ASSERT_GE(names.size(), 4u);
  EXPECT_EQ(names[0], "m.inputs.safetensors");
  EXPECT_EQ(names[1], "m.inputs.2.safetensors");
  EXPECT_THAT(names[2], HasSubstr(" = "));
  EXPECT_EQ(names.back(), "zeros and ones");
  EXPECT_EQ(json["models"][0]["origin"]["inputs"][1], second);
}

TEST_F(ImportedModelsTest, AProgramThatIsNotThereIsBadInput) {
  const std::string archive = path("programs.pt2");
  fs::copy_file("src/torch_ir/exporter/pt2/testdata/programs.pt2", archive);
  fs::copy_file(archive, path("more.pt2"));
  run({archive, path("more.pt2"), "--program", "decode"}).expect_status(0);
  EXPECT_THAT(reports().at("SUMMARY.md"),
              HasSubstr("--pt2 " + archive + " --pt2 " + path("more.pt2") + " --program decode\n"));
  EXPECT_THAT(reports().at("programs.decode.md"),
              HasSubstr("--pt2 " + archive + " --program decode\n"));
  fs::remove_all(output_);
  expect_refusal(run({archive, "--program", "x"}),
                 archive + ": has no program 'x'; it has 'prefill', 'decode'\n");
  expect_refusal(run({"--model", "Good", "--program", "x"}), "--program needs a --pt2\n");
}

TEST_F(ImportedModelsTest, WhatIsNoArchiveIsAFailedModelOfTheRun) {
  const std::string whole = read_file(kData + "vit.pt2");
  const std::string cut = write("cut.pt2", whole.substr(0, whole.size() / 2));
  const std::string text = write("text.pt2", "no archive");
  const std::string good = put("vit.pt2", "good.pt2");
  const HarnessOutcome result = run({"--pt2", cut, "--pt2", text, "--pt2", good}).expect_status(1);
  EXPECT_THAT(result.out, HasSubstr("cut   FAILED  extract failed: 'cut.pt2' "));
  EXPECT_THAT(result.out, HasSubstr("text  FAILED  extract failed: text.pt2: "));
  EXPECT_THAT(result.out, HasSubstr("good  PASSED"));
  EXPECT_THAT(reports().at("SUMMARY.md"),
              HasSubstr("| [cut](cut.md) | extract failed: 'cut.pt2' "));
}

// The archive at `path`, with `replacement` for each `text` in its program.
std::string edited_archive(const std::string& path, const std::string& text,
                           const std::string& replacement) {
  const ZipArchive archive = ZipArchive::open(path);
  std::vector<ZipEntry> entries;
  for (const std::string& name : archive.entries()) {
    std::string content(archive.read(name).text());
    if (name.ends_with("models/model.json")) c10::ReplaceAll(content, text, replacement);
    entries.push_back({.name = name, .content = content});
  }
  return build_zip(entries);
}

TEST_F(ImportedModelsTest, WhatIsNotSupportedIsNoFault) {
  const std::string archive =
      write("scans.pt2", edited_archive(kData + "llama.pt2", "torch.ops.aten.silu.default",
                                        "torch.ops.higher_order.scan"));
  const HarnessOutcome result = run({"--pt2", archive}).expect_status(1);
  EXPECT_THAT(result.out, HasSubstr("scans  FAILED  extract unsupported: "));
  EXPECT_THAT(result.out, HasSubstr("node 'silu' (higher_order.scan): wrong number of arguments"));
}

TEST_F(ImportedModelsTest, AFolderRunsBesideModelsOfTheRegistry) {
  for (const std::string model : {"vit", "gpt2"}) {
    for (const std::string extension : {".pt2", ".inputs.safetensors", ".expected.safetensors"}) {
      put(model + extension, "models/" + model + extension);
    }
  }
  run({"--pt2", path("models"), "--model", "Good", "--jobs", "2"}).expect_status(0);
  EXPECT_THAT(report_names(),
              ElementsAre("Good.md", "SUMMARY.md", "gpt2.md", "index.html", "ir/Good.json",
                          "ir/gpt2.json", "ir/vit.json", "junit.xml", "results.json",
                          "svg/Good.svg", "svg/gpt2.svg", "svg/vit.svg", "vit.md"));
  EXPECT_THAT(
      reports().at("SUMMARY.md"),
      AllOf(HasSubstr("selected by name, and 2 archives."), HasSubstr("| `imported` | 2 | 2 |"),
            HasSubstr("tools/bazel run //harness -- --pt2 " + path("models") + " --model Good\n")));
}

TEST_F(ImportedModelsTest, ArchivesHaveACategory) {
  const std::string archive = put("vit.pt2", "vit.pt2");
  EXPECT_THAT(run({"--pt2", archive, "--category", "imported"}).out,
              HasSubstr("1 of 1 models passed"));
  EXPECT_THAT(run({"--pt2", archive, "--category", "imported", "--category", "good"}).out,
              HasSubstr("3 of 3 models passed"));
  fs::remove_all(output_);
  expect_bad_usage({"--category", "imported"},
                   "category 'imported' needs archives or graphs; give them with --pt2 or --ir");
}

TEST_F(ImportedModelsTest, AQuantisedModelIsComparedWithItsFloatModel) {
  const std::string quantised = put("exports/against_pt2e.pt2", "m/q.pt2");
  const std::string floating = put("exports/against_float.pt2", "f/float.pt2");
  const HarnessOutcome result = run({"--pt2", quantised, "--against", floating}).expect_status(0);
  EXPECT_THAT(result.out, HasSubstr("against float.pt2: 8 tensors compared, worst 2.6 dB at 'relu' "
                                    "(layers.1)\n"));
  EXPECT_THAT(reports().at("q.md"),
              AllOf(HasSubstr("## Comparison with the float model"),
                    HasSubstr("| `relu` | `layers.1` | `aten.relu.default` | 2.6 | 40.6 |"),
                    HasSubstr("--pt2 " + quantised + " --against " + floating + "\n")));
  EXPECT_EQ(schema_problem(results()), "");
  EXPECT_THAT(reports().at("results.json"), HasSubstr("\"num_saturated\": 4"));
}

TEST_F(ImportedModelsTest, AFloatModelWithOtherInputsIsRefused) {
  expect_refusal(
      run({"--pt2", put("exports/quantized_per_tensor.pt2", "m/q.pt2"), "--against",
           put("exports/against_float.pt2", "float.pt2")}),
      "float.pt2 has input 'x' as float32 [2, 1, 8, 8], but the quantised model has 'args_0' "
      "as float32 [1, 3, 8, 8]");
}

TEST_F(ImportedModelsTest, BadUsageIsOneLineAndStatusTwo) {
  const std::string archive = put("vit.pt2", "vit.pt2");
  expect_bad_usage({"--pt2", ""}, "--pt2: missing file name");
  const std::string taken = put("vit.pt2", "Good.pt2");
  expect_bad_usage({"--pt2", taken}, "--pt2: '" + taken +
                                         "' and the registered model would have the same page, "
                                         "Good.md; rename the archive");
  const std::string one = "--against needs exactly one --pt2 or --ir, found ";
  expect_bad_usage({"--against", archive}, one + "0");
  expect_bad_usage({"--against", archive, "--pt2", archive, "--pt2", taken}, one + "2");
  expect_bad_usage({"--pt2", archive, "--against", path("no.pt2")},
                   "--against: cannot find '" + path("no.pt2") + "'");
}

}  // namespace
}  // namespace torch_ir
