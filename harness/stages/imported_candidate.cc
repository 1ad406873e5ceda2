#include <ATen/Context.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/ops/empty_strided.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
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
      : Candidate({.calls_operators = files.expected.empty()}),
        files_(files),
        seed_(seed),
        has_steps_(steps > 1) {}

  std::vector<std::string> paths() const override {
    std::vector<std::string> paths = {files_.path, files_.weights, files_.inputs, files_.expected};
    std::ranges::copy(files_.more_inputs, std::back_inserter(paths));
    std::ranges::copy(files_.more_expected, std::back_inserter(paths));
    return paths;
  }

  IR extract() override {
    ir_ = read();
    return ir_;
  }

  std::vector<at::Tensor> inputs(int trial) override {
    if (trial >= num_sets()) other_sizes();
    const Source source = source_of(trial);
    if (source.sizes != nullptr) return source.sizes->inputs;
    std::vector<at::Tensor> inputs = given(set_of(source));
    const std::vector<ValueId> ids = case_.program->user_inputs();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Value& input = (*case_.program)[ids[i]];
      // The graph may be specialized for the number.
      if (input.is_scalar) continue;
      const at::Tensor values = trial_values(
          source.values, {.name = input.name, .normal = inputs[i]}, seed_, files_.name);
      // The strides stay too, because guards may read them.
      const bool overlaps = at::has_internal_overlap(inputs[i]) == at::MemOverlap::Yes;
      inputs[i] = overlaps
                      ? values
                      : at::empty_strided(values.sizes(), inputs[i].strides(), values.options())
                            .copy_(values);
    }
    return inputs;
  }

  // No file has the expected outputs of other values.
  int num_trials(const RunSettings& settings) override {
    if (settings.trials == 1) return num_sets();
    const int num_values = files_.expected.empty() ? settings.trials - 1 : 0;
    return num_sets() + static_cast<int>(other_sizes().size()) + num_values;
  }

  std::string trial_name(int trial) const override {
    const Source source = source_of(trial);
    if (source.sizes != nullptr) return source.sizes->name;
    if (source.values > 0 || num_sets() == 1) return Candidate::trial_name(source.values);
    const std::string& file = inputs_of(source.set);
    int num_alike = 0;
    for (int set = 0; set < num_sets(); ++set) {
      if (file_name(inputs_of(set)) == file_name(file)) ++num_alike;
    }
    return printable(num_alike == 1 ? file_name(file) : typed_path(file));
  }
  std::string unusual_trial(int trial) const override {
    return trial == 0 && num_sets() == 1 ? "" : trial_name(trial);
  }

  std::vector<at::Tensor> expected(int trial, const std::vector<at::Tensor>& inputs) override {
    const Source source = source_of(trial);
    const bool is_in_files = source.sizes == nullptr && step_ < num_given();
    if (files_.expected.empty() || !is_in_files) return reference(inputs);
    Case known = on(inputs);
    known.expected = loading([&] {
      return read_expected(of_set(files_.expected, files_.more_expected, set_of(source)),
                           *case_.program);
    });
    // Files may lack it.
    add_expected_state(known);
    return known.expected;
  }

  const StateDict& weights() const override { return case_.weights; }

  void set_step(int step, const StateDict& weights) override {
    step_ = step;
    case_.weights = weights;
  }

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

  // Where a trial has its inputs from: first the sets that files give, then other sizes, then other
  // values for the first set.
  struct Source {
    int set = 0;
    const SizeTrial* sizes = nullptr;
    // As a trial of trials.h.
    int values = 0;
  };

  int num_given() const { return 1 + static_cast<int>(files_.more_inputs.size()); }
  // With steps, the sets are those of one trial.
  int num_sets() const { return has_steps_ ? 1 : num_given(); }
  int set_of(const Source& source) const { return has_steps_ ? step_ % num_given() : source.set; }
  Source source_of(int trial) const {
    if (trial < num_sets()) return {.set = trial};
    trial -= num_sets();
    const int num_sizes = sizes_ ? static_cast<int>(sizes_->size()) : 0;
    if (trial < num_sizes) return {.sizes = &sizes_->at(static_cast<size_t>(trial))};
    return {.values = trial - num_sizes + 1};
  }

  static const std::string& of_set(const std::string& first, const std::vector<std::string>& more,
                                   int set) {
    return set == 0 ? first : more.at(static_cast<size_t>(set) - 1);
  }
  const std::string& inputs_of(int set) const {
    return of_set(files_.inputs, files_.more_inputs, set);
  }
  std::vector<at::Tensor> given(int set) const {
    return loading([&] {
      return inputs_of(set).empty() ? examples_.for_graph(*case_.program)
                                    : read_inputs(inputs_of(set), ir_);
    });
  }

  // Those at which the model itself runs on the values of the example.
  const std::vector<SizeTrial>& other_sizes() {
    if (sizes_) return *sizes_;
    sizes_.emplace();
    const Program& program = *case_.program;
    const auto is_dynamic_input = [&](ValueId id) { return is_dynamic(program[id]); };
    if (!std::ranges::any_of(program.user_inputs(), is_dynamic_input)) return *sizes_;
    for (SizeTrial& trial : size_trials(program, given(0))) {
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
  const bool has_steps_;
  int step_ = 0;
  IR ir_;
  std::optional<std::vector<SizeTrial>> sizes_;
};

class ArchiveCandidate : public ImportedCandidate {
 public:
  using ImportedCandidate::ImportedCandidate;

  SourceLines source_lines() const override { return source_lines_of(*case_.program); }

 private:
  IR read() override {
    Pt2Model model = [&] {
      try {
        return read_pt2(files().path, files().program);
      } catch (const NoSuchProgram& error) {
        throw InputError(error.what());
      }
    }();
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
      add_state(ir);
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

std::unique_ptr<Candidate> make_candidate(const ModelFiles& files, uint64_t seed, int steps) {
  if (files.format == FileFormat::kGraph) {
    return std::make_unique<GraphCandidate>(files, seed, steps);
  }
  return std::make_unique<ArchiveCandidate>(files, seed, steps);
}

}  // namespace torch_ir
