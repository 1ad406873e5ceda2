#include "harness/results/run_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/version.h>

namespace torch_ir {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kConfig =
    "PyTorch built with:\n"
    "  - GCC 13.3\n"
    "  - Build settings: BLAS_INFO=mkl, CXX_FLAGS= -O2 -DUSE_MKL=1, USE_MKL=ON, \n";

TEST(EnvironmentTest, FindsSettingsOfTheBuild) {
  EXPECT_EQ(build_setting(kConfig, "BLAS_INFO"), "mkl");
  EXPECT_EQ(build_setting(kConfig, "USE_MKL"), "ON");
  EXPECT_EQ(build_setting(kConfig, "INFO"), "");
  EXPECT_EQ(build_setting(kConfig, "LAPACK_INFO"), "");
}

using Item = Environment::value_type;

TEST(EnvironmentTest, TellsTheVersionFirst) {
  const Environment all = environment();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0], Item("libtorch", TORCH_VERSION));
  EXPECT_THAT(all, ::testing::Contains(Field(&Item::first, "cpu_capability")));
  EXPECT_THAT(all, Each(Field(&Item::second, AllOf(Not(""), Not(HasSubstr("\n"))))));
}

TEST(ShownEnvironmentTest, APortableRunDoesNotNameItsLibTorch) {
  RunContext context;
  context.environment = {{"libtorch", "2.13.0"}, {"blas", "mkl"}};
  EXPECT_EQ(shown_environment(context), context.environment);
  context.portable = true;
  EXPECT_THAT(shown_environment(context),
              ::testing::ElementsAre(::testing::Pair("libtorch", "<version>")));
}

}  // namespace
}  // namespace torch_ir
