#include <ATen/MemoryOverlap.h>
#include <ATen/ops/empty_strided.h>
#include <fmt/format.h>

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "harness/stages/candidate.h"
#include "harness/stages/stages.h"
#include "harness/stages/trials.h"
#include "torch_ir/cases/graph_part.h"
#include "torch_ir/converter/converter.h"
#include "torch_ir/exporter/pt2/pt2.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/runtime/execution_plan.h"
#include "torch_ir/runtime/interpreter/node_run.h"
#include "torch_ir/runtime/interpreter/run_program.h"
#include "torch_ir/weights/state_dict.h"
#include "torch_ir/weights/tensor_files.h"

namespace torch_ir {
namespace {

class ImportedCandidate : public Candidate {
 public:
  ImportedCandidate(ModelFiles files, uint64_t seed) : files_(std::move(files)), seed_(seed) {}

  std::vector<std::string> paths() const override {
    return {files_.path, files_.weights, files_.inputs, files_.expected};
  }

  IR extract() override {
    ir_ = read();
    return ir_;
  }

  std::vector<at::Tensor> inputs(int trial) override {
    std::vector<at::Tensor> inputs = loading([&] {
      return files_.inputs.empty() ? example_graph_inputs(files_.path, ir_)
                                   : read_inputs(files_.inputs, ir_);
    });
    for (size_t i = 0; i < inputs.size(); ++i) {
      const TensorMeta& meta = ir_.graph_inputs[i];
      // The graph may be specialized for the number.
      if (meta.is_scalar) continue;
      const at::Tensor values =
          trial_values(trial, {.name = meta.name, .normal = inputs[i]}, seed_, files_.name);
      // The strides stay too, because guards may read them.
      const bool overlaps = at::has_internal_overlap(inputs[i]) == at::MemOverlap::Yes;
      inputs[i] = overlaps
                      ? values
                      : at::empty_strided(values.sizes(), inputs[i].strides(), values.options())
                            .copy_(values);
    }
    return inputs;
  }

  int num_trials(const RunSettings& settings) const override {
    return files_.expected.empty() ? Candidate::num_trials(settings) : 1;
  }

  std::vector<at::Tensor> expected(const std::vector<at::Tensor>& inputs) override {
    if (files_.expected.empty()) return reference(inputs);
    return loading([&] { return read_expected(files_.expected, ir_); });
  }

  bool calls_operators() const override { return files_.expected.empty(); }

 protected:
  virtual IR read() = 0;
  virtual std::vector<at::Tensor> run(const std::vector<at::Tensor>& inputs) = 0;

  const ModelFiles& files() const { return files_; }
  const IR& ir() const { return ir_; }

 private:
  std::vector<at::Tensor> reference(const std::vector<at::Tensor>& inputs) {
    try {
      return run(inputs);
    } catch (const ExecutionError& error) {
      throw ExecutionError(error, fmt::format("the reference failed: {}; --expected gives the "
                                              "outputs where it cannot run",
                                              error.what()));
    }
  }

  const ModelFiles files_;
  const uint64_t seed_;
  IR ir_;
};

class ArchiveCandidate : public ImportedCandidate {
 public:
  using ImportedCandidate::ImportedCandidate;

  const StateDict& weights() const override { return model_.weights; }
  SourceLines source_lines() const override { return source_lines_of(model_.program); }

  void observe(const std::vector<at::Tensor>& inputs, const ValueObserver& observer) override {
    std::unordered_set<std::string> computable;
    for (const OpNode& node : computable_part(ir()).ir.nodes) computable.insert(node.name);
    std::vector<bool> left_out;
    for (const Node& node : model_.program.nodes) left_out.push_back(!computable.contains(node.name));
    run_program(model_.program, model_.weights, inputs, observer, left_out);
  }

 private:
  IR read() override {
    model_ = read_pt2(files().path);
    IR ir = convert_exported_program(model_.program);
    move_large_constants(ir, model_.weights);
    return ir;
  }

  std::vector<at::Tensor> run(const std::vector<at::Tensor>& inputs) override {
    return run_program(model_.program, model_.weights, inputs);
  }

  Pt2Model model_;
};

class GraphCandidate : public ImportedCandidate {
 public:
  using ImportedCandidate::ImportedCandidate;

  const StateDict& weights() const override { return weights_; }

  void observe(const std::vector<at::Tensor>& inputs, const ValueObserver& observer) override {
    const ComputablePart part = computable_part(ir());
    NodeRun run(part.ir, weights_, inputs);
    const auto tell_given = [&](const std::string& name, const at::Tensor& original) {
      const at::Tensor own = run.given(name);
      observer(name, own.defined() ? own : original);
    };
    for (size_t i = 0; i < inputs.size(); ++i) tell_given(ir().graph_inputs[i].name, inputs[i]);
    for (const auto& item : ir().weight_name_mapping) {
      tell_given(item.key(), weight(item.key(), item.value()));
    }
    for (const OpNode& node : part.ir.nodes) {
      for (const TensorMeta& output : node.outputs) observer(output.name, run.value(output.name));
    }
  }

 private:
  IR read() override {
    return loading([&] {
      IR ir = load_ir(files().path);
      validate_ir(ir);
      if (!files().weights.empty()) weights_ = load_weights(files().weights);
      move_large_constants(ir, weights_);
      return ir;
    });
  }

  // Without a trace every node calls its operator through the dispatcher.
  std::vector<at::Tensor> run(const std::vector<at::Tensor>& inputs) override {
    ExecutionOptions options;
    options.trace = false;
    return compile(ir(), weights_, StateDict(), options).run(inputs);
  }

  at::Tensor weight(const std::string& placeholder, const std::string& name) const {
    for (const StateDict* tensors : {&weights_, &ir().constants}) {
      for (const std::string* key : {&name, &placeholder}) {
        if (const at::Tensor* tensor = tensors->find(*key)) return *tensor;
      }
    }
    return {};
  }

  StateDict weights_;
};

}  // namespace

std::unique_ptr<Candidate> make_candidate(const ModelFiles& files, uint64_t seed) {
  if (files.format == FileFormat::kGraph) return std::make_unique<GraphCandidate>(files, seed);
  return std::make_unique<ArchiveCandidate>(files, seed);
}

}  // namespace torch_ir
