// InputLayout: what inputs have to be like for a trace to hold.
#pragma once

#include <ATen/DimVector.h>
#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "torch_ir/executor/graph/program.h"

namespace torch_ir {

// Sizes, strides and dtype of each input, the values of those that are numbers, and the settings
// of LibTorch by which eager chooses kernels.
class InputLayout {
 public:
  // `inputs` fit `program` (run.h's input_values).
  InputLayout(const Program& program, const std::vector<at::Tensor>& inputs);

  bool matches(const std::vector<at::Tensor>& inputs) const;

 private:
  struct Input {
    c10::ScalarType dtype;
    c10::DispatchKeySet keys;
    at::DimVector sizes;
    at::DimVector strides;
    std::optional<c10::IValue> number;
  };
  struct Settings {
    int num_threads;
    bool uses_onednn;
    bool is_deterministic;
    bool operator==(const Settings&) const = default;
  };

  static Settings current_settings();
  static bool matches(const Input& input, const at::Tensor& tensor);

  Settings settings_;
  std::vector<Input> inputs_;
};

}  // namespace torch_ir
