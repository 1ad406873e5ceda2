#include <ATen/MemoryOverlap.h>
#include <ATen/ops/empty_strided.h>
#include <fmt/format.h>

#include <string>
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

  const StateDict& weights() const override { return weights_; }

  void observe(const std::vector<at::Tensor>& inputs, const ValueObserver& observer) override {
    const ComputablePart part = computable_part(program_);
    std::vector<bool> left_out;
    if (!part.is_whole()) {
      left_out = part.is_computable;
      left_out.flip();
    }
    run_program(program_, weights_, inputs, observer, left_out);
  }

 protected:
  // Sets the program and the weights. The program is the one of the file: its reference must not
  // depend on how it is written as an IR.
  virtual IR read() = 0;

  const ModelFiles& files() const { return files_; }

  Program program_;
  StateDict weights_;

 private:
  std::vector<at::Tensor> reference(const std::vector<at::Tensor>& inputs) {
    try {
      return run_program(program_, weights_, inputs);
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

  SourceLines source_lines() const override { return source_lines_of(program_); }

 private:
  IR read() override {
    Pt2Model model = read_pt2(files().path);
    program_ = std::move(model.program);
    weights_ = std::move(model.weights);
    IR ir = convert_exported_program(program_);
    move_large_constants(ir, weights_);
    return ir;
  }
};

class GraphCandidate : public ImportedCandidate {
 public:
  using ImportedCandidate::ImportedCandidate;

 private:
  IR read() override {
    return loading([&] {
      IR ir = load_ir(files().path);
      program_ = resolve(ir);
      if (!files().weights.empty()) weights_ = load_weights(files().weights);
      move_large_constants(ir, weights_);
      return ir;
    });
  }
};

}  // namespace

std::unique_ptr<Candidate> make_candidate(const ModelFiles& files, uint64_t seed) {
  if (files.format == FileFormat::kGraph) return std::make_unique<GraphCandidate>(files, seed);
  return std::make_unique<ArchiveCandidate>(files, seed);
}

}  // namespace torch_ir
