#include "harness/stages/stages.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <torch/nn/module.h>

#include <utility>

#include "harness/stages/failure.h"
#include "harness/stages/seeded_values.h"
#include "torch_ir/base/error.h"
#include "torch_ir/converter/extract.h"
#include "torch_ir/executor/device.h"
#include "torch_ir/executor/execution_plan.h"
#include "torch_ir/exporter/capture/lifted_constants.h"
#include "torch_ir/exporter/meta/meta_device.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/validate.h"
#include "torch_ir/weights/safetensors.h"
#include "torch_ir/weights/state_dict.h"

namespace torch_ir {
namespace {

Model make_for_inference(const RegisteredModel& registered) {
  Model model = registered.make();
  if (model.module()) model.module()->eval();
  return model;
}

StateDict by_name(const std::vector<TensorMeta>& names, const std::vector<at::Tensor>& tensors) {
  StateDict result;
  for (size_t i = 0; i < names.size(); ++i) {
    const bool is_new = tensors.at(i).defined() && !result.contains(names[i].name);
    if (is_new) result.insert(names[i].name, tensors[i]);
  }
  return result;
}

}  // namespace

void write_output(const std::function<void()>& write) {
  try {
    write();
  } catch (const SerializationError&) {
    throw;
  } catch (const WeightError&) {
    throw;
  } catch (const Error& error) {
    throw OutputError(error.what());
  }
}

Subject make_subject(const RegisteredModel& model, uint64_t seed) {
  Subject subject{.model = make_for_inference(model), .weights = StateDict(), .inputs = {}};
  const SeededValues values(seed, model.name);
  subject.inputs = values.inputs(model.spec);
  if (torch::nn::Module* module = subject.model.module().get()) {
    values.fill(*module);
    subject.weights = state_dict(*module);
  }
  return subject;
}

IR extract(const RegisteredModel& model, const Subject& subject) {
  const MetaDeviceGuard meta;
  ExtractOptions options{.model_name = model.name, .input_names = {}, .strict = true};
  std::vector<at::Tensor> inputs;
  for (const ModelInput& input : model.spec.inputs) {
    options.input_names.push_back(input.name);
    inputs.push_back(at::empty(input.shape, at::device(at::kMeta).dtype(input.dtype)));
  }
  IR ir = extract_ir(make_for_inference(model), inputs, options);
  if (const auto& module = subject.model.module()) {
    for (const auto& constant : lifted_constants(*module)) {
      ir.constants.insert(constant.key(), constant.value());
    }
  }
  return ir;
}

IR serialize(const IR& ir, const std::string& path) {
  write_output([&] { save_ir(ir, path); });
  IR read = load_ir(path);
  if (!(read == ir)) {
    throw SerializeMismatch(path + " is not the IR that was written: reading it gives another one");
  }
  validate_ir(read);
  return read;
}

std::vector<at::Tensor> execute(const IR& ir, const StateDict& weights,
                                const std::vector<at::Tensor>& inputs,
                                const ExecutionOptions& options) {
  return compile(ir, weights, StateDict(), options).run_checked(to_device(inputs, options.device));
}

std::vector<at::Tensor> run_eagerly(const Model& model, const std::vector<at::Tensor>& inputs) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> copies;
  // Copies, because a model may write to its inputs.
  for (const at::Tensor& input : inputs) copies.push_back(input.clone());
  return model(copies);
}

void save_tensors(const IR& ir, const StateDict& weights, const std::vector<at::Tensor>& inputs,
                  const std::vector<at::Tensor>& expected, const std::string& directory) {
  const auto save = [&](const char* name, const StateDict& tensors) {
    write_output([&] { save_weights_safetensors(tensors, directory + "/" + name); });
  };
  save("weights.safetensors", weights);
  save("inputs.safetensors", by_name(ir.graph_inputs, inputs));
  save("expected.safetensors", by_name(ir.graph_outputs, expected));
}

}  // namespace torch_ir
