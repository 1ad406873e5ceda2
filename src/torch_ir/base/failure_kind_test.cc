#include "torch_ir/base/failure_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

TEST(FailureKindTest, EachHasANameOfItsOwnThatReadsBackAndOthersAreRefused) {
  std::set<std::string_view> names;
  for (const FailureKind kind : kFailureKinds) {
    EXPECT_TRUE(names.insert(failure_kind_name(kind)).second);
    EXPECT_EQ(parse_failure_kind(failure_kind_name(kind)), kind);
  }
  EXPECT_THAT([] { parse_failure_kind("exploded"); },
              ::testing::ThrowsMessage<Error>(::testing::StartsWith(
                  "unknown failure kind 'exploded'; expected one of: 'extract "
                  "unsupported', 'extract failed', ")));
}

}  // namespace
}  // namespace torch_ir
