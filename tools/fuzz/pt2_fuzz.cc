// Any file is a program with its weights, or gives an error.
#include "tools/fuzz/fuzzing.h"
#include "torch_ir/exporter/pt2/pt2.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string& path = torch_ir::file_in_memory(torch_ir::input_text(data, size));
  torch_ir::expect_result_or_error([&] { torch_ir::read_pt2(path); });
  torch_ir::expect_result_or_error([&] { torch_ir::read_pt2_example_inputs(path); });
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  return torch_ir::mutate_input(data, size, max_size, seed, torch_ir::mutate_zip);
}
