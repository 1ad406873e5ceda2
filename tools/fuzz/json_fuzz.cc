// Any text is an IR, or gives an error; an IR stays the same when it is written and read back.
#include "tools/fuzz/fuzzing.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/resolve.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  torch_ir::expect_result_or_error([&] {
    const torch_ir::IR ir = torch_ir::deserialize_ir(torch_ir::input_text(data, size));
    torch_ir::find_problems(ir);
    // Takes as long as everything else.
    if (size % 8 != 0) return;
    const std::string text = torch_ir::serialize_ir(ir);
    if (!(torch_ir::deserialize_ir(text) == ir)) torch_ir::fail_input("written as another IR");
  });
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  return torch_ir::mutate_input(data, size, max_size, seed, torch_ir::mutate_json);
}
