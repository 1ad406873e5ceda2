#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <utility>

#include "harness/process/child_process.h"
#include "harness/process/worker.h"
#include "torch_ir/base/subprocess.h"

namespace torch_ir {
namespace {

// A child under a keeper, as the harness starts it.
class KeeperTest : public ::testing::Test {
 protected:
  // The child calls `run`, which may start processes, and then waits.
  void start(const std::function<void()>& run) {
    int lifeline[2];
    int alive[2];
    ASSERT_EQ(::pipe(lifeline), 0);
    ASSERT_EQ(::pipe(alive), 0);
    keeper_ = ::fork();
    if (keeper_ == 0) {
      ::dup2(lifeline[0], STDIN_FILENO);
      ::close(lifeline[0]);
      ::close(lifeline[1]);
      continue_under_keeper();
      run();
      if (::write(alive[1], "", 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    ::close(lifeline[0]);
    ::close(alive[1]);
    lifeline_ = lifeline[1];
    alive_ = alive[0];
  }
  ~KeeperTest() override {
    ::close(lifeline_);
    ::close(alive_);
  }

  // Blocks until the child has called `run`.
  bool has_run() const {
    char byte = 0;
    return ::read(alive_, &byte, 1) == 1;
  }
  // Blocks while any process lives that the child has started.
  bool all_are_gone() const {
    char byte = 0;
    return ::read(alive_, &byte, 1) == 0;
  }
  void let_go() { ::close(std::exchange(lifeline_, -1)); }
  pid_t child() const {
    for (const ProcessState& it : list_processes()) {
      if (it.parent == keeper_) return it.process;
    }
    return -1;
  }
  std::string end() const { return describe_wait_status(wait_for_process(keeper_)); }

 private:
  pid_t keeper_ = -1;
  int lifeline_ = -1;
  int alive_ = -1;
};

// Starts a process in a new session, one that outlives its parent, and one more in a session.
void start_others() {
  if (::fork() == 0) {
    ::setsid();
    if (::fork() == 0) {
      if (::fork() != 0) ::_exit(0);
      ::setsid();
    }
    ::signal(SIGTERM, SIG_IGN);
    for (;;) ::pause();
  }
}

TEST_F(KeeperTest, EndsAllWhenNobodyHoldsTheLifeline) {
  start(start_others);
  EXPECT_TRUE(has_run());
  let_go();
  EXPECT_TRUE(all_are_gone());
  EXPECT_EQ(end(), "was killed by signal 9 (Killed)");
}

TEST_F(KeeperTest, EndsAsItsChildDoesAndLeavesNoOther) {
  start([] {
    start_others();
    ::_exit(3);
  });
  EXPECT_TRUE(all_are_gone());
  EXPECT_EQ(end(), "exited with status 3");
}

// A model may call kill(0, ...).
TEST_F(KeeperTest, IsNotInTheGroupOfItsChild) {
  start([] {
    start_others();
    ::kill(0, SIGKILL);
  });
  EXPECT_TRUE(all_are_gone());
  EXPECT_EQ(end(), "was killed by signal 9 (Killed)");
}

// A model may call kill(getppid(), ...).
TEST_F(KeeperTest, SignalsOfItsChildDoNotEndIt) {
  start([] {
    start_others();
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1}) {
      ::kill(::getppid(), signal);
    }
    ::signal(SIGABRT, SIG_DFL);
    ::raise(SIGABRT);
  });
  EXPECT_TRUE(all_are_gone());
  EXPECT_EQ(end(), "was killed by signal 6 (Aborted)");
}

// A traced process remains a child until its tracer releases it.
TEST_F(KeeperTest, DoesNotWaitForeverForWhatDoesNotGo) {
  start([] {});
  EXPECT_TRUE(has_run());
  const pid_t traced = child();
  if (::ptrace(PTRACE_SEIZE, traced, nullptr, nullptr) != 0) GTEST_SKIP() << "no ptrace here";
  let_go();
  EXPECT_EQ(end(), "was killed by signal 9 (Killed)");
  EXPECT_EQ(::waitpid(traced, nullptr, __WALL), traced);
}

TEST_F(KeeperTest, ItsChildReadsNothing) {
  start([] {
    char byte = 0;
    ::_exit(::read(STDIN_FILENO, &byte, 1) == 0 ? 0 : 1);
  });
  EXPECT_EQ(end(), "exited with status 0");
}

}  // namespace
}  // namespace torch_ir
