#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/results/run_context.h"
#include "harness/stages/candidate.h"
#include "harness/stages/size_trials.h"
#include "harness/stages/stages.h"
#include "harness/stages/trials.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/cases/graph_part.h"
#include "torch_ir/converter/converter.h"
#include "torch_ir/exporter/pt2/pt2.h"
#include "torch_ir/ir/json.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/runtime/graph/state.h"
#include "torch_ir/runtime/interpreter/node_run.h"
#include "torch_ir/verifier/verify.h"
#include "torch_ir/weights/graph_names.h"
#include "torch_ir/weights/state_dict.h"
#include "torch_ir/weights/tensor_files.h"

namespace torch_ir {
namespace {

class ImportedCandidate : public Candidate {
 public:
  ImportedCandidate(const ModelFiles& files, uint64_t seed, int steps)
      : Candidate(),
        files_(files),
        inputs_(all_of(files.inputs, files.more_inputs)),
        expected_(all_of(files.expected, files.more_expected)),
        seed_(seed),
        has_steps_(steps > 1) {}

  std::vector<std::string> paths() const override {
    std::vector<std::string> paths = {files_.path, files_.weights};
    std::ranges::copy(inputs_, std::back_inserter(paths));
    std::ranges::copy(expected_, std::back_inserter(paths));
    return paths;
  }

  IR extract() override { return ir_ = read(); }

  // With steps, the sets of inputs are those of one trial.
  int num_given() const override { return has_steps_ ? 1 : static_cast<int>(inputs_.size()); }
  std::string trial_name(int trial) const override {
    if (trial >= num_given() || num_given() == 1) return Candidate::trial_name(trial);
    const std::string& file = inputs_.at(static_cast<size_t>(trial));
    const bool is_alone = std::ranges::count(inputs_, file_name(file), file_name) == 1;
    return printable(is_alone ? file_name(file) : typed_path(file));
  }

  std::vector<at::Tensor> expected(int trial, const std::vector<at::Tensor>& inputs) override {
    const size_t set = has_steps_ ? step_ : static_cast<size_t>(trial);
    if (!files_.expected.empty() && trial < num_given() && set < expected_.size()) {
      Case known = on(inputs);
      known.expected = loading([&] { return read_expected(expected_[set], *case_.program); });
      // Files may lack it.
      add_expected_state(known);
      return known.expected;
    }
    try {
      return run_model(inputs);
    } catch (const ExecutionError& error) {
      throw ExecutionError(error, fmt::format("the reference failed: {}; --expected gives the "
                                              "outputs where it cannot run",
                                              error.what()));
    }
  }

  const StateDict& weights() const override { return case_.weights; }

  void set_step(int step, const StateDict& weights) override {
    step_ = static_cast<size_t>(step);
    case_.weights = weights;
  }

  void observe(const std::vector<at::Tensor>& inputs, const ValueObserver& observer,
               const std::function<bool()>& is_enough) override {
    const ComputablePart part = computable_part(*case_.program);
    std::vector<bool> left_out;
    if (!part.is_whole()) (left_out = part.is_computable).flip();
    run_program(on(inputs), observer, is_enough, left_out);
  }

 protected:
  // Sets the case. The program is the one of the file: its reference must not depend on how it is
  // written as an IR.
  virtual IR read() = 0;

  std::vector<at::Tensor> given_inputs(int trial) override {
    const size_t set = has_steps_ ? step_ % inputs_.size() : static_cast<size_t>(trial);
    const std::string& file = inputs_.at(set);
    return loading([&] {
      return file.empty() ? examples_.for_graph(*case_.program) : read_inputs(file, ir_);
    });
  }
  // First other sizes, then other values for the first set.
  std::vector<TrialInputs> proposed_trials(const RunSettings& settings) override {
    if (settings.trials == 1) return {};
    const std::vector<at::Tensor> example = given_inputs(0);
    std::vector<TrialInputs> trials = size_trials(*case_.program, example);
    // No file has the expected outputs of other values.
    if (!files_.expected.empty()) return trials;
    const std::vector<ValueId> ids = case_.program->user_inputs();
    std::vector<TrialInput> inputs;
    for (size_t i = 0; i < example.size(); ++i) {
      const Value& input = (*case_.program)[ids[i]];
      inputs.push_back({.name = input.name, .normal = example[i], .is_number = input.is_scalar});
    }
    std::ranges::move(value_trials(settings.trials - 1, inputs, seed_, files_.name),
                      std::back_inserter(trials));
    return trials;
  }
  std::vector<at::Tensor> run_model(const std::vector<at::Tensor>& inputs) override {
    return run_program(on(inputs));
  }

  const ModelFiles files_;
  // Without inputs and outputs.
  Case case_;
  Pt2Examples examples_;

 private:
  Case on(const std::vector<at::Tensor>& inputs) const {
    Case result = case_;
    result.inputs = inputs;
    return result;
  }

  static std::vector<std::string> all_of(const std::string& first, std::vector<std::string> more) {
    more.insert(more.begin(), first);
    return more;
  }

  const std::vector<std::string> inputs_;
  const std::vector<std::string> expected_;
  const uint64_t seed_;
  const bool has_steps_;
  size_t step_ = 0;
  IR ir_;
};

class ArchiveCandidate : public ImportedCandidate {
 public:
  using ImportedCandidate::ImportedCandidate;

  SourceLines source_lines() const override { return source_lines_of(*case_.program); }

 private:
  IR read() override {
    Pt2Model model = [&] {
      try {
        return read_pt2(files_.path, files_.program);
      } catch (const NoSuchProgram& error) {
        throw InputError(error.what());
      }
    }();
    case_ = Case().with(std::move(model.program));
    case_.weights = loading([&] {
      if (!files_.weights.empty()) {
        return with_graph_names(load_weights(files_.weights), *case_.program);
      }
      check_have_values(files_.path, model.weights);
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
      IR ir = load_ir(files_.path);
      add_state(ir);
      case_.program = std::make_shared<const Program>(resolve(ir));
      if (!files_.weights.empty()) {
        case_.weights = with_graph_names(load_weights(files_.weights), *case_.program);
      }
      move_large_constants(ir, case_.weights);
      return ir;
    });
  }
};

}  // namespace

std::unique_ptr<Candidate> make_candidate(const ModelFiles& files, uint64_t seed, int steps) {
  if (files.format == FileFormat::kGraph) {
    return std::make_unique<GraphCandidate>(files, seed, steps);
  }
  return std::make_unique<ArchiveCandidate>(files, seed, steps);
}

}  // namespace torch_ir
