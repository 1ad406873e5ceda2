#include "harness/process/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace torch_ir {
namespace {

TEST(ProcessMemoryTest, CountsWhatThisGroupTouches) {
  constexpr size_t kSize = size_t{64} << 20;
  const int64_t before = resident_bytes()[::getpgrp()];
  EXPECT_GT(before, 0);
  void* memory = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 1, kSize);
  const int64_t touched = resident_bytes()[::getpgrp()];
  ::munmap(memory, kSize);
  EXPECT_GT(touched - before, static_cast<int64_t>(kSize / 2));
}

TEST(PlainWarningsTest, AWarningIsWrittenWithoutAClock) {
  PlainWarnings warnings;
  const c10::WarningUtils::WarningHandlerGuard guard(&warnings);
  testing::internal::CaptureStderr();
  TORCH_WARN("the mask of layer ", 2, " is empty");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "warning: the mask of layer 2 is empty\n");
}

}  // namespace
}  // namespace torch_ir
