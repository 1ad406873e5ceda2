#include "torch_ir/base/finish_output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

namespace torch_ir {
namespace {

// The standard output leads to `descriptor`, which is taken over, for as long as one lives.
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

// The end to write to of a pipe whose other end is closed.
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

TEST(FinishOutputTest, AFileThatFailsIsOne) {
  std::ofstream nowhere("/nonexistent/file");
  std::ostringstream err;
  EXPECT_FALSE(finish_output(nowhere, err, "tool"));
  EXPECT_EQ(err.str(), "tool: cannot write to the standard output\n");
}

TEST(FinishOutputTest, WhatIsWrittenIsFlushed) {
  std::ostringstream out;
  std::ostringstream err;
  out << "line\n";
  EXPECT_TRUE(finish_output(out, err, "tool"));
  EXPECT_EQ(err.str(), "");
}

}  // namespace
}  // namespace torch_ir
