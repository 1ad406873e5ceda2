#include "torch_ir/base/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>
#include <sstream>

namespace torch_ir {
namespace {

// A pseudo-terminal of 100 columns.
class TerminalTest : public ::testing::Test {
 protected:
  TerminalTest() : descriptor_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    ::grantpt(descriptor_);
    ::unlockpt(descriptor_);
    other_end_ = ::open(::ptsname(descriptor_), O_RDWR | O_NOCTTY);
    const winsize size{.ws_row = 30, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
    ::ioctl(other_end_, TIOCSWINSZ, &size);
    ::setenv("TERM", "xterm", 1);
    ::unsetenv("NO_COLOR");
  }
  ~TerminalTest() override {
    ::close(other_end_);
    ::close(descriptor_);
  }

  int descriptor_;
  int other_end_;
};

TEST_F(TerminalTest, HasAWidthAndColoursUnlessTheEnvironmentSaysOtherwise) {
  const Terminal terminal = terminal_of(other_end_);
  EXPECT_TRUE(terminal.is_terminal);
  EXPECT_TRUE(terminal.has_colours);
  EXPECT_EQ(terminal.width, 100);
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(terminal_of(other_end_).has_colours);
  EXPECT_TRUE(terminal_of(other_end_).is_terminal);
  ::setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(terminal_of(other_end_).has_colours);
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(terminal_of(other_end_).is_terminal);
  EXPECT_FALSE(terminal_of(other_end_).has_colours);
}

TEST_F(TerminalTest, AFileIsNone) {
  const int file = ::open("/dev/null", O_WRONLY);
  const Terminal terminal = terminal_of(file);
  ::close(file);
  EXPECT_FALSE(terminal.is_terminal);
  EXPECT_FALSE(terminal.has_colours);
  EXPECT_EQ(terminal.width, 80);
}

// Redirects the standard output to `descriptor`, which it owns, while it lives.
class StandardOutput {
 public:
  explicit StandardOutput(int descriptor) : saved_(::dup(STDOUT_FILENO)) {
    ::fflush(stdout);
    ::dup2(descriptor, STDOUT_FILENO);
    ::close(descriptor);
  }
  ~StandardOutput() {
    std::cout.clear();
    ::dup2(saved_, STDOUT_FILENO);
    ::close(saved_);
  }

 private:
  const int saved_;
};

// The write end of a pipe whose read end is closed.
int closed_pipe() {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  return ends[1];
}

TEST(FinishOutputTest, AReaderThatLeftIsNoError) {
  const auto handler = ::signal(SIGPIPE, SIG_IGN);
  std::ostringstream err;
  {
    const StandardOutput output(closed_pipe());
    std::cout << "line\n" << std::flush << "more\n";
    EXPECT_FALSE(std::cout.good());
    EXPECT_TRUE(finish_output(std::cout, err, "tool"));
  }
  EXPECT_EQ(err.str(), "");
  ::signal(SIGPIPE, handler);
}

TEST(FinishOutputTest, AFullDiskIsOne) {
  const int full = ::open("/dev/full", O_WRONLY);
  if (full < 0) GTEST_SKIP() << "this system has no /dev/full";
  std::ostringstream err;
  {
    const StandardOutput output(full);
    std::cout << "line\n";
    EXPECT_FALSE(finish_output(std::cout, err, "tool"));
  }
  EXPECT_EQ(err.str(), "tool: cannot write to the standard output\n");
}

}  // namespace
}  // namespace torch_ir
