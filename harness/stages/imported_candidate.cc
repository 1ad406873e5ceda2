#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "harness/stages/candidate.h"
#include "harness/stages/stages.h"
#include "harness/stages/trials.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/cases/graph_file.h"
#include "torch_ir/cases/graph_part.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/runtime/interpreter/node_run.h"
#include "torch_ir/verifier/verify.h"
#include "torch_ir/weights/state_dict.h"
#include "torch_ir/weights/tensor_files.h"

namespace torch_ir {
namespace {

// Returns `load()`, and turns its errors into LoadErrors.
template <class Load>
auto loading(Load load) {
  try {
    return load();
  } catch (const Error& error) {
    throw LoadError(error.what());
  }
}

class ImportedCandidate : public Candidate {
 public:
  ImportedCandidate(const ModelFiles& files, uint64_t seed, int steps)
      : files_(files),
        inputs_(files.inputs.empty() ? std::vector<std::string>{""} : files.inputs),
        seed_(seed),
        has_steps_(steps > 1) {}

  std::vector<std::string> paths() const override {
    std::vector<std::string> paths = {files_.path, files_.weights};
    std::ranges::copy(inputs_, std::back_inserter(paths));
    std::ranges::copy(files_.expected, std::back_inserter(paths));
    return paths;
  }

  // The program is the one of the file: its reference must not depend on how it is written as an
  // IR.
  IR extract() override {
    const bool is_archive = files_.format == FileFormat::kArchive;
    file_ = is_archive ? read_program() : loading([&] { return read_graph(files_.path); });
    Case& content = file_.content;
    return loading([&] {
      if (!is_archive) content = content.with(resolve(file_.ir));
      content.weights = weights_for(file_, files_.weights);
      move_large_constants(file_.ir, content.weights);
      return file_.ir;
    });
  }

  SourceLines source_lines() const override { return file_.source_lines; }

  // With steps, the sets of inputs are those of one trial.
  int num_given() const override { return has_steps_ ? 1 : static_cast<int>(inputs_.size()); }
  std::string trial_name(int trial) const override {
    if (trial >= num_given() || num_given() == 1) return Candidate::trial_name(trial);
    return printable(file_name(inputs_.at(static_cast<size_t>(trial))));
  }

  std::vector<at::Tensor> expected(int trial, const std::vector<at::Tensor>& inputs) override {
    const size_t set = has_steps_ ? step_ : static_cast<size_t>(trial);
    if (trial < num_given() && set < files_.expected.size()) {
      Case known = on(inputs);
      known.expected = loading([&] { return read_expected(files_.expected[set], program()); });
      // Files may lack it.
      add_expected_state(known);
      return known.expected;
    }
    try {
      return run_model(inputs);
    } catch (const ExecutionError& error) {
      throw ExecutionError(error,
                           fmt::format("the reference failed: {}; to replace it, put a file of "
                                       "expected outputs beside the model",
                                       error.what()));
    }
  }

  const StateDict& weights() const override { return file_.content.weights; }

  void set_step(int step, const StateDict& weights) override {
    step_ = static_cast<size_t>(step);
    file_.content.weights = weights;
  }

  void observe(const std::vector<at::Tensor>& inputs, const ValueObserver& observer) override {
    const ComputablePart part = computable_part(program());
    std::vector<bool> left_out;
    if (!part.is_whole()) (left_out = part.is_computable).flip();
    run_program(on(inputs), observer, left_out);
  }

 protected:
  std::vector<at::Tensor> given_inputs(int trial) override {
    const size_t set = has_steps_ ? step_ % inputs_.size() : static_cast<size_t>(trial);
    const std::string& file = inputs_.at(set);
    return loading([&] {
      return file.empty() ? file_.examples->for_graph(program()) : read_inputs(file, file_.ir);
    });
  }
  // First other sizes, then other values for the first set.
  std::vector<TrialInputs> proposed_trials(const RunSettings& settings) override {
    if (settings.trials == 1) return {};
    const std::vector<at::Tensor> example = given_inputs(0);
    std::vector<TrialInputs> trials = size_trials(program(), example);
    // No file has the expected outputs of other values.
    if (!files_.expected.empty()) return trials;
    const std::vector<ValueId> ids = program().user_inputs();
    std::vector<TrialInput> inputs;
    for (size_t i = 0; i < example.size(); ++i) {
      const Value& input = program()[ids[i]];
      inputs.push_back({.name = input.name, .normal = example[i], .is_number = input.is_scalar});
    }
    std::ranges::move(value_trials(settings.trials - 1, inputs, seed_, files_.name),
                      std::back_inserter(trials));
    return trials;
  }
  std::vector<at::Tensor> run_model(const std::vector<at::Tensor>& inputs) override {
    return run_program(on(inputs));
  }

 private:
  GraphFile read_program() const {
    try {
      return read_archive(files_.path, files_.program,
                          files_.weights.empty() ? WeightBytes::kChecked : WeightBytes::kUnread);
    } catch (const NoSuchProgram& error) {
      throw InputError(error.what());
    }
  }

  const Program& program() const { return *file_.content.program; }

  Case on(const std::vector<at::Tensor>& inputs) const {
    Case result = file_.content;
    result.inputs = inputs;
    return result;
  }

  const ModelFiles files_;
  // "" for the archive's example inputs.
  const std::vector<std::string> inputs_;
  const uint64_t seed_;
  const bool has_steps_;
  size_t step_ = 0;
  // Without inputs and outputs.
  GraphFile file_;
};

}  // namespace

std::unique_ptr<Candidate> make_candidate(const ModelFiles& files, uint64_t seed, int steps) {
  return std::make_unique<ImportedCandidate>(files, seed, steps);
}

}  // namespace torch_ir
