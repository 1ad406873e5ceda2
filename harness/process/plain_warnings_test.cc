#include "harness/process/plain_warnings.h"

#include <gtest/gtest.h>

namespace torch_ir {
namespace {

TEST(PlainWarningsTest, AWarningIsWrittenWithoutAClock) {
  PlainWarnings warnings;
  const c10::WarningUtils::WarningHandlerGuard guard(&warnings);
  testing::internal::CaptureStderr();
  TORCH_WARN("the mask of layer ", 2, " is empty");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "warning: the mask of layer 2 is empty\n");
}

}  // namespace
}  // namespace torch_ir
