#include <string>
#include <utility>
#include <vector>

#include "torch_ir/converter/converter.h"
#include "torch_ir/exporter/pt2/graph_inputs.h"
#include "torch_ir/exporter/pt2/pt2.h"
#include "torch_ir/harness/candidate.h"
#include "torch_ir/harness/eager_program.h"
#include "torch_ir/weights/large_constants.h"
#include "torch_ir/weights/tensor_files.h"

namespace torch_ir {
namespace {

class ImportedCandidate : public Candidate {
 public:
  explicit ImportedCandidate(const Archive& archive) : archive_(archive) {}

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

  std::vector<at::Tensor> inputs() override {
    if (!archive_.inputs.empty()) return read_inputs(archive_.inputs, ir_);
    return example_graph_inputs(archive_.path, ir_);
  }

  std::vector<at::Tensor> expected(const std::vector<at::Tensor>& inputs) override {
    return archive_.expected.empty() ? run_eagerly(model_.program, model_.weights, inputs)
                                     : read_expected(archive_.expected, ir_);
  }

 private:
  Archive archive_;
  Pt2Model model_;
  IR ir_;
};

}  // namespace

std::unique_ptr<Candidate> make_candidate(const Archive& archive) {
  return std::make_unique<ImportedCandidate>(archive);
}

}  // namespace torch_ir
