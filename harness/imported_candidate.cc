#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/converter/converter.h"
#include "torch_ir/exporter/pt2/pt2.h"
#include "torch_ir/harness/candidate.h"
#include "torch_ir/harness/eager_program.h"
#include "torch_ir/weights/large_constants.h"
#include "torch_ir/weights/tensor_files.h"

namespace torch_ir {
namespace {

constexpr const char* kAdvice = "give inputs with --inputs FILE.safetensors";

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
    const StateDict examples = read_examples();
    std::vector<at::Tensor> tensors;
    for (const TensorMeta& input : ir_.graph_inputs) {
      const at::Tensor* tensor = examples.find(input.name);
      if (tensor == nullptr) {
        throw Error(archive_.path + ": the archive has no example for the input '" + input.name +
                    "'; " + kAdvice);
      }
      tensors.push_back(*tensor);
    }
    return tensors;
  }

  std::vector<at::Tensor> expected(const std::vector<at::Tensor>& inputs) override {
    return archive_.expected.empty() ? run_eagerly(model_.program, model_.weights, inputs)
                                     : read_expected(archive_.expected, ir_);
  }

 private:
  StateDict read_examples() const {
    std::optional<StateDict> examples;
    try {
      examples = read_pt2_example_inputs(archive_.path);
    } catch (const Error& error) {
      throw Error(std::string(error.what()) + "; " + kAdvice);
    }
    if (!examples) throw Error(archive_.path + ": the archive has no example inputs; " + kAdvice);
    return *std::move(examples);
  }

  Archive archive_;
  Pt2Model model_;
  IR ir_;
};

}  // namespace

std::unique_ptr<Candidate> make_candidate(const Archive& archive) {
  return std::make_unique<ImportedCandidate>(archive);
}

}  // namespace torch_ir
