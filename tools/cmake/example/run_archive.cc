// A program that runs an archive of torch.export.save on inputs of a file:
//
//   run_archive MODEL.pt2 INPUTS.safetensors
#include <iostream>
#include <vector>

#include "torch_ir/torch_ir.h"

int main(int, char** argv) {
  const torch_ir::Pt2Model archive = torch_ir::read_pt2(argv[1]);
  const torch_ir::IR ir = torch_ir::convert_exported_program(archive.program);
  const torch_ir::ExecutionPlan plan = torch_ir::compile(ir, archive.weights);

  const torch_ir::StateDict values = torch_ir::load_weights_safetensors(argv[2]);
  std::vector<at::Tensor> inputs;
  for (const torch_ir::TensorMeta& input : ir.graph_inputs) inputs.push_back(values[input.name]);
  const std::vector<at::Tensor> outputs = plan.run(inputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::cout << ir.graph_outputs[i].name << ": " << outputs[i].sizes() << '\n';
  }
}
