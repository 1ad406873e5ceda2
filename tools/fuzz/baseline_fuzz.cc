// Any file either has the results of a run, which can be compared with others and written again, or
// gives an error.
#include "harness/results/baseline.h"
#include "harness/results/results_file.h"
#include "tools/fuzz/fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string& path = torch_ir::file_in_memory(torch_ir::input_text(data, size));
  torch_ir::expect_result_or_error([&] {
    const torch_ir::RunRecord run = torch_ir::read_run_record(path);
    const torch_ir::BaselineComparison comparison = torch_ir::compare_with_baseline(run, run);
    torch_ir::results_to_json(run, &comparison);
  });
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  return torch_ir::mutate_input(data, size, max_size, seed, torch_ir::mutate_json);
}
