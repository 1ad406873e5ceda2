#include <memory>

#include "torch_ir/harness/candidate.h"
#include "torch_ir/harness/stages.h"

namespace torch_ir {
namespace {

class RegisteredCandidate : public Candidate {
 public:
  RegisteredCandidate(const RegisteredModel& model, uint64_t seed) : model_(model), seed_(seed) {}

  IR extract() override {
    subject_ = make_subject(model_, seed_);
    return torch_ir::extract(model_, subject_);
  }
  const StateDict& weights() const override { return subject_.weights; }
  std::vector<at::Tensor> inputs() override { return subject_.inputs; }
  std::vector<at::Tensor> expected(const std::vector<at::Tensor>&) override {
    return run_eagerly(subject_);
  }

 private:
  RegisteredModel model_;
  uint64_t seed_;
  Subject subject_{.model = ModelFn(), .weights = StateDict(), .inputs = {}};
};

}  // namespace

std::unique_ptr<Candidate> make_candidate(const RegisteredModel& model, uint64_t seed) {
  return std::make_unique<RegisteredCandidate>(model, seed);
}

}  // namespace torch_ir
