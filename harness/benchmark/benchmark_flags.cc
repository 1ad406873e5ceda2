#include "harness/benchmark/benchmark_flags.h"

#include <charconv>
#include <string_view>
#include <system_error>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

constexpr std::string_view kThreads = "--threads";
constexpr int kMostThreads = 1024;

int thread_count(std::string_view text) {
  int count = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  const bool is_count = error == std::errc() && stop == end && count >= 0 && count <= kMostThreads;
  if (is_count) return count;
  throw Error("--threads takes a count up to 1024, or 0 for all cores, and not '" +
              std::string(text) + "'");
}

}  // namespace

BenchmarkFlags parse_benchmark_flags(const std::vector<std::string>& arguments) {
  const std::string with_value = std::string(kThreads) + "=";
  BenchmarkFlags flags;
  flags.rest = {arguments.front(), "--benchmark_repetitions=15",
                "--benchmark_enable_random_interleaving=true", "--benchmark_min_time=0.02"};
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == kThreads) {
      ++i;
      flags.threads = thread_count(i < arguments.size() ? arguments[i] : "");
    } else if (argument.starts_with(with_value)) {
      flags.threads = thread_count(std::string_view(argument).substr(with_value.size()));
    } else {
      flags.rest.push_back(argument);
    }
  }
  return flags;
}

}  // namespace torch_ir
