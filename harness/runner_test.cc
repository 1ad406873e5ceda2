#include "torch_ir/harness/runner.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cerrno>
#include <filesystem>

#include "torch_ir/harness/interrupt.h"
#include "torch_ir/harness/stages.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  ~RunnerTest() override { fs::remove_all(directory_); }

  std::vector<ModelResult> run(const std::vector<std::string>& models,
                               const RunOptions& options = {}, const RunObserver& observer = {}) {
    return run_models({models.begin(), models.end()}, options, directory_, observer);
  }
  ModelResult run_one(const std::string& model, const RunOptions& options = {}) {
    return run({model}, options).at(0);
  }

  const std::string directory_ = ::testing::TempDir() + "runner_test";
};

TEST_F(RunnerTest, AModelThatIsRightPassesAllStages) {
  const ModelResult result = run_one("Good");
  EXPECT_TRUE(result.passed());
  EXPECT_EQ(result.name, "Good");
  EXPECT_THAT(result.categories, ElementsAre("good"));
  EXPECT_EQ(result.num_passed_stages, kStages.size());
  ASSERT_TRUE(result.graph);
  EXPECT_EQ(result.graph->nodes.size(), 1u);
  ASSERT_NE(result.worst_trial(), nullptr);
  EXPECT_EQ(result.worst_trial()->verification.max_diff, 0);
  EXPECT_TRUE(fs::exists(directory_ + "/Good/ir.json"));
  EXPECT_FALSE(fs::exists(directory_ + "/Good/weights.safetensors"));
}

TEST_F(RunnerTest, ADifferenceWithinTheToleranceIsShownAndPasses) {
  const ModelResult result = run_one("Close");
  EXPECT_TRUE(result.passed());
  EXPECT_NEAR(result.worst_trial()->verification.max_diff, 1e-5, 1e-6);

  RunOptions strict;
  strict.settings.tolerance.fixed = {.rtol = 0, .atol = 1e-6};
  EXPECT_FALSE(run_one("Close", strict).passed());
}

TEST_F(RunnerTest, AWrongResultFailsTheVerification) {
  const ModelResult result = run_one("Wrong");
  EXPECT_FALSE(result.passed());
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->stage, Stage::kVerify);
  EXPECT_NE(result.failure->message, "");
  EXPECT_NEAR(result.worst_trial()->verification.max_diff, 1, 1e-6);
  EXPECT_EQ(result.num_passed_stages, 3u);
}

TEST_F(RunnerTest, OutputsOfAnotherShapeFailTheVerification) {
  const ModelResult result = run_one("Mismatch");
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->stage, Stage::kVerify);
  EXPECT_THAT(result.failure->message, HasSubstr("shape [2, 3], expected [2, 2, 3]"));
}

TEST_F(RunnerTest, AnExceptionIsAFailureOfItsStage) {
  const ModelResult captured = run_one("Throws");
  ASSERT_TRUE(captured.failure);
  EXPECT_EQ(captured.failure->stage, Stage::kExtract);
  EXPECT_THAT(captured.failure->message, HasSubstr("no | forward"));
  EXPECT_FALSE(captured.graph);

  const ModelResult on_data = run_one("ThrowsOnData");
  ASSERT_TRUE(on_data.failure);
  EXPECT_EQ(on_data.failure->stage, Stage::kVerify);
  EXPECT_EQ(on_data.failure->message, "no data, please");
  EXPECT_TRUE(on_data.graph);
}

TEST_F(RunnerTest, ACrashIsAFailureWithItsSignalStageAndLastWords) {
  const ModelResult captured = run_one("Aborts");
  ASSERT_TRUE(captured.failure);
  EXPECT_EQ(captured.failure->stage, Stage::kExtract);
  EXPECT_EQ(captured.failure->message,
            "The process of the model was killed by signal 6 (Aborted).");
  EXPECT_THAT(captured.failure->output, HasSubstr("last words"));

  const ModelResult on_data = run_one("AbortsOnData");
  ASSERT_TRUE(on_data.failure);
  EXPECT_EQ(on_data.failure->stage, Stage::kVerify);
  EXPECT_EQ(on_data.num_passed_stages, 3u);
  EXPECT_TRUE(on_data.graph);
}

TEST_F(RunnerTest, AProcessThatLeavesEarlyIsAFailure) {
  const ModelResult result = run_one("Exits");
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->stage, Stage::kVerify);
  EXPECT_EQ(result.failure->message, "The process of the model exited with status 0, unfinished.");
}

TEST_F(RunnerTest, AModelThatHangsIsStopped) {
  RunOptions options;
  options.timeout = std::chrono::milliseconds(1500);
  const ModelResult result = run_one("Hangs", options);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->stage, Stage::kExtract);
  EXPECT_EQ(result.failure->message,
            "The process of the model was stopped after 1.5 s, the time limit.");
}

TEST_F(RunnerTest, AModelThatNeverStartedKeepsWhatIsKnownOfIt) {
  RunOptions options;
  options.timeout = std::chrono::nanoseconds(1);
  const ModelResult result = run_one("Good", options);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.description, "Good");
  EXPECT_THAT(result.categories, ElementsAre("good"));
}

TEST_F(RunnerTest, AFailureDoesNotStopTheOthersAndResultsKeepTheirOrder) {
  RunOptions options;
  options.jobs = 3;
  std::vector<std::string> started;
  size_t finished = 0;
  const std::vector<ModelResult> results =
      run({"Aborts", "Good", "Throws", "Close"}, options,
          {.on_start = [&](const std::string& model) { started.push_back(model); },
           .on_finish =
               [&](const ModelResult& result, const std::string& directory) {
                 ++finished;
                 EXPECT_EQ(directory, directory_ + "/" + result.name);
               }});
  ASSERT_EQ(results.size(), 4u);
  EXPECT_FALSE(results[0].passed());
  EXPECT_TRUE(results[1].passed());
  EXPECT_EQ(results[1].name, "Good");
  EXPECT_EQ(results[2].name, "Throws");
  EXPECT_TRUE(results[3].passed());
  EXPECT_THAT(started, ElementsAre("Aborts", "Good", "Throws", "Close"));
  EXPECT_EQ(finished, 4u);
}

TEST_F(RunnerTest, SavesTheTensorsThatReplayAModel) {
  RunOptions options;
  options.settings.save_tensors = true;
  EXPECT_TRUE(run_one("Good", options).passed());
  for (const char* name : {"weights", "inputs", "expected"}) {
    EXPECT_TRUE(fs::exists(directory_ + "/Good/" + name + ".safetensors")) << name;
  }
}

TEST_F(RunnerTest, ASignalStopsTheRun) {
  const InterruptGuard guard;
  EXPECT_THROW(run({"Interrupts", "Good"}), Interrupted);
  // No child is left.
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(RunnerTest, AFullDiskIsNotTheModelsFailure) {
  // What the parent writes is smaller than the child's IR with its weights.
  const RunObserver fill_disk{.on_start = [](const std::string&) {
    const rlimit limit{.rlim_cur = 600, .rlim_max = RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_IGN);
  }};
  EXPECT_THAT([&] { run({"Good"}, {}, fill_disk); },
              ThrowsMessage<OutputError>(HasSubstr("File too large")));
  const rlimit unlimited{.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
  ::setrlimit(RLIMIT_FSIZE, &unlimited);
}

}  // namespace
}  // namespace torch_ir
