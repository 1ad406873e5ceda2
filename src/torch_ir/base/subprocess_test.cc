#include "torch_ir/base/subprocess.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace torch_ir {
namespace {

std::string end_of(const std::string& line, bool is_apart = false) {
  int reason = 0;
  const pid_t process =
      spawn({"sh", "-c", line},
            {.output = STDOUT_FILENO, .error = STDERR_FILENO, .is_apart = is_apart}, reason);
  EXPECT_EQ(reason, 0);
  return describe_wait_status(wait_for_process(process));
}

TEST(SubprocessTest, EndsAreDescribedAndThereIsNoInput) {
  EXPECT_EQ(end_of("exit 0"), "exited with status 0");
  EXPECT_EQ(end_of("exit 3"), "exited with status 3");
  EXPECT_EQ(end_of("kill -9 $$"), "was killed by signal 9 (Killed)");
  EXPECT_EQ(end_of("if read line; then exit 1; fi"), "exited with status 0");
  int reason = 0;
  spawn({"no_such_program"}, {.output = STDOUT_FILENO, .error = STDERR_FILENO}, reason);
  EXPECT_EQ(reason, ENOENT);
}

TEST(SubprocessTest, OneApartGetsTheSignalsThatThisProcessIgnores) {
  const auto previous = std::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(end_of("kill -PIPE $$"), "exited with status 0");
  EXPECT_EQ(end_of("kill -PIPE $$", /*is_apart=*/true), "was killed by signal 13 (Broken pipe)");
  std::signal(SIGPIPE, previous);
}

}  // namespace
}  // namespace torch_ir
