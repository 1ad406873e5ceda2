#include "torch_ir/exporter/pt2/graph_inputs.h"

#include <optional>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/exporter/pt2/pt2.h"

namespace torch_ir {
namespace {

constexpr const char* kInputAdvice = "give inputs with --inputs FILE.safetensors";

StateDict read_examples(const std::string& path) {
  std::optional<StateDict> examples;
  try {
    examples = read_pt2_example_inputs(path);
  } catch (const Error& error) {
    throw Error(std::string(error.what()) + "; " + kInputAdvice);
  }
  if (!examples) throw Error(path + ": the archive has no example inputs; " + kInputAdvice);
  return *std::move(examples);
}

}  // namespace

std::vector<at::Tensor> example_graph_inputs(const std::string& path, const IR& ir) {
  const StateDict examples = read_examples(path);
  std::vector<at::Tensor> tensors;
  for (const TensorMeta& input : ir.graph_inputs) {
    const at::Tensor* tensor = examples.find(input.name);
    if (tensor == nullptr) {
      throw Error(path + ": the archive has no example for the input '" + printable(input.name) +
                  "'; " + kInputAdvice);
    }
    tensors.push_back(*tensor);
  }
  return tensors;
}

}  // namespace torch_ir
