#include <string>
#include <utility>
#include <vector>

#include "torch_ir/converter/converter.h"
#include "torch_ir/exporter/pt2/graph_inputs.h"
#include "torch_ir/exporter/pt2/pt2.h"
#include "torch_ir/harness/stages/candidate.h"
#include "torch_ir/harness/stages/eager_program.h"
#include "torch_ir/harness/stages/failure.h"
#include "torch_ir/harness/stages/trials.h"
#include "torch_ir/weights/large_constants.h"
#include "torch_ir/weights/tensor_files.h"

namespace torch_ir {
namespace {

class ImportedCandidate : public Candidate {
 public:
  ImportedCandidate(const Archive& archive, uint64_t seed) : archive_(archive), seed_(seed) {}

  std::vector<std::string> paths() const override {
    return {archive_.path, archive_.inputs, archive_.expected};
  }

  IR extract() override {
    model_ = read_pt2(archive_.path);
    ir_ = convert_exported_program(model_.program);
    move_large_constants(ir_, model_.weights);
    return ir_;
  }

  const StateDict& weights() const override { return model_.weights; }

  std::vector<at::Tensor> inputs(int trial) override {
    std::vector<at::Tensor> inputs = loading([&] {
      return archive_.inputs.empty() ? example_graph_inputs(archive_.path, ir_)
                                     : read_inputs(archive_.inputs, ir_);
    });
    for (size_t i = 0; i < inputs.size(); ++i) {
      const TensorMeta& meta = ir_.graph_inputs[i];
      // A number of its own may be what the graph was made for.
      if (meta.is_scalar) continue;
      inputs[i] =
          trial_values(trial, {.name = meta.name, .normal = inputs[i]}, seed_, archive_.name);
    }
    return inputs;
  }
  bool takes_trials() const override { return archive_.expected.empty(); }

  std::vector<at::Tensor> expected(const std::vector<at::Tensor>& inputs) override {
    if (archive_.expected.empty()) return run_eagerly(model_.program, model_.weights, inputs);
    return loading([&] { return read_expected(archive_.expected, ir_); });
  }

  void observe(const std::vector<at::Tensor>& inputs, const ValueObserver& observer) override {
    run_eagerly(model_.program, model_.weights, inputs, observer);
  }

 private:
  Archive archive_;
  uint64_t seed_;
  Pt2Model model_;
  IR ir_;
};

}  // namespace

std::unique_ptr<Candidate> make_candidate(const Archive& archive, uint64_t seed) {
  return std::make_unique<ImportedCandidate>(archive, seed);
}

}  // namespace torch_ir
