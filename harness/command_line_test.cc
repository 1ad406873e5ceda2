#include "harness/command_line.h"

#include <c10/util/StringUtil.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "harness/results/testing/schema_problem.h"
#include "harness/testing/run_command_line.h"
#include "torch_ir/base/file.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

using CommandLineTest = HarnessTest;

TEST_F(CommandLineTest, WritesSummaryPagesAndGraphs) {
  const HarnessOutcome result = run({"--category", "good"}).expect_status(0);
  EXPECT_THAT(result.out, StartsWith("[1/2] Close  PASSED  max abs. error "));
  EXPECT_THAT(result.out,
              HasSubstr("[2/2] Good   PASSED  max abs. error 0, within the tolerance\n2 of 2 "
                        "models passed; see " +
                        output_ + "/SUMMARY.md, or " + output_ + "/index.html in a browser\n"));
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(report_names(), ElementsAre("Close.md", "Good.md", "SUMMARY.md", "index.html",
                                          "ir/Close.json", "ir/Good.json", "junit.xml",
                                          "results.json", "svg/Close.svg", "svg/Good.svg"));
}

TEST_F(CommandLineTest, TwoRunsGiveTheSameBytesWhichHoldToTheSchema) {
  std::vector<std::string> arguments = {"--quiet", "--save-tensors", "--model", "Good",
                                        "--model", "Wrong",          "--model", "Aborts",
                                        "--model", "Throws"};
  const HarnessOutcome outcome = run(arguments).expect_status(1);
  // A model that fails leaves the others alone.
  EXPECT_THAT(outcome.err, HasSubstr("Aborts  FAILED  crashed in extract: The process of the model "
                                     "was killed by signal 6 (Aborted).\n"));
  const auto first = reports();
  EXPECT_THAT(
      report_names(),
      ElementsAre("Aborts.md", "Good.md", "SUMMARY.md", "Throws.md", "Wrong.md", "index.html",
                  "ir/Good.json", "ir/Wrong.json", "junit.xml", "repro/Wrong/expected.safetensors",
                  "repro/Wrong/inputs.safetensors", "repro/Wrong/ir.json", "results.json",
                  "svg/Good.svg", "svg/Wrong.svg", "tensors/Good.expected.safetensors",
                  "tensors/Good.inputs.safetensors", "tensors/Good.outputs.safetensors",
                  "tensors/Good.weights.safetensors", "tensors/Wrong.expected.safetensors",
                  "tensors/Wrong.inputs.safetensors", "tensors/Wrong.outputs.safetensors",
                  "tensors/Wrong.weights.safetensors"));
  for (const auto& [name, content] : first) {
    EXPECT_THAT(content, Not(HasSubstr(output_))) << name;
    EXPECT_THAT(content, Not(HasSubstr(".torch-ir-run-"))) << name;
  }
  EXPECT_EQ(schema_problem(nlohmann::json::parse(first.at("results.json"))), "");
  run(arguments).expect_status(1);
  EXPECT_EQ(reports(), first);
  arguments.insert(arguments.end(), {"--per-node", "--baseline", output_ + "/results.json"});
  run(arguments).expect_status(1);
  EXPECT_EQ(schema_problem(results()), "");
}

TEST_F(CommandLineTest, TellsWhetherAComputeDtypeHoldsAModel) {
  HarnessOutcome result =
      run({"--model", "LargeSquares", "--compute-dtype", "float16"}).expect_status(1);
  EXPECT_THAT(result.out, HasSubstr("LargeSquares  NOT HELD  float16 cannot hold this model: first "
                                    "infinity at mul_2\n"));
  EXPECT_EQ(schema_problem(results()), "");
  EXPECT_THAT(reports().at("junit.xml"), HasSubstr("<failure type=\"not held\""));
  result = run({"--model", "LargeSquares", "--compute-dtype", "bfloat16"}).expect_status(0);
  EXPECT_THAT(result.out, HasSubstr("LargeSquares  PASSED  bfloat16 can hold it, with an SNR of "));
}

TEST_F(CommandLineTest, RefusesLevelsDevicesAndDtypesThatAreUnknownOrDoNotFit) {
  expect_bad_usage({"--compute-dtype", "float12"},
                   "--compute-dtype: unknown compute dtype 'float12'; expected one of: float16, "
                   "bfloat16, tf32");
  expect_bad_usage({"--compute-dtype", "float16", "--optimization", "fast"},
                   "--compute-dtype and --optimization cannot be combined: the built-in runtime "
                   "computes in the dtypes of the graph");
  expect_bad_usage({"--compute-dtype", "float16", "--rtol", "0.1"},
                   "--compute-dtype and --rtol cannot be combined: it has a rule of its own");
  expect_bad_usage({"--optimization", "faster"},
                   "--optimization: unknown optimization level 'faster'; expected exact or fast");
  expect_bad_usage({"--device", "gpu"},
                   "--device: invalid device 'gpu'; expected cpu, cuda or cuda:INDEX");
  expect_bad_usage(
      {"--device", "meta"},
      "--device: cannot use device 'meta': this LibTorch finds no meta device here; use cpu");
}

TEST_F(CommandLineTest, RunsAgainWhatFailed) {
  run({"--model", "Good", "--model", "WrongInside", "--save-values"}).expect_status(1);
  const std::string good = reports().at("Good.md");
  const HarnessOutcome again =
      run_command_line({"--rerun", output_ + "/results.json"}).expect_status(1);
  EXPECT_THAT(again.out, StartsWith("[1/1] WrongInside  FAILED  node 0, add: "));
  EXPECT_THAT(again.out, HasSubstr("1 of 2 models passed"));
  EXPECT_EQ(reports().at("Good.md"), good);
  EXPECT_THAT(reports().at("results.json"), HasSubstr(R"("tensors/Good.values.safetensors")"));
  EXPECT_THAT(reports().at("SUMMARY.md"),
              AllOf(HasSubstr("[Good](Good.md)"), HasSubstr("[WrongInside](WrongInside.md)")));
}

TEST_F(CommandLineTest, AModelWithoutSupportFailsWhereThatIsAskedFor) {
  std::vector<std::string> words = {"--model", "Good", "--executor",
                                    "exit 3; # {ir} {weights} {inputs} {outputs}"};
  const HarnessOutcome lenient = run(words).expect_status(0);
  EXPECT_THAT(lenient.out, AllOf(HasSubstr("Good  UNSUPPORTED  "), HasSubstr(", 1 unsupported; ")));
  words.push_back("--require-support");
  const HarnessOutcome strict = run(words).expect_status(1);
  EXPECT_THAT(strict.out, AllOf(HasSubstr("Good  FAILED  unsupported in execute: "),
                                HasSubstr("0 of 1 models passed, 1 failed; ")));
  EXPECT_THAT(reports().at("junit.xml"), HasSubstr("failures=\"1\" errors=\"0\" skipped=\"0\""));
  // There is nothing to search for.
  EXPECT_FALSE(fs::exists(output_ + "/repro"));
}

TEST_F(CommandLineTest, WhatATeamAgreedOnDecides) {
  const std::string list = path("agreed.txt");
  write_file(list, "# Its add is known.\nWrong*: rtol 10 atol 10\n");
  run({"--model", "WrongInside", "--per-node", "--tolerances", list}).expect_status(0);
  EXPECT_THAT(reports().at("WrongInside.md"), HasSubstr("The line `agreed.txt:2` decides"));
  write_file(list, "Wrong*: snr\n");
  const HarnessOutcome bad = run({"--model", "WrongInside", "--tolerances", list}).expect_status(2);
  EXPECT_EQ(bad.err, "harness: " + list + ":1: 'snr' needs a number, 0 or more\n");
}

// torch-ir as a server, which writes `groups` for a graph called Good.
std::string server_with_groups(const std::string& groups) {
  return R"sh(at() { rest=${line#*"\"$1\":\""}; echo "${rest%%\"*}"; }
while read -r line; do
  set "$(at ir)" "$(at weights)" "$(at inputs)" "$(at outputs)" "$(at groups)"
  src/torch_ir/cli/torch-ir execute $1 --weights $2 --inputs $3 --outputs $4 >&2
  if grep -q '"model_name": "Good"' $1; then echo ')sh" +
         groups + "' > $5; fi; echo '{\"status\": \"ok\"}'; done";
}

TEST_F(CommandLineTest, GroupsThatDoNotFitTheGraphFailTheirModelOnly) {
  const HarnessOutcome result =
      run({"--model", "Good", "--model", "Close", "--trials", "1", "--split", "--executor",
           server_with_groups(
               R"({"groups": [{"name": "a", "nodes": ["add"]}, {"name": "b", "nodes": ["add"]}]})")})
          .expect_status(1);
  EXPECT_THAT(result.out, AllOf(HasSubstr("Good   FAILED  load failed in execute: group 'b': the "
                                          "node 'add' is in the group 'a' too"),
                                HasSubstr("Close  PASSED"), HasSubstr("2 of 2 cases passed")));
}

TEST_F(CommandLineTest, AnExecutorThatIsNotThereEndsTheRunAtTheFirstModel) {
  const std::string not_started = "cannot start the executor './nobody";
  const std::array<std::string, 3> expected[] = {
      {"./nobody {ir} {weights} {inputs} {outputs}", not_started, ": not found\n"},
      {"./nobody", not_started, ": not found\n"},
      {"off_by_on", "no program or C++ backend 'off_by_on'; backends: ", ", off_by_one"}};
  for (const auto& [command, start, more] : expected) {
    const HarnessOutcome result = run({"--category", "good", "--executor", command});
    expect_refusal(result, "harness: " + start);
    EXPECT_THAT(result.err, HasSubstr(more));
  }
}

TEST_F(CommandLineTest, AnExecutorThatFailsIsExplainedAlike) {
  const std::vector<std::string> arguments = {
      "--quiet", "--model", "Good", "--executor",
      ": {weights} {inputs} {outputs}; echo reads {ir}; exit 4"};
  const HarnessOutcome result = run(arguments).expect_status(1);
  EXPECT_THAT(result.err, StartsWith("Good  FAILED  execute failed: The executor exited "
                                     "with status 4; it printed: reads executor/ir.json\n"));
  const auto first = reports();
  const nlohmann::json model = nlohmann::json::parse(first.at("results.json"))["models"][0];
  EXPECT_THAT(model["node_report"]["problem"].get<std::string>(),
              HasSubstr("exited with status 4"));
  EXPECT_EQ(model["reproducer"]["num_nodes"], 1);
  EXPECT_TRUE(first.contains("repro/Good/ir.json"));
  const std::string folder = fs::absolute(output_).string();
  for (const auto& [name, content] : first) EXPECT_THAT(content, Not(HasSubstr(folder))) << name;
  run(arguments).expect_status(1);
  EXPECT_EQ(reports(), first);
}

TEST_F(CommandLineTest, EveryPageSaysWhichLevelRan) {
  run({"--model", "Good", "--optimization", "fast", "--device", "cpu", "--save-tensors"})
      .expect_status(0);
  const auto fast = reports();
  EXPECT_THAT(fast.at("Good.md"), HasSubstr("| `fast` | `cpu` | 1 | 0 |"));
  EXPECT_THAT(fast.at("Good.md"),
              HasSubstr("--model Good --optimization fast --device cpu --save-tensors\n"));
  EXPECT_THAT(fast.at("Good.md"), HasSubstr("Good.expected.safetensors --optimization fast\n"));
  EXPECT_THAT(fast.at("SUMMARY.md"), HasSubstr("| `fast` | `cpu` | 1 | 0 |"));
}

TEST_F(CommandLineTest, QuietTellsOnlyWhatFailedAndABarIsDrawnOnATerminalOnly) {
  const HarnessOutcome good =
      run({"--model", "Good", "--quiet"}, /*terminal=*/true).expect_status(0);
  EXPECT_EQ(good.out + good.err, "");
  const HarnessOutcome bad = run({"--model", "ThrowsOnData", "-q"}).expect_status(1);
  EXPECT_EQ(bad.out, "");
  EXPECT_EQ(bad.err, "ThrowsOnData  FAILED  execute failed in verify: no data, please\n");
  const HarnessOutcome result = run({"--model", "Good"}, /*terminal=*/true);
  EXPECT_THAT(result.err, HasSubstr("\r\x1b[K[........................] 0/1  0:00  Good"));
  EXPECT_THAT(result.err, HasSubstr("[########################] 1/1"));
  EXPECT_TRUE(result.err.ends_with("\r\x1b[K"));
}

TEST_F(CommandLineTest, PagesOfOtherModelsAreLeftAlone) {
  run({"--model", "Good", "--save-tensors"}).expect_status(0);
  run({"--model", "Close"}).expect_status(0);
  EXPECT_THAT(
      report_names(),
      ElementsAre("Close.md", "Good.md", "SUMMARY.md", "index.html", "ir/Close.json",
                  "ir/Good.json", "junit.xml", "results.json", "svg/Close.svg", "svg/Good.svg",
                  "tensors/Good.expected.safetensors", "tensors/Good.inputs.safetensors",
                  "tensors/Good.outputs.safetensors", "tensors/Good.weights.safetensors"));
  EXPECT_THAT(reports().at("SUMMARY.md"), AllOf(HasSubstr("[Close]"), Not(HasSubstr("[Good]"))));
  // Files that the page no longer mentions are removed.
  run({"--model", "Good"}).expect_status(0);
  EXPECT_EQ(report_names().size(), 10u);
  EXPECT_FALSE(fs::exists(output_ + "/tensors"));
}

TEST_F(CommandLineTest, OptionsChangeTheResultAndArePartOfTheCommand) {
  run({"--model", "Wrong"}).expect_status(1);
  EXPECT_TRUE(fs::exists(output_ + "/repro/Wrong"));
  run({"--model", "Wrong", "--atol=1.5"}).expect_status(0);
  EXPECT_FALSE(fs::exists(output_ + "/repro"));
  run({"--model", "Close", "--rtol=0", "--atol=1e-6"}).expect_status(1);
  run({"--model", "Good", "--timeout", "1e-6"}).expect_status(1);
  EXPECT_THAT(reports().at("Good.md"), HasSubstr("--model Good --timeout 1e-06\n"));
  EXPECT_THAT(reports().at("SUMMARY.md"), HasSubstr("--model Good --timeout 1e-06\n"));
  // More than the clock can represent.
  run({"--model", "Good", "--timeout", "1e300"}).expect_status(0);
}

TEST_F(CommandLineTest, ListsModelsAndCategories) {
  const HarnessOutcome models = run({"--list-models"}).expect_status(0);
  EXPECT_THAT(models.out, StartsWith("model         categories  description\n"
                                     "Aborts        crash       Aborts\n"));
  EXPECT_THAT(models.out, HasSubstr("\nGood          good        Good\n"));
  const HarnessOutcome categories = run({"--list-categories"}).expect_status(0);
  EXPECT_EQ(categories.out, "bad\ncrash\ngood\nhang\ninside\nlarge\n");
  expect_refusal(run_command_line({"export", "--split"}),
                 "harness: 'export' needs a folder to write to\n");
  const std::string good = run({"--list-models", "--category", "good"}).out;
  EXPECT_THAT(good, HasSubstr("Close"));
  EXPECT_THAT(good, Not(HasSubstr("Aborts")));
  expect_bad_usage({"--list-categories", "--model", "Good"},
                   "--list-categories and --model cannot be combined: all categories are listed");
  expect_bad_usage({"--list-models", "--list-categories"},
                   "--list-models and --list-categories cannot be combined: give one at a time");
}

TEST_F(CommandLineTest, HelpAndVersion) {
  const HarnessOutcome help = run({"--help"}).expect_status(0);
  EXPECT_THAT(help.out,
              HasSubstr("  --trials N                  Inputs per model: normal, 0 and 1, "
                        "large, more seeds (default: 3)\n"));
  EXPECT_THAT(help.out, Not(HasSubstr("--worker")));
  EXPECT_THAT(help.out, HasSubstr("\nMore: docs/harness.md\n"));
  std::istringstream lines(help.out);
  int num_options = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100) << line;
    num_options += line.starts_with("  -") ? 1 : 0;
  }
  // More would not be read.
  EXPECT_LE(num_options, 45);
  const HarnessOutcome version = run({"--version"}).expect_status(0);
  EXPECT_THAT(version.out, MatchesRegex("harness [0-9.]+ \\(LibTorch [0-9.]+.*\\)\n"));
}

TEST_F(CommandLineTest, BadUsageIsOneLineAndStatusTwo) {
  const auto expect = [&](const std::vector<std::string>& arguments, const std::string& message) {
    expect_refusal(run(arguments), message);
  };
  expect({"--model", "Goood"}, "unknown model 'Goood'; did you mean 'Good'?");
  const auto expect_bad_value = [&](const std::string& flag, const std::string& value,
                                    const std::string& kind, const std::string& expected) {
    expect({flag, value}, "harness: " + flag + ": invalid " + kind + " '" + value + "'; expected " +
                              expected + "\n");
  };
  for (const char* value : {"-1", "nan", "inf", "0x1p3", "x", "1e999"}) {
    expect_bad_value("--rtol", value, "tolerance", "a number, 0 or more");
    expect_bad_value("--atol", value, "tolerance", "a number, 0 or more");
  }
  for (const char* value : {"0", "-0", "-5", "x", "inf", "nan"}) {
    expect_bad_value("--timeout", value, "time limit", "a positive number of seconds");
  }
  expect({"--tolerance", "foo"},
         "harness: --tolerance: unknown tolerance rule 'foo'; expected one of: auto, dtype, own, "
         "float64\n");
  expect({"--tolerance", "float64", "--rtol", "1"},
         "harness: --tolerance and --rtol cannot be combined: give either numbers or a rule\n");
  for (const char* value : {"0", "1025", "-1", "1.5", "x"}) {
    expect_bad_value("--jobs", value, "number of jobs", "a whole number from 1 to 1024");
    expect_bad_value("--threads", value, "number of threads", "a whole number from 1 to 1024");
  }
  for (const char* value : {"-1", "18446744073709551616", "99999999999999999999999", "0x10", "x"}) {
    expect_bad_value("--seed", value, "seed", "a whole number from 0 to 18446744073709551615");
  }
  expect({"--mdel", "x"}, "harness: unknown option '--mdel'; did you mean '--model'?\n");
  expect({"Good"}, "harness: --pt2: cannot find 'Good'\n");
  expect_refusal(run_command_line({"--output"}), "harness: --output needs a value\n");
  expect({"--jobs", "1", "--jobs", "2"}, "harness: --jobs is given more than once\n");
  expect_refusal(run_command_line({"--output", ""}), "harness: --output: missing folder name\n");
  const HarnessOutcome result = run({"--model", std::string(5000, 'x')}).expect_status(2);
  EXPECT_LE(result.err.size(), 401);
}

TEST_F(CommandLineTest, ThreadsAndSeedsAreThoseThatAreAskedFor) {
  run({"--model=Good", "--threads=2", "--seed=18446744073709551615"}).expect_status(0);
  EXPECT_THAT(reports().at("Good.md"),
              AllOf(HasSubstr("| `exact` | `cpu` | 2 | 18446744073709551615 |"),
                    HasSubstr("--model Good --seed 18446744073709551615 --threads 2\n")));
  EXPECT_THAT(reports().at("results.json"), HasSubstr("\"threads\": 2,"));
  run({"--model=Good", "--seed=010"}).expect_status(0);
  EXPECT_THAT(reports().at("Good.md"), HasSubstr("--seed 10\n"));
}

TEST_F(CommandLineTest, PagesRepeatTheOptionsOfTheRun) {
  run({"--executor=-x 'it' {ir} {weights} {inputs} {outputs}", "--model", "Good", "-q",
       "--memory-limit", "1e5", "-j", "2", "--atol=1e-6", "--require-support", "--category",
       "good"})
      .expect_status(1);
  EXPECT_THAT(reports().at("Good.md"),
              HasSubstr("//harness -- --model Good --atol 1e-06 --require-support '--executor=-x "
                        "'\\''it'\\'' {ir} {weights} {inputs} {outputs}' --memory-limit 100000\n"));
  // What is given anew replaces what was given then.
  run_command_line({"--rerun", output_ + "/results.json", "--executor",
                    "false {ir} {weights} {inputs} {outputs}"})
      .expect_status(1);
  EXPECT_THAT(reports().at("results.json"), Not(HasSubstr("-x 'it'")));
}

TEST_F(CommandLineTest, AFullStandardOutputIsStatusTwo) {
  for (const char* flag : {"--list-models", "--list-categories", "--help", "--version"}) {
    const std::vector<const char*> argv = {"harness", flag};
    std::ofstream out("/dev/full");
    std::ostringstream err;
    EXPECT_EQ(harness_main(2, argv.data(), out, err), 2) << flag;
    EXPECT_EQ(err.str(), "harness: cannot write to the standard output\n");
  }
}

TEST_F(CommandLineTest, AnOutputThatIsNoDirectoryIsStatusTwo) {
  fs::create_directories(output_);
  write_file(output_ + "/file", "mine");
  write_file(output_ + "/ir", "mine");
  const std::pair<std::string, std::string> outputs[] = {
      {output_ + "/file", "cannot create the folder '" + output_ + "/file': it is a file"},
      {output_ + "/file/below",
       "cannot create the folder '" + output_ + "/file/below': Not a directory"},
      {"/proc/x", "cannot create the folder '/proc/x': No such file or directory"},
      {output_, "cannot write '" + output_ + "/ir': it is a file"}};
  for (const auto& [output, message] : outputs) {
    const HarnessOutcome result =
        run_command_line({"--output", output, "--model", "Good"}).expect_status(2);
    EXPECT_EQ(result.err, "harness: " + message + "\n");
  }
  EXPECT_EQ(read_file(output_ + "/file"), "mine");
}

TEST_F(CommandLineTest, AFullDiskIsStatusTwo) {
  const rlimit limit{.rlim_cur = 600, .rlim_max = RLIM_INFINITY};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  const auto previous = ::signal(SIGXFSZ, SIG_IGN);
  const HarnessOutcome result = run({"--model", "Good"});
  ::signal(SIGXFSZ, previous);
  const rlimit unlimited{.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
  ::setrlimit(RLIMIT_FSIZE, &unlimited);

  expect_refusal(result, "File too large");
}

TEST_F(CommandLineTest, AnInterruptedRunReportsTheModelsThatFinished) {
  EXPECT_EQ(run({"--model", "Good", "--model", "Interrupts"}).expect_status(130).err,
            "harness: interrupted; the reports cover the 1 of 2 models that finished\n");
  EXPECT_THAT(report_names(), ElementsAre("Good.md", "SUMMARY.md", "index.html", "ir/Good.json",
                                          "junit.xml", "results.json", "svg/Good.svg"));
  EXPECT_THAT(reports().at("SUMMARY.md"),
              AllOf(HasSubstr("❌ **Interrupted: 1 of 1 models passed**"),
                    HasSubstr("This run was interrupted after 1 model had finished.")));
  EXPECT_THAT(reports().at("junit.xml"), AllOf(HasSubstr("tests=\"2\" failures=\"0\" errors=\"1\""),
                                               HasSubstr("<error type=\"interrupted\" ")));
  EXPECT_EQ(schema_problem(results()), "");
  EXPECT_EQ(results()["coverage"]["interrupted"], true);
  // The model that the run did not reach is not gone.
  const std::string baseline = path("baseline.json");
  fs::copy_file(output_ + "/results.json", baseline);
  const HarnessOutcome again =
      run({"--model", "Good", "--model", "Close", "--baseline", baseline}).expect_status(0);
  EXPECT_THAT(again.out, Not(HasSubstr("new")));
}

TEST_F(CommandLineTest, ARunThatIsInterruptedAtOnceLeavesTheEarlierOne) {
  run({"--model", "Good"}).expect_status(0);
  const auto earlier = reports();
  run({"--model", "Goood"}).expect_status(2);
  const HarnessOutcome result = run({"--model", "Interrupts"}).expect_status(130);
  EXPECT_EQ(result.err, "harness: interrupted before any model finished; reports unchanged\n");
  EXPECT_EQ(reports(), earlier);
}

TEST_F(CommandLineTest, LinksInTheFolderAreNotFollowed) {
  const std::string elsewhere = path("elsewhere");
  fs::create_directories(elsewhere);
  write_file(elsewhere + "/mine", "mine");
  fs::create_directories(output_);
  fs::create_symlink(elsewhere + "/mine", output_ + "/SUMMARY.md");
  fs::create_symlink(elsewhere + "/mine", output_ + "/Good.md");
  run({"--model", "Good"}).expect_status(0);
  EXPECT_FALSE(fs::is_symlink(output_ + "/SUMMARY.md"));
  EXPECT_FALSE(fs::is_symlink(output_ + "/Good.md"));
  fs::remove_all(output_ + "/ir");
  fs::create_symlink(elsewhere, output_ + "/ir");
  const HarnessOutcome result = run({"--model", "Good"}).expect_status(2);
  EXPECT_EQ(result.err, "harness: cannot write '" + output_ + "/ir': it is a symbolic link\n");
  EXPECT_THAT(files_below(elsewhere), ElementsAre(std::pair("mine", "mine")));
}

TEST_F(CommandLineTest, TheCommandIsForTheProgramThatRan) {
  for (const std::string program : {"some/folder/my_harness", "harness"}) {
    run_program(program, {"--output", output_, "--model", "Good"}).expect_status(0);
    EXPECT_THAT(reports().at("Good.md"), HasSubstr("```sh\n" + program + " --model Good\n```\n"));
    EXPECT_EQ(results()["command"], program + " --model Good");
  }
}

TEST_F(CommandLineTest, RelativeOutputIsBelowTheDirectoryOfTheUser) {
  ::setenv("BUILD_WORKING_DIRECTORY", output_.c_str(), 1);
  const HarnessOutcome result = run_command_line({"--output", "below", "--model", "Good"});
  ::unsetenv("BUILD_WORKING_DIRECTORY");
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, HasSubstr("see below/SUMMARY.md"));
  EXPECT_TRUE(fs::exists(output_ + "/below/Good.md"));
}

// The baseline may be the earlier run of the same folder, even if the run replaces it.
TEST_F(CommandLineTest, QuietRunsNameModelsThatAreGone) {
  run({"--quiet", "--category", "good"}).expect_status(0);
  const std::string baseline = output_ + "/results.json";
  std::string text = reports().at("results.json");
  c10::ReplaceAll(text, "\"Close\"", "\"Closed\"");
  write_file(baseline, text);
  const HarnessOutcome result =
      run({"--quiet", "--category", "good", "--baseline", baseline}).expect_status(1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("  gone     Closed  status: was passed\n"),
                                HasSubstr("not found: 1 of the 2 models of the baseline")));
  // Others are not asked for.
  const HarnessOutcome good = run({"--model", "Good", "--baseline", baseline}).expect_status(0);
  EXPECT_THAT(good.out, HasSubstr("no changes since"));
}

TEST_F(CommandLineTest, ComparesTwoFoldersOfReports) {
  run({"--category", "good", "--per-node"}).expect_status(0);
  const std::string old = path("old");
  fs::copy(output_, old, fs::copy_options::recursive);
  const HarnessOutcome same = run_command_line({"compare", old, output_}).expect_status(0);
  EXPECT_THAT(same.out, HasSubstr("no changes since " + old));
  const std::string text = reports().at("results.json");
  write_file(old + "/results.json",
             std::regex_replace(text, std::regex(R"("max_diff": [^,\n]*)"), R"("max_diff": 0)"));
  const HarnessOutcome other =
      run_command_line({"compare", old + "/results.json", output_}).expect_status(1);
  EXPECT_THAT(other.out, HasSubstr("  worse    Close  max abs. error"));
  EXPECT_EQ(run_command_line({"compare", old}).err,
            "harness: compare needs two folders of reports, 1 given\n");
  const HarnessOutcome missing = run_command_line({"compare", old, old + "/ir"}).expect_status(2);
  EXPECT_THAT(missing.err, HasSubstr(old + "/ir/results.json"));
  EXPECT_EQ(run_command_line({"compare", "-q"}).err,
            "harness: 'compare' needs two folders of reports\n");
  for (const std::string& inside : {old, output_ + "/more"}) {
    const HarnessOutcome refused =
        run_command_line({"compare", old, output_, "-o", inside}).expect_status(2);
    EXPECT_THAT(refused.err, AllOf(StartsWith("harness: --output: '" + inside + "' is in '"),
                                   HasSubstr("', which is compared; choose another folder\n")));
  }
  EXPECT_THAT(run_command_line({"compare", old, "nothing", "-o", "Z"}).err,
              HasSubstr("'nothing': No such file or directory"));
  EXPECT_FALSE(fs::exists(output_ + "/more"));
  EXPECT_FALSE(fs::exists(old + "/COMPARE.md"));
}

}  // namespace
}  // namespace torch_ir
