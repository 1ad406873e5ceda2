// Any bytes are a state dict whose tensors can be read to their last byte, or give an error.
#include <vector>

#include "tools/fuzz/fuzzing.h"
#include "tools/fuzz/read_all.h"
#include "torch_ir/weights/torch_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  torch_ir::expect_result_or_error([&] {
    // Its own memory, so that a read past the end is noticed.
    const auto bytes = std::make_shared<std::vector<uint8_t>>(data, data + size);
    torch_ir::ByteRange range{reinterpret_cast<std::byte*>(bytes->data()), size, bytes};
    const torch_ir::PickleDocument document =
        torch_ir::load_torch_file(range, "fuzz.pt", torch_ir::ForeignNames::kKept);
    torch_ir::read_all(torch_ir::find_state_dict(*document));
  });
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  return torch_ir::mutate_input(data, size, max_size, seed, torch_ir::mutate_zip);
}
