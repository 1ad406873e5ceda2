#include <ATen/ops/exp.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/relu.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/stages/candidate.h"
#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(RegisteredCandidateTest, ObservesTheNodesOfTheGraphAsLongAsTheModelCallsThem) {
  bool has_changed = false;
  const RegisteredModel model{
      .name = "Changing", .spec = {.inputs = {{.name = "x", .shape = {4}}}}, .make = [&] {
        return Model(ModelFn([&](const std::vector<at::Tensor>& inputs) {
          const at::Tensor y = at::relu(inputs[0]);
          return std::vector<at::Tensor>{has_changed ? at::exp(y) : at::neg(y)};
        }));
      }};
  std::vector<std::string> names;
  const auto observe = [&](bool changes) {
    has_changed = false;
    const auto candidate = make_candidate(model, 0);
    candidate->extract();
    has_changed = changes;
    candidate->observe(candidate->inputs(0),
                       [&](const std::string& name, const at::Tensor&) { names.push_back(name); });
  };
  observe(false);
  EXPECT_THAT(names, ElementsAre("x", "relu", "neg"));
  EXPECT_THAT([&] { observe(true); },
              ThrowsMessage<ExportError>(
                  HasSubstr("node 1 of the graph is 'neg' (aten.neg.default), but the model calls "
                            "'exp' (aten.exp.default)")));
}

}  // namespace
}  // namespace torch_ir
