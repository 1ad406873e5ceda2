#include "harness/run/runner.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <set>

#include "harness/divergence/ended_process.h"
#include "harness/process/supervise.h"
#include "harness/report/run_text.h"
#include "harness/stages/stages.h"
#include "torch_ir/base/file.h"
#include "torch_ir/ir/json.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  ~RunnerTest() override { fs::remove_all(directory_); }

  std::vector<Result> run(const std::vector<std::string>& models, const RunOptions& options = {},
                          RunObserver observer = {}) {
    // The results for on_finish still have their graphs.
    std::map<std::string, Result> finished;
    const auto keep = [&, on_finish = observer.on_finish](Result& result,
                                                          const std::string& directory) {
      on_finish(result, directory);
      finished[result.name] = result;
    };
    observer.on_finish = keep;
    std::vector<Result> results =
        run_candidates({models.begin(), models.end()}, options, directory_, observer);
    for (Result& result : results) result = finished.at(result.name);
    return results;
  }
  Result run_one(const std::string& model, const RunOptions& options) {
    return run({model}, options).at(0);
  }
  // All models that tests need without options run together, once.
  Result run_one(const std::string& model) {
    static const std::map<std::string, Result> usual = [this] {
      std::map<std::string, Result> results;
      for (Result& it :
           run({"Good",          "Wrong",        "Draws",        "ExitsAtTheEnd", "Bits",
                "Mismatch",      "Throws",       "ThrowsOnData", "Aborts",        "Exits",
                "Trains",        "AbortsOnData", "ReadsData",    "NeedsTooMuch",  "Loose",
                "Counter",       "WrongOnOnes",  "WrongOnLarge", "ReadsOutside",  "LooseOutput",
                "RaisesOnLarge", "KnownWrong",   "MendedSince",  "ExitsAsADisk",  "Overflows"},
               {.jobs = 2})) {
        results[it.name] = std::move(it);
      }
      return results;
    }();
    return usual.at(model);
  }

  // Looks for a reproducer in the model Branches.
  ReproducerSearch search(const RunSettings& settings, const EndedProcess& ended) const {
    const std::string folder = directory_ + "/" + settings.backend;
    fs::create_directories(folder);
    const auto candidate = make_candidate(ModelSource("Branches"), settings);
    return reproduce_end(*candidate, settings, ended, folder, [](const auto&) {});
  }

  const std::string directory_ = ::testing::TempDir() + "runner_test";
};

std::vector<std::string> trial_names(const Result& result) {
  std::vector<std::string> names;
  for (const Trial& trial : result.trials) names.push_back(trial.name);
  return names;
}

TEST_F(RunnerTest, AModelThatIsRightPassesAllStages) {
  const Result result = run_one("Good");
  EXPECT_TRUE(result.passed());
  EXPECT_THAT(result.categories, ElementsAre("good"));
  ASSERT_TRUE(result.graph);
  EXPECT_EQ(result.graph->nodes.size(), 1u);
  // Equal outputs need no float64.
  EXPECT_EQ(result.passed_by, Basis::kTolerance);
  EXPECT_EQ(worst_own_error(result), std::nullopt);
  EXPECT_THAT(trial_names(result),
              ElementsAre("normal values", "zeros and ones", "large magnitudes"));
  EXPECT_FALSE(fs::exists(directory_ + "/Good")) << "its files are for on_finish";
}

// Graph and model draw the same random numbers, overflow alike, and start each trial from the same
// weights.
TEST_F(RunnerTest, GraphAndModelAgreeToTheBit) {
  for (const char* model : {"Good", "Draws", "Counter"}) {
    const Result result = run_one(model);
    EXPECT_TRUE(result.passed()) << model << ": " << result.reason();
    EXPECT_EQ(difference_metrics(result).max_diff, 0) << model;
  }
  EXPECT_TRUE(run_one("Overflows").passed());
}

TEST_F(RunnerTest, AProcessThatEndsWithAnErrorAfterItsWorkIsTold) {
  const Result result = run_one("ExitsAtTheEnd");
  EXPECT_TRUE(result.passed());
  ASSERT_TRUE(result.nodes);
  EXPECT_EQ(result.nodes->error, "The process of the model exited with status 3.");
}

TEST_F(RunnerTest, AValueThatWasNotJudgedIsNotRight) {
  const Result result = run_one("Steps", {.settings = {.backend = "withholds", .per_node = true}});
  EXPECT_EQ(result.status(), Status::kPassed);
  ASSERT_TRUE(result.nodes);
  EXPECT_EQ(result.nodes->num_compared, 6);
  EXPECT_EQ(
      not_judged_text(*result.nodes, std::identity()),
      "1 value was not judged; it is mul_2: node 'rand_like' (aten.rand_like.default) draws random "
      "numbers");
}

TEST_F(RunnerTest, Float64AsTheReferenceGoesByTheOwnErrorWhereItSaysSomething) {
  const std::vector<Result> results =
      run({"Good", "Bits"},
          {.settings = {.criterion = {.reference = ReferenceKind::kFloat64}, .backend = "rounds"}});
  const Result& failed = results[0];
  ASSERT_TRUE(failed.failure);
  EXPECT_EQ(failed.failure->kind, FailureKind::kOutputMismatch);
  EXPECT_THAT(failed.failure->message, HasSubstr("times eager's"));
  EXPECT_THAT(failed.failure->message, HasSubstr("; the limit is 16"));
  ASSERT_TRUE(failed.nodes);
  EXPECT_TRUE(failed.nodes->first_divergence);
  ASSERT_TRUE(failed.reproducer);
  EXPECT_EQ(failed.reproducer->command, "harness --ir . --executor rounds --tolerance own");
  // The tolerance decides.
  EXPECT_TRUE(results[1].passed());
}

TEST_F(RunnerTest, AModelThatHangsIsStoppedAndOneThatNeverStartedKeepsWhatIsKnownOfIt) {
  const Result hangs = run_one("Hangs", {.timeout = std::chrono::milliseconds(1500)});
  ASSERT_TRUE(hangs.failure);
  EXPECT_EQ(hangs.failure->stage, Stage::kExtract);
  EXPECT_EQ(hangs.failure->message, "The process of the model exceeded the time limit of 1.5 s.");
  const Result never_started = run_one("Good", {.timeout = std::chrono::nanoseconds(1)});
  ASSERT_TRUE(never_started.failure);
  EXPECT_EQ(never_started.description, "Good");
  EXPECT_THAT(never_started.categories, ElementsAre("good"));
}

TEST_F(RunnerTest, AFailureDoesNotStopTheOthersAndResultsKeepTheirOrder) {
  const std::vector<std::string> models = {"Aborts", "Good", "Throws", "Close"};
  std::vector<std::string> started;
  size_t finished = 0;
  const std::vector<Result> results =
      run(models, {.jobs = 3},
          {.on_start = [&](const std::string& model) { started.push_back(model); },
           .on_finish =
               [&](Result& result, const std::string& directory) {
                 ++finished;
                 EXPECT_EQ(directory, directory_ + "/" + result.name);
               }});
  ASSERT_EQ(results.size(), models.size());
  for (size_t i = 0; i < models.size(); ++i) {
    EXPECT_EQ(results[i].name, models[i]);
    EXPECT_EQ(results[i].passed(), i % 2 == 1) << models[i];
  }
  EXPECT_EQ(started, models);
  EXPECT_EQ(finished, models.size());
}

TEST_F(RunnerTest, ValuesOfTheFailedTrialAreKeptOrElseOfTheFirst) {
  std::string values;
  const RunObserver observer{.on_finish = [&](Result&, const std::string& directory) {
    values = read_file(directory + "/values.safetensors");
  }};
  RunOptions options{.settings = {.backend = "rounds", .per_node = true, .save_values = true}};
  const auto kept_trial = [&](bool passes) {
    const Result result = run({"Good"}, options, observer)[0];
    EXPECT_EQ(result.passed(), passes);
    return result.kept_trial;
  };
  EXPECT_EQ(kept_trial(false), "large magnitudes");
  EXPECT_THAT(values, HasSubstr("\"F32\""));
  const std::string of_failed = std::move(values);
  // The worst is still the one of large magnitudes.
  options.settings.tolerance = {.fixed = {.rtol = 1, .atol = 1}};
  options.settings.criterion = {};
  EXPECT_EQ(kept_trial(true), "normal values");
  EXPECT_NE(values, of_failed);
}

void limit_files(rlim_t num_bytes) {
  const rlimit limit{.rlim_cur = num_bytes, .rlim_max = RLIM_INFINITY};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  ::signal(SIGXFSZ, SIG_IGN);
}

TEST_F(RunnerTest, AFullDiskIsNotTheModelsFailure) {
  // The files of the parent are smaller than the child's IR with its weights.
  const RunObserver fill_disk{.on_start = [](const std::string&) { limit_files(600); }};
  EXPECT_THAT([&] { run({"Good"}, {}, fill_disk); },
              ThrowsMessage<OutputError>(HasSubstr("File too large")));
  // Before a model starts.
  limit_files(10);
  EXPECT_THAT([&] { run({"Good"}); }, ThrowsMessage<Error>(HasSubstr("File too large")));
  limit_files(RLIM_INFINITY);
}

FailureKind kind_of(const Result& result) {
  EXPECT_TRUE(result.failure) << result.name;
  return result.failure ? result.failure->kind : FailureKind::kExtractFailed;
}

struct FailingModel {
  std::string name;
  FailureKind kind;
  Stage stage;
  ::testing::Matcher<std::string> message = ::testing::_;
};

TEST_F(RunnerTest, FailuresHaveTheirKindsStagesAndMessages) {
  const FailingModel models[] = {
      {"Trains", FailureKind::kExtractUnsupported, Stage::kExtract},
      {"ReadsData", FailureKind::kExtractUnsupported, Stage::kExtract},
      {"Throws", FailureKind::kExtractFailed, Stage::kExtract, HasSubstr("no | forward")},
      {"ThrowsOnData", FailureKind::kExecuteFailed, Stage::kVerify, "no data, please"},
      {"Wrong", FailureKind::kOutputMismatch, Stage::kVerify},
      {"Mismatch", FailureKind::kOutputMismatch, Stage::kVerify,
       HasSubstr("shape [2, 3], expected [2, 2, 3]")},
      {"Aborts", FailureKind::kCrashed, Stage::kExtract,
       "The process of the model was killed by signal 6 (Aborted)."},
      {"AbortsOnData", FailureKind::kCrashed, Stage::kVerify},
      {"Exits", FailureKind::kCrashed, Stage::kVerify,
       "The process of the model exited with status 0 before it finished."},
      // The status of a worker on a full disk.
      {"ExitsAsADisk", FailureKind::kCrashed, Stage::kVerify,
       "The process of the model exited with status 74."},
      {"NeedsTooMuch", FailureKind::kOutOfMemory, Stage::kVerify},
  };
  for (const FailingModel& model : models) {
    const Result result = run_one(model.name);
    ASSERT_TRUE(result.failure) << model.name;
    EXPECT_EQ(result.failure->kind, model.kind) << model.name;
    EXPECT_EQ(result.failure->stage, model.stage) << model.name;
    EXPECT_THAT(result.failure->message, model.message) << model.name;
    EXPECT_EQ(result.num_passed_stages, static_cast<size_t>(model.stage)) << model.name;
    EXPECT_EQ(result.graph.has_value(), model.stage != Stage::kExtract) << model.name;
  }
  EXPECT_THAT(run_one("Aborts").failure->output, HasSubstr("last words"));
}

TEST_F(RunnerTest, OneTrialThatFailsIsEnough) {
  const Result on_ones = run_one("WrongOnOnes");
  EXPECT_EQ(kind_of(on_ones), FailureKind::kOutputMismatch);
  EXPECT_TRUE(on_ones.trials.at(0).verification.is_valid);
  EXPECT_FALSE(on_ones.trials.at(1).verification.is_valid);
  EXPECT_EQ(on_ones.worst_trial(), &on_ones.trials[1]);
  EXPECT_THAT(on_ones.failure->message, ::testing::EndsWith(" (with zeros and ones)"));

  EXPECT_EQ(run_one("WrongOnLarge").worst_trial()->name, "large magnitudes");
}

TEST_F(RunnerTest, WhereTheModelRaisesItIsNotTried) {
  const Result result = run_one("RaisesOnLarge");
  EXPECT_TRUE(result.passed()) << result.reason();
  EXPECT_THAT(trial_names(result), ElementsAre("normal values", "zeros and ones"));
  EXPECT_THAT(result.not_tried,
              ElementsAre("large magnitudes: the model raises index out of range in self"));
}

TEST_F(RunnerTest, ATrialThatCanNotBeExecutedLeavesWhatIsKnownOfTheOthers) {
  const Result result = run_one("ReadsOutside");
  EXPECT_EQ(kind_of(result), FailureKind::kExecuteFailed);
  EXPECT_EQ(result.failure->stage, Stage::kExecute);
  EXPECT_THAT(result.failure->message.substr(0, result.failure->message.find('\n')),
              ::testing::EndsWith(" (with large magnitudes)"));
  ASSERT_THAT(trial_names(result),
              ElementsAre("normal values", "zeros and ones", "large magnitudes"));
  EXPECT_TRUE(result.trials[0].verification.is_valid);
  EXPECT_TRUE(result.trials[1].verification.is_valid);
  EXPECT_EQ(result.trials[2].verification.error_message, "The graph could not be executed.");
  EXPECT_EQ(result.worst_trial(), &result.trials[2]);
}

struct SmallestPart {
  std::string backend;
  FailureKind kind;
  // Nodes of the model Branches.
  std::string first_node;
  std::string last_node;
  // The last flags of the command.
  std::string flags;
};

class SmallestPartTest : public RunnerTest, public ::testing::WithParamInterface<SmallestPart> {};

INSTANTIATE_TEST_SUITE_P(
    Ends, SmallestPartTest,
    ::testing::Values(
        SmallestPart{"aborts_on_both", FailureKind::kCrashed, "sin", "exp", " --trials 1"},
        SmallestPart{"leaves_on_exp", FailureKind::kCrashed, "exp", "exp", " --trials 1"},
        SmallestPart{"grows_on_exp", FailureKind::kOutOfMemory, "exp", "exp",
                     " --trials 1 --memory-limit 600"},
        SmallestPart{"refused_on_exp", FailureKind::kOutOfMemory, "exp", "exp",
                     " --trials 1 --memory-limit 600"}),
    [](const auto& test) { return test.param.backend; });

TEST_P(SmallestPartTest, OfWhatEndsItsProcessIsTheReproducer) {
  const SmallestPart& expected = GetParam();
#ifdef __SANITIZE_ADDRESS__
  if (expected.kind == FailureKind::kOutOfMemory) {
    GTEST_SKIP() << "AddressSanitizer keeps what is freed";
  }
#endif
  RunOptions options{.settings = {.backend = expected.backend}};
  if (expected.kind == FailureKind::kOutOfMemory) options.memory_limit = 600'000'000;
  IR part;
  const RunObserver observer{.on_finish = [&](Result&, const std::string& directory) {
    part = load_ir(directory + "/repro/ir.json");
    EXPECT_FALSE(fs::exists(directory + "/repro/expected.safetensors"));
  }};
  const Result result = run({"Branches"}, options, observer).at(0);
  EXPECT_EQ(kind_of(result), expected.kind);
  ASSERT_TRUE(result.reproducer) << result.nodes->note;
  EXPECT_EQ(result.reproducer->first_node, expected.first_node);
  EXPECT_EQ(result.reproducer->last_node, expected.last_node);
  EXPECT_EQ(result.reproducer->num_nodes, expected.first_node == expected.last_node ? 1 : 4);
  EXPECT_EQ(static_cast<int64_t>(part.nodes.size()), result.reproducer->num_nodes);
  EXPECT_EQ(result.reproducer->trial, "normal values");
  EXPECT_EQ(result.reproducer->message, result.failure->message);
  EXPECT_THAT(result.reproducer->command, ::testing::EndsWith(expected.flags));
  EXPECT_THAT(result.nodes->note,
              HasSubstr("Each part of the graph was tried in its own process, for at most "));
}

// The command ends its process after it has written the group.
TEST_F(RunnerTest, APartThatEndsItsProcessHasWholeGroups) {
  const std::string executor =
      R"(echo '{"groups": [{"name": "fused", "nodes": ["neg", "sin"]}]}' > {groups}; )"
      "grep -q aten.sin {ir} && kill -9 $PPID; exit 1; # {weights} {inputs} {outputs}";
  const Result result = run_one("Branches", {.settings = {.executor = executor}});
  EXPECT_EQ(kind_of(result), FailureKind::kCrashed);
  ASSERT_TRUE(result.reproducer) << result.nodes->note;
  EXPECT_EQ(result.reproducer->first_node, "neg");
  EXPECT_EQ(result.reproducer->last_node, "sin");
}

TEST_F(RunnerTest, AServerStartsOnceForAllModelsOfAJob) {
  const std::string starts = directory_ + "/starts";
  const std::string server =
      "echo >> " + starts + R"(; while read -r line; do echo '{"status": "unsupported"}'; done)";
  const RunOptions options{.settings = {.executor = server, .executor_is_server = true}};
  for (const Result& result : run({"Good", "Close", "Branches"}, options)) {
    EXPECT_EQ(result.status(), Status::kUnsupported);
  }
  EXPECT_EQ(read_file(starts), "\n");
}

// A crash that does not happen again cannot be reduced.
TEST_F(RunnerTest, ACrashThatDoesNotComeAgainHasTheWholeGraph) {
  const std::string file = directory_ + "/once";
  ASSERT_EQ(::setenv("ONCE_FILE", file.c_str(), 1), 0);
  const Result result = run_one("Branches", {.settings = {.backend = "aborts_once"}});
  ::unsetenv("ONCE_FILE");
  EXPECT_EQ(kind_of(result), FailureKind::kCrashed);
  ASSERT_TRUE(result.reproducer);
  EXPECT_TRUE(result.is_reproduced_by_whole_graph());
  EXPECT_THAT(result.nodes->note,
              HasSubstr("did not crash the same way again when it ran by itself"));
}

struct LastRun {
  // Decides how the part that was found behaves; all other parts hang.
  std::string backend;
  // The note about the part; empty if it hangs.
  std::string note;
};

// Leaves out the process that hung first, so that the parts have much time: the last run has a
// fifth of the limit. The searches run at once, because they mostly wait.
TEST_F(RunnerTest, OfAPartThatSeemsToHangTheLastRunDecides) {
  const LastRun backends[] = {
      {"ends_at_last", "The part that was found was not seen to run for 4 s. "},
      {"fails_to_load_at_last", "The part that was found was not seen to run for 4 s. "},
      {"loads_slowly_at_last", ""}};
  std::vector<std::future<ReproducerSearch>> searches;
  for (const LastRun& it : backends) {
    searches.push_back(std::async(std::launch::async, [&] {
      return search({.backend = it.backend}, {.kind = FailureKind::kTimedOut, .timeout = 20});
    }));
  }
  for (size_t i = 0; i < searches.size(); ++i) {
    const ReproducerSearch found = searches[i].get();
    ASSERT_TRUE(found.reproducer);
    EXPECT_EQ(found.reproducer->num_nodes, backends[i].note.empty() ? 1 : 7) << found.note;
    EXPECT_THAT(found.note, StartsWith(backends[i].note));
  }
}

TEST_F(RunnerTest, ASearchThatIsCutOffSaysHowLongItLasted) {
  const ReproducerSearch found =
      search({.backend = "aborts", .search_seconds = 1e-3}, {.timeout = 20});
  EXPECT_TRUE(found.reproducer);
  EXPECT_EQ(found.note,
            "The graph, run by itself, was not loaded or did not end within 0.001 s, so no smaller "
            "part was searched for.");
}

TEST_F(RunnerTest, AGraphThatEndsItsProcessIsTheReproducer) {
  std::set<std::string> files;
  const RunObserver observer{.on_finish = [&](Result&, const std::string& directory) {
    for (const auto& entry : fs::directory_iterator(directory + "/repro")) {
      files.insert(entry.path().filename().string());
    }
  }};
  const Result result = run({"Counter"}, {.settings = {.backend = "aborts"}}, observer).at(0);
  EXPECT_EQ(kind_of(result), FailureKind::kCrashed);
  EXPECT_EQ(result.failure->output, "no room on the chip\n");
  ASSERT_TRUE(result.nodes);
  EXPECT_EQ(result.nodes->error, result.failure->message);
  ASSERT_TRUE(result.reproducer);
  EXPECT_EQ(result.reproducer->command, "harness --ir . --executor aborts --trials 1");
  EXPECT_EQ(result.reproducer->message, result.failure->message);
  EXPECT_EQ(result.reproducer->num_nodes, 1);
  EXPECT_THAT(files, ElementsAre("inputs.safetensors", "ir.json", "weights.safetensors"));
}

TEST_F(RunnerTest, TheLimitThatEndsTheProcessIsPartOfTheCommand) {
  const Result result =
      run_one("Good", {.settings = {.executor = "sleep 600; # {ir} {weights} {inputs} {outputs}"},
                       .timeout = std::chrono::seconds(3)});
  EXPECT_EQ(kind_of(result), FailureKind::kTimedOut);
  ASSERT_TRUE(result.reproducer);
  EXPECT_EQ(result.reproducer->command,
            "harness --ir . --executor 'sleep 600; # {ir} {weights} {inputs} {outputs}' --trials 1 "
            "--timeout 3");
}

TEST_F(RunnerTest, WhatIsKnownOfTheNodesOutlivesTheSearchForAReproducer) {
  const Result result = run_one("Overflows", {.settings = {.backend = "aborts_on_parts"}});
  EXPECT_EQ(kind_of(result), FailureKind::kOutputMismatch);
  ASSERT_TRUE(result.nodes && result.nodes->first_divergence);
  EXPECT_EQ(result.nodes->first_divergence->node.node, "exp");
  EXPECT_THAT(result.nodes->note,
              ::testing::EndsWith("The search for a reproducer could not be completed: The process "
                                  "of the model was killed by signal 6 (Aborted)."));
  EXPECT_FALSE(result.reproducer);
}

TEST_F(RunnerTest, StepsGoOnWithTheState) {
  RunOptions options{.settings = {.trials = 1, .steps = 4}};
  const Result right = run_one("Counter", options);
  EXPECT_TRUE(right.passed()) << right.reason();
  ASSERT_EQ(right.trials.size(), 4u);
  EXPECT_EQ(right.trials[3].name, "normal values, step 4");
  EXPECT_EQ(right.state_not_compared(), "");
  options.settings.backend = "wrong_state";
  const Result wrong = run_one("Counter", options);
  EXPECT_THAT(wrong.failure->message, StartsWith("step 3, state 'b_count': 1 of 1 elements"));
  EXPECT_EQ(wrong.trials.size(), 3u);
  // Its steps begin with the state of the model.
  options.settings.backend = "no_state";
  const Result none = run_one("Counter", options);
  EXPECT_TRUE(none.passed()) << none.reason();
  EXPECT_EQ(none.state_not_compared(), "state not compared: 'b_count'");
}

TEST_F(RunnerTest, TolerancesOfAModelGoFirstUnlessThoseOfTheRunWin) {
  EXPECT_TRUE(run_one("Loose").passed());
  EXPECT_TRUE(run_one("LooseOutput").passed());
  const RunOptions options{.settings = {.tolerance_wins = true, .criterion = {}}};
  for (const Result& result : run({"Loose", "LooseOutput"}, options)) {
    EXPECT_EQ(kind_of(result), FailureKind::kOutputMismatch);
  }
}

// The tolerance for all outputs of a model applies to floating point only.
TEST_F(RunnerTest, IntegersAreComparedExactlyUnlessTheOutputHasATolerance) {
  const std::vector<Result> results =
      run({"WrongIndex", "LooseIndex"}, {.settings = {.per_node = true}});
  const Result& result = results[0];
  EXPECT_EQ(kind_of(result), FailureKind::kOutputMismatch);
  ASSERT_TRUE(result.nodes);
  EXPECT_EQ(result.nodes->num_mismatched, 1);
  ASSERT_TRUE(result.nodes->first_divergence);
  EXPECT_EQ(result.nodes->first_divergence->node.op_type, "aten.add.Tensor");
  EXPECT_THAT(result.failure->message,
              HasSubstr("worst at [0, 0]: 50000, expected 50001; no tolerance passes"));
  EXPECT_TRUE(results[1].passed());
}

TEST_F(RunnerTest, ExpectedFailuresAreRegisteredOrListed) {
  EXPECT_EQ(run_one("KnownWrong").status(), Status::kExpectedFailure);
  EXPECT_EQ(run_one("MendedSince").status(), Status::kUnexpectedPass);
  EXPECT_FALSE(run_one("MendedSince").is_good());

  const ExpectedFailure known = {FailureKind::kOutputMismatch, "known"};
  RunOptions options{.settings = {.trials = 4, .per_node = true}};
  options.expected_failures.entries = {
      {.name = "Good", .failure = known},
      {.name = "Wrong", .failure = known},
      {.name = "KnownWrong", .failure = {FailureKind::kCrashed, "another kind"}},
      {.name = "WrongIn*", .failure = known}};
  const std::vector<Result> results = run({"Good", "Wrong", "KnownWrong", "WrongInside"}, options);
  EXPECT_EQ(results[0].status(), Status::kUnexpectedPass);
  EXPECT_EQ(results[1].status(), Status::kExpectedFailure);
  EXPECT_EQ(results[1].expected_failure->reason, "known");
  EXPECT_EQ(results[2].status(), Status::kFailed);
  EXPECT_EQ(results[3].status(), Status::kExpectedFailure);
  ASSERT_TRUE(results[3].failure);
  EXPECT_EQ(results[3].failure->message, "The outputs agree, but 1 intermediate value differs");
  EXPECT_THAT(trial_names(results[0]), ElementsAre("normal values", "zeros and ones",
                                                   "large magnitudes", "normal values 2"));
}

TEST_F(RunnerTest, AModelThatTakesTooMuchMemoryIsStopped) {
  const std::vector<Result> results =
      run({"Grows", "Good"}, {.jobs = 2, .memory_limit = 600'000'000});
  EXPECT_EQ(kind_of(results[0]), FailureKind::kOutOfMemory);
  EXPECT_EQ(results[0].failure->stage, Stage::kVerify);
  EXPECT_EQ(results[0].failure->message,
            "The process of the model exceeded the memory limit of 600 MB.");
  EXPECT_TRUE(results[1].passed()) << "the limit is that of one model";
}

class RunnerSignalTest : public RunnerTest, public ::testing::WithParamInterface<int> {};

INSTANTIATE_TEST_SUITE_P(Signals, RunnerSignalTest, ::testing::Values(SIGINT, SIGTERM, SIGHUP),
                         [](const auto& test) { return std::string(sigabbrev_np(test.param)); });

TEST_P(RunnerSignalTest, StopsWhatIgnoresSignalsAndWhatThatStarted) {
  const std::string pid_file = directory_ + "/pid";
  ASSERT_EQ(::setenv("PID_FILE", pid_file.c_str(), 1), 0);
  ASSERT_EQ(::setenv("SIGNAL", std::to_string(GetParam()).c_str(), 1), 0);
  const InterruptGuard guard;
  EXPECT_LE(run({"Hangs", "HoldsOn", "Good", "Close"}, {.jobs = 3}).size(), 2u);
  ::unsetenv("PID_FILE");
  ::unsetenv("SIGNAL");
  // No child is left.
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  std::string pid;
  std::ifstream(pid_file) >> pid;
  ASSERT_NE(pid, "");
  // The process is gone, or dead until its new parent waits for it.
  std::string state;
  std::ifstream stat("/proc/" + pid + "/stat");
  stat >> state >> state >> state;
  EXPECT_TRUE(!stat || state == "Z" || state == "X") << state;
}

}  // namespace
}  // namespace torch_ir
