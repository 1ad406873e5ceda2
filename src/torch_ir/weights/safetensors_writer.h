// SafetensorsWriter: writes tensors to a safetensors file one at a time, so that none stays in
// memory.
//
// The header comes first in such a file and needs all of them, so their bytes first go to
// "PATH.part"; commit() makes of them the file that save_weights_safetensors would write. Without
// commit(), or without tensors, nothing is left.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

namespace torch_ir {

class SafetensorsWriter {
 public:
  explicit SafetensorsWriter(const std::string& path);
  ~SafetensorsWriter();

  // Each name may be added once. Throws as save_weights_safetensors.
  void add(const std::string& name, const at::Tensor& tensor);
  void commit();

 private:
  struct Part;
  std::unique_ptr<Part> part_;
};

}  // namespace torch_ir
