// Any text is a list of expected failures, or gives an error.
#include "harness/run/expected_failures.h"
#include "harness/run/pattern_lines.h"
#include "tools/fuzz/fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  torch_ir::expect_result_or_error([&] {
    const auto failures =
        torch_ir::parse_expected_failures(torch_ir::input_text(data, size), "list");
    // What was read can be written and read again.
    torch_ir::parse_expected_failures(torch_ir::to_text(failures), "list");
    torch_ir::check_spelling(failures.entries, "list", {"TiedDecoder", "tiny_llama", "a:b"});
  });
  return 0;
}
