#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/weights/pt.h"
#include "torch_ir/weights/safetensors.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

// As much of the beginning of a file as tells its format.
std::string read_beginning(const std::string& path) {
  constexpr size_t kEnough = 16;
  try {
    const auto file = MappedFile::open(path);
    return {reinterpret_cast<const char*>(file->data()), std::min(file->size(), kEnough)};
  } catch (const Error& error) {
    throw WeightError(error.what());
  }
}

bool is_zip(std::string_view beginning) { return beginning.starts_with("PK\x03\x04"); }

// A header, JSON, behind its length in eight bytes. A reasonable length has zeros at its end.
bool is_safetensors(std::string_view beginning) {
  constexpr size_t kLengthSize = 8;
  if (beginning.size() < kLengthSize) return false;
  return beginning.substr(5, 3) == std::string_view("\0\0\0", 3) ||
         beginning.substr(kLengthSize).starts_with('{');
}

}  // namespace

StateDict load_weights(const std::string& path) {
  const std::string beginning = read_beginning(path);
  if (is_zip(beginning)) return load_weights_pt(path);
  if (is_safetensors(beginning)) return load_weights_safetensors(path);
  throw WeightError(
      fmt::format("Unknown weight file format: '{}'{}. Supported formats: .safetensors, and .pt as "
                  "torch::save(module) and torch::pickle_save write it",
                  path, beginning.empty() ? ", which is empty" : ""));
}

}  // namespace torch_ir
