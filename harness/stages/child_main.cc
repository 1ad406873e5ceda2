#include "harness/stages/child_main.h"

#include <sys/wait.h>
#include <sysexits.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string_view>

#include "harness/process/child_process.h"
#include "harness/process/keeper.h"
#include "harness/stages/stages.h"

namespace torch_ir {
namespace {

// How a child says that it can not write its files: with this status, and this in front of the last
// line that it prints. A model may exit as it likes.
constexpr int kOutputErrorStatus = EX_IOERR;
constexpr std::string_view kOutputErrorMark = "torch-ir: output error: ";

}  // namespace

int child_main(const std::function<void()>& run) {
  PlainWarnings warnings;
  const c10::WarningUtils::WarningHandlerGuard guard(&warnings);
  try {
    continue_under_keeper();
    run();
    return 0;
  } catch (const OutputError& error) {
    // The last line is the parent's to read.
    std::fprintf(stderr, "\n%s%s", std::string(kOutputErrorMark).c_str(), error.what());
    return kOutputErrorStatus;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EX_SOFTWARE;
  }
}

void rethrow_output_error(int wait_status, const std::string& output) {
  const std::string last_line = output.substr(output.rfind('\n') + 1);
  if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == kOutputErrorStatus &&
      last_line.starts_with(kOutputErrorMark)) {
    throw OutputError(last_line.substr(kOutputErrorMark.size()));
  }
}

FailureKind kind_of_crash(const std::string& output) {
  // What a program says that nobody told what to do without memory.
  const bool is_out_of_memory = output.find("std::bad_alloc") != std::string::npos;
  return is_out_of_memory ? FailureKind::kOutOfMemory : FailureKind::kCrashed;
}

}  // namespace torch_ir
