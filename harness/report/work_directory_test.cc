#include "harness/report/work_directory.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class WorkDirectoryTest : public ::testing::Test {
 protected:
  WorkDirectoryTest() { fs::remove_all(parent_); }
  ~WorkDirectoryTest() override { fs::remove_all(parent_); }

  size_t num_entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(parent_), {}));
  }

  const fs::path parent_ = ::testing::TempDir() + "work_directory_test/reports";
};

// What a process leaves that was killed in the middle of a run.
fs::path leave_stale(const fs::path& parent) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const WorkDirectory directory(parent);
    std::ofstream(directory.path() / "request.json") << "{}";
    const std::string path = directory.path().string();
    if (::write(ends[1], path.data(), path.size()) < 0) ::_exit(1);
    ::close(ends[1]);
    for (;;) ::pause();
  }
  ::close(ends[1]);
  char path[4096];
  const ssize_t size = ::read(ends[0], path, sizeof(path));
  ::close(ends[0]);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return std::string(path, static_cast<size_t>(std::max<ssize_t>(size, 0)));
}

TEST_F(WorkDirectoryTest, IsGoneWithItsRun) {
  {
    const WorkDirectory directory(parent_);
    EXPECT_TRUE(fs::is_directory(directory.path()));
    EXPECT_EQ(directory.path().parent_path(), parent_);
    std::ofstream(directory.path() / "request.json") << "{}";
  }
  EXPECT_EQ(num_entries(), 0u);
}

TEST_F(WorkDirectoryTest, WhatAKilledRunLeftGoesWithTheNext) {
  const fs::path stale = leave_stale(parent_);
  EXPECT_TRUE(fs::exists(stale / "request.json"));
  const WorkDirectory directory(parent_);
  EXPECT_FALSE(fs::exists(stale));
  EXPECT_EQ(num_entries(), 1u);
}

TEST_F(WorkDirectoryTest, ARunBesideThisOneKeepsItsOwn) {
  const WorkDirectory first(parent_);
  const WorkDirectory second(parent_);
  EXPECT_NE(first.path(), second.path());
  EXPECT_TRUE(fs::exists(first.path()));
  EXPECT_TRUE(fs::exists(second.path()));
}

TEST_F(WorkDirectoryTest, OtherFilesAreLeftAlone) {
  fs::create_directories(parent_ / "run-mine");
  fs::create_directories(parent_ / ".run-mine");
  fs::create_directories(parent_ / ".torch-ir-run-of-mine");
  std::ofstream(parent_ / ".run-notes") << "mine";
  const WorkDirectory directory(parent_);
  EXPECT_TRUE(fs::exists(parent_ / "run-mine"));
  EXPECT_TRUE(fs::exists(parent_ / ".run-mine"));
  EXPECT_TRUE(fs::exists(parent_ / ".torch-ir-run-of-mine"));
  EXPECT_TRUE(fs::exists(parent_ / ".run-notes"));
}

TEST_F(WorkDirectoryTest, ADirectoryThatCanNotBeIsAnError) {
  fs::create_directories(parent_.parent_path());
  std::ofstream(parent_) << "a file";
  EXPECT_THAT([&] { WorkDirectory directory(parent_); },
              ThrowsMessage<Error>(HasSubstr("reports': it is a file")));
}

}  // namespace
}  // namespace torch_ir
