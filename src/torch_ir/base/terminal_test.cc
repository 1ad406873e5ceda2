#include "torch_ir/base/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace torch_ir {
namespace {

// A terminal of 100 columns that nobody sits at.
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

TEST_F(TerminalTest, HasColoursAndAWidth) {
  const Terminal terminal = terminal_of(other_end_);
  EXPECT_TRUE(terminal.is_terminal);
  EXPECT_TRUE(terminal.has_colours);
  EXPECT_EQ(terminal.width, 100);
}

TEST_F(TerminalTest, NoColorLeavesTheRest) {
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(terminal_of(other_end_).has_colours);
  EXPECT_TRUE(terminal_of(other_end_).is_terminal);
  ::setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(terminal_of(other_end_).has_colours);
}

TEST_F(TerminalTest, ADumbOneUnderstandsNoEscapes) {
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

}  // namespace
}  // namespace torch_ir
