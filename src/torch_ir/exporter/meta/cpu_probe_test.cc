#include "torch_ir/exporter/meta/cpu_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

TEST(ZeroMemory, ReadsAsZerosAndIsWritable) {
  c10::Storage storage = zero_storage(10'000);
  const char* bytes = static_cast<const char*>(storage.data());
  EXPECT_EQ(storage.nbytes(), 10'000u);
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(bytes[i], 0);
  static_cast<char*>(storage.mutable_data())[7] = 3;
  EXPECT_EQ(static_cast<const char*>(storage.data())[7], 3);
  EXPECT_EQ(zero_storage(0).nbytes(), 0u);
}

TEST(ZeroMemory, MayBeLargerThanTheMachine) {
  const size_t tebibyte = size_t{1} << 40;
  const c10::Storage storage = zero_storage(tebibyte);
  EXPECT_EQ(static_cast<const char*>(storage.data())[tebibyte - 1], 0);
}

TEST(ZeroMemory, SaysHowMuchItCanNotMap) {
  EXPECT_THAT(
      [] { zero_storage(std::numeric_limits<int64_t>::max()); },
      testing::ThrowsMessage<Error>(testing::StartsWith("cannot map 9223372036854775807 bytes")));
}

}  // namespace
}  // namespace torch_ir
