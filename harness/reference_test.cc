// reports/reference is what the harness writes now.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "torch_ir/harness/reference_pages.h"

namespace torch_ir {
namespace {

constexpr const char* kHint =
    "reports/reference is not what the harness writes now; look at the difference, and when it is "
    "right run: bazel run //reports:update";

std::vector<std::string> names(const Files& files) {
  std::vector<std::string> result;
  for (const auto& [name, content] : files) result.push_back(name);
  return result;
}

TEST(ReferencePagesTest, AreWhatTheHarnessWritesNow) {
  const std::string scratch = ::testing::TempDir() + "reference_test";
  std::filesystem::remove_all(scratch);
  const Files actual = make_reference_pages(scratch);
  const Files expected = read_files("reports/reference");
  ASSERT_EQ(names(actual), names(expected)) << kHint;
  for (const auto& [name, content] : expected) {
    if (!same_page(actual.at(name), content)) {
      EXPECT_EQ(actual.at(name), content) << name << ": " << kHint;
    }
  }
}

TEST(ReferencePagesTest, ADifferenceWithinTheToleranceIsAsGoodAsNone) {
  EXPECT_TRUE(same_page("max within tolerance", "max 0"));
  EXPECT_TRUE(same_page("max 0", "max within tolerance"));
  EXPECT_FALSE(same_page("max 0.1", "max within tolerance"));
  EXPECT_FALSE(same_page("nodes 1", "nodes 2"));
}

}  // namespace
}  // namespace torch_ir
