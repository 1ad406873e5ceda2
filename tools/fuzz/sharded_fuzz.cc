// Any index is a state dict from files in its folder, or gives an error; nothing outside is read.
#include <ATen/ops/ones.h>

#include <cstdlib>
#include <filesystem>

#include "tools/fuzz/fuzzing.h"
#include "tools/fuzz/read_all.h"
#include "torch_ir/weights/safetensors.h"
#include "torch_ir/weights/state_dict.h"

namespace {

using torch_ir::StateDict;

constexpr const char* kSecret = "secret";

// Two files of weights, and one that the index cannot name.
std::string make_folder() {
  const std::string& outside = torch_ir::scratch_folder();
  const std::string folder = outside + "/model/";
  std::filesystem::create_directories(folder + "sub");
  StateDict tensors;
  tensors.insert("a", at::ones({2, 3}));
  tensors.insert("c", at::ones({1}));
  torch_ir::save_weights_safetensors(tensors, folder + "one.safetensors");
  tensors.insert("b", at::ones({4}));
  torch_ir::save_weights_safetensors(tensors, folder + "sub/two.safetensors");
  tensors.insert(kSecret, at::ones({1}));
  torch_ir::save_weights_safetensors(tensors, outside + "/x");
  return folder;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto& index = *new std::string(make_folder() + "two.index.json");
  torch_ir::overwrite_file(index, torch_ir::input_text(data, size));
  torch_ir::expect_result_or_error([&] {
    const StateDict tensors = torch_ir::load_weights(index);
    torch_ir::read_all(tensors);
    if (tensors.contains(kSecret)) torch_ir::fail_input("a file outside the folder was read");
  });
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  return torch_ir::mutate_input(data, size, max_size, seed, torch_ir::mutate_json);
}
