// Any file has tensors that can be read to their last byte, or gives an error.
#include "tools/fuzz/fuzzing.h"
#include "tools/fuzz/read_all.h"
#include "torch_ir/weights/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string& path = torch_ir::file_in_memory(torch_ir::input_text(data, size));
  torch_ir::expect_result_or_error(
      [&] { torch_ir::read_all(torch_ir::load_weights_safetensors(path)); });
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  return torch_ir::mutate_input(data, size, max_size, seed, torch_ir::mutate_safetensors);
}
