// CapturedModel: a model as the Recorder saw it run once.
//
// What export_model takes the program of, and observe.h the calls.
#pragma once

#include <string>
#include <vector>

#include "torch_ir/exporter/capture/capture.h"
#include "torch_ir/exporter/capture/recorder.h"
#include "torch_ir/operators/dispatch_mode.h"

namespace torch_ir {

struct CapturedModel {
  // Without model_name and torch_version.
  ExportedProgram program;
  // By ValueId; empty for values that no node of the program makes.
  std::vector<std::string> value_names;
  std::vector<RecordedCall> calls;
};

// As export_model, which is for the options' `strict`.
CapturedModel capture_model(const Model& model, const std::vector<at::Tensor>& inputs,
                            const ExportOptions& options);

// The tensors that a model runs on: apart from each other, so that each is its own value, and apart
// from the caller's, so that a model that writes to its inputs does not change those.
std::vector<at::Tensor> own_inputs(const std::vector<at::Tensor>& inputs);

// Runs `model` on `inputs`, its calls by way of `mode`. Throws ExportError for what it throws.
std::vector<at::Tensor> run_in_mode(const Model& model, const std::vector<at::Tensor>& inputs,
                                    DispatchMode& mode);

}  // namespace torch_ir
