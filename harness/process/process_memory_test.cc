#include "harness/process/process_memory.h"

#include <gmock/gmock.h>
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

}  // namespace
}  // namespace torch_ir
