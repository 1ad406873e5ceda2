#include "harness/process/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "harness/process/worker.h"

namespace torch_ir {
namespace {

// Memory counts for processes that a child started, but not for the child.
TEST(ProcessMemoryTest, CountsWhatAChildHasStarted) {
  constexpr size_t kSize = size_t{64} << 20;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::fork() != 0) {
      for (;;) ::pause();
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setsid();
    void* memory =
        ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memset(memory, 1, kSize);
    if (::write(ends[1], "", 1) < 0) ::_exit(1);
    for (;;) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  std::map<pid_t, int64_t> bytes = resident_bytes();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(bytes.size(), 1u);
  EXPECT_GT(bytes[child], static_cast<int64_t>(kSize));
  EXPECT_TRUE(resident_bytes().empty());
}

TEST(PlainWarningsTest, AWarningIsWrittenOnceWithoutAClock) {
  PlainWarnings warnings;
  const c10::WarningUtils::WarningHandlerGuard guard(&warnings);
  testing::internal::CaptureStderr();
  for (int run = 0; run < 2; ++run) TORCH_WARN("the mask of layer ", 2, " is empty");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "warning: the mask of layer 2 is empty\n");
}

}  // namespace
}  // namespace torch_ir
