#include "harness/benchmark/benchmark_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(BenchmarkFlags, AreOneThreadAndInterleavedRoundsByDefault) {
  const BenchmarkFlags flags = parse_benchmark_flags({"benchmark"});
  EXPECT_EQ(flags.threads, 1);
  EXPECT_THAT(flags.rest, ElementsAre("benchmark", "--benchmark_repetitions=15",
                                      "--benchmark_enable_random_interleaving=true",
                                      "--benchmark_min_time=0.02"));
}

TEST(BenchmarkFlags, AreTakenInEitherFormAndOthersLeftToGoogleBenchmark) {
  const BenchmarkFlags flags =
      parse_benchmark_flags({"benchmark", "--benchmark_repetitions=3", "--threads=2", "--pt2", "a",
                             "--unknown", "--threads", "0", "--pt2=b=c"});
  EXPECT_EQ(flags.threads, 0);
  EXPECT_THAT(flags.archives, ElementsAre("a", "b=c"));
  ASSERT_EQ(flags.rest.size(), 6u);
  EXPECT_EQ(flags.rest[4], "--benchmark_repetitions=3");
  EXPECT_EQ(flags.rest[5], "--unknown");
}

TEST(BenchmarkFlags, RefuseWhatIsNoCountAndAFlagWithoutItsValue) {
  const auto refuse = [](const std::string& flag, const std::string& message) {
    EXPECT_THAT([&] { parse_benchmark_flags({"benchmark", flag}); },
                ::testing::ThrowsMessage<Error>(HasSubstr(message)));
  };
  refuse("--threads=-1", "--threads: Value -1 not in range");
  refuse("--threads=5000", "Value 5000 not in range");
  refuse("--threads=2x", "2x");
  refuse("--threads", "--threads: 1 required");
  refuse("--pt2", "--pt2: 1 required");
}

}  // namespace
}  // namespace torch_ir
