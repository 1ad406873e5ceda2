// ObservedModel: the values of a model's graph, told while the model itself computes them.
//
// What graphs that run elsewhere are compared with, node by node. The model runs once to find out
// which of its calls makes which value, and then as often as wanted; nothing is kept but names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "torch_ir/exporter/capture/model.h"
#include "torch_ir/ir/ir.h"

namespace torch_ir {

struct CapturedModel;

class ObservedModel {
 public:
  // Runs `model` on `inputs`, which are real and not changed; its weights are, where it writes to
  // them. Random numbers that it draws are drawn again after. `input_names` are those that `graph`,
  // the model's, was captured with. Throws ExportError, naming node and operator, when the model
  // does not call what the graph says.
  ObservedModel(const Model& model, const std::vector<at::Tensor>& inputs,
                const std::vector<std::string>& input_names, const Graph& graph);

  // Runs the model again, or one that was made alike, on inputs of the same shapes, and tells
  // weights and inputs, then what each call makes as soon as it has returned; constants when they
  // are first used. Throws ExportError when the model calls something else than before, and what
  // `observer` throws.
  void run(const Model& model, const std::vector<at::Tensor>& inputs,
           const ValueObserver& observer) const;

 private:
  void tell_inputs(const Model& model, const std::vector<at::Tensor>& inputs,
                   const ValueObserver& observer) const;

  std::shared_ptr<const CapturedModel> captured_;
};

}  // namespace torch_ir
