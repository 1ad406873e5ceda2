#include <ATen/Context.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/ops/empty_strided.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/stages/candidate.h"
#include "harness/stages/size_trials.h"
#include "harness/stages/stages.h"
#include "harness/stages/trials.h"
#include "torch_ir/cases/graph_part.h"
#include "torch_ir/converter/converter.h"
#include "torch_ir/exporter/pt2/pt2.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/runtime/interpreter/node_run.h"
#include "torch_ir/weights/graph_names.h"
#include "torch_ir/weights/state_dict.h"
#include "torch_ir/weights/tensor_files.h"

namespace torch_ir {
namespace {

class ImportedCandidate : public Candidate {
 public:
  ImportedCandidate(const ModelFiles& files, uint64_t seed)
      : Candidate({.calls_operators = files.expected.empty()}), files_(files), seed_(seed) {}

  std::vector<std::string> paths() const override {
    return {files_.path, files_.weights, files_.inputs, files_.expected};
  }

  IR extract() override {
    ir_ = read();
    return ir_;
  }

  // The normal values come first, then other sizes, then other values.
  std::vector<at::Tensor> inputs(int trial) override {
    std::vector<at::Tensor> inputs = example();
    if (trial > 0) {
      const std::vector<SizeTrial>& sizes = other_sizes();
      const auto num_sizes = static_cast<int>(sizes.size());
      if (trial <= num_sizes) return sizes[static_cast<size_t>(trial) - 1].inputs;
      trial -= num_sizes;
    }
    const std::vector<ValueId> ids = case_.program->user_inputs();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Value& input = (*case_.program)[ids[i]];
      // The graph may be specialized for the number.
      if (input.is_scalar) continue;
      const at::Tensor values =
          trial_values(trial, {.name = input.name, .normal = inputs[i]}, seed_, files_.name);
      // The strides stay too, because guards may read them.
      const bool overlaps = at::has_internal_overlap(inputs[i]) == at::MemOverlap::Yes;
      inputs[i] = overlaps
                      ? values
                      : at::empty_strided(values.sizes(), inputs[i].strides(), values.options())
                            .copy_(values);
    }
    return inputs;
  }

  // The file of expected outputs is for the normal values.
  int num_trials(const RunSettings& settings) override {
    if (settings.trials == 1) return 1;
    const int num_values = files_.expected.empty() ? Candidate::num_trials(settings) : 1;
    return num_values + static_cast<int>(other_sizes().size());
  }

  std::string trial_name(int trial) const override {
    const auto num_sizes = sizes_ ? static_cast<int>(sizes_->size()) : 0;
    if (trial == 0 || trial > num_sizes)
      return Candidate::trial_name(std::max(0, trial - num_sizes));
    return sizes_->at(static_cast<size_t>(trial) - 1).name;
  }

  std::vector<at::Tensor> expected(const std::vector<at::Tensor>& inputs) override {
    if (files_.expected.empty() || has_other_sizes(inputs)) return reference(inputs);
    return loading([&] { return read_expected(files_.expected, ir_); });
  }

  const StateDict& weights() const override { return case_.weights; }

  void observe(const std::vector<at::Tensor>& inputs, const ValueObserver& observer,
               const std::function<bool()>& is_enough) override {
    const ComputablePart part = computable_part(*case_.program);
    std::vector<bool> left_out;
    if (!part.is_whole()) {
      left_out = part.is_computable;
      left_out.flip();
    }
    run_program(on(inputs), observer, is_enough, left_out);
  }

 protected:
  // Sets the case. The program is the one of the file: its reference must not depend on how it is
  // written as an IR.
  virtual IR read() = 0;

  const ModelFiles& files() const { return files_; }

  // Without inputs and outputs.
  Case case_;
  Pt2Examples examples_;

 private:
  Case on(const std::vector<at::Tensor>& inputs) const {
    Case result = case_;
    result.inputs = inputs;
    return result;
  }

  std::vector<at::Tensor> example() const {
    return loading([&] {
      return files_.inputs.empty() ? examples_.for_graph(*case_.program)
                                   : read_inputs(files_.inputs, ir_);
    });
  }

  // Those at which the model itself runs on the values of the example.
  const std::vector<SizeTrial>& other_sizes() {
    if (sizes_) return *sizes_;
    sizes_.emplace();
    const Program& program = *case_.program;
    const auto is_dynamic_input = [&](ValueId id) { return is_dynamic(program[id]); };
    if (!std::ranges::any_of(program.user_inputs(), is_dynamic_input)) return *sizes_;
    for (SizeTrial& trial : size_trials(program, example())) {
      try {
        at::manual_seed(seed_);
        run_program(on(trial.inputs));
        sizes_->push_back(std::move(trial));
      } catch (const Error& error) {
        TORCH_WARN("Not tried with ", trial.name, ", where the model fails: ", error.what());
      }
    }
    return *sizes_;
  }

  bool has_other_sizes(const std::vector<at::Tensor>& inputs) const {
    if (!sizes_) return false;
    return std::ranges::any_of(*sizes_, [&](const SizeTrial& trial) {
      return std::ranges::equal(trial.inputs, inputs, [](const auto& a, const auto& b) {
        return a.sizes() == b.sizes();
      });
    });
  }

  std::vector<at::Tensor> reference(const std::vector<at::Tensor>& inputs) {
    try {
      return run_program(on(inputs));
    } catch (const ExecutionError& error) {
      throw ExecutionError(error, fmt::format("the reference failed: {}; --expected gives the "
                                              "outputs where it cannot run",
                                              error.what()));
    }
  }

  const ModelFiles files_;
  const uint64_t seed_;
  IR ir_;
  std::optional<std::vector<SizeTrial>> sizes_;
};

class ArchiveCandidate : public ImportedCandidate {
 public:
  using ImportedCandidate::ImportedCandidate;

  SourceLines source_lines() const override { return source_lines_of(*case_.program); }

 private:
  IR read() override {
    Pt2Model model = read_pt2(files().path, files().program);
    case_ = Case().with(std::move(model.program));
    case_.weights = loading([&] {
      if (!files().weights.empty()) {
        return with_graph_names(load_weights(files().weights), *case_.program);
      }
      check_have_values(files().path, model.weights);
      return std::move(model.weights);
    });
    examples_ = std::move(model.examples);
    IR ir = convert_exported_program(*case_.program);
    move_large_constants(ir, case_.weights);
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
      case_.program = std::make_shared<const Program>(resolve(ir));
      if (!files().weights.empty()) {
        case_.weights = with_graph_names(load_weights(files().weights), *case_.program);
      }
      move_large_constants(ir, case_.weights);
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
