// A program that uses an installed torch-ir: extracts a module, runs its graph, and compares.
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

#include <iostream>

#include "torch_ir/torch_ir.h"

int main(int, char** argv) {
  torch::nn::Sequential model(torch::nn::Linear(8, 4), torch::nn::ReLU(), torch::nn::Linear(4, 2));
  model->eval();
  const std::vector<at::Tensor> inputs = {at::ones({1, 8})};

  const torch_ir::IR ir = torch_ir::extract_ir(model, inputs, {.model_name = "Example"});
  ir.save(argv[1]);
  const auto [is_valid, report] = torch_ir::verify_ir_with_state_dict(
      ir, torch_ir::state_dict(*model), torch_ir::Model(model).forward(), inputs);
  std::cout << ir << '\n' << report;
  return is_valid ? 0 : 1;
}
