#include "harness/backend/backend.h"

#include <ATen/ops/full.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "harness/backend/open_backend.h"
#include "torch_ir/base/error.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/test_graphs.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::ThrowsMessage;

class Nothing : public Backend {
 public:
  explicit Nothing(BackendOptions asked) : options(std::move(asked)) {}
  std::vector<at::Tensor> run(const Case& /*graph_case*/) override { return {}; }
  BackendOptions options;
};

std::unique_ptr<Backend> make_nothing(const BackendOptions& options) {
  return std::make_unique<Nothing>(options);
}

TEST(BackendTest, IsFoundByItsNameOnceItIsRegistered) {
  EXPECT_EQ(known_backends(),
            "no backend is linked into this program or loaded with --load-library");
  EXPECT_TRUE(register_backend("npu", make_nothing));
  EXPECT_TRUE(register_backend("cpu", make_nothing));
  EXPECT_THAT(list_backends(), ElementsAre("cpu", "npu"));
  const std::string folder = ::testing::TempDir() + "/backend_test";
  EXPECT_THAT([&] { open_backend({.backend = "gp\nu"}, folder); },
              ThrowsMessage<Error>("unknown backend 'gp\\x0au'; backends: cpu, npu"));

  const std::unique_ptr<Backend> made = open_backend({.backend = "npu"}, folder);
  const auto* nothing = dynamic_cast<const Nothing*>(made.get());
  ASSERT_NE(nothing, nullptr);
  EXPECT_EQ(nothing->options.directory, folder + "/backend");
}

TEST(BackendTest, ANameIsTakenOnceAndTheValuesOfNodesAreOptional) {
  EXPECT_TRUE(register_backend("taken", make_nothing));
  EXPECT_THAT([] { register_backend("taken", make_nothing); },
              ThrowsMessage<Error>("duplicate backend 'taken'"));
  EXPECT_THAT([] { register_backend("", make_nothing); },
              ThrowsMessage<Error>("a backend needs a name"));
  Nothing backend{BackendOptions()};
  EXPECT_EQ(backend.values(Case()), nullptr);
}

TEST(PlanBackendTest, RunsTheGraphAndTheWeightsThatItIsGivenEachTime) {
  PlanBackend backend{ExecutionOptions()};
  IR ir = TestGraphBuilder("Add")
              .input("x", {2})
              .weight("p_w", "w", {2})
              .op("add", "aten.add.Tensor", {"x", "p_w"}, {2})
              .output("add")
              .build();
  StateDict weights = {{"w", at::full({2}, 1.0)}};
  const auto run = [&](double x) {
    const Case graph_case =
        Case{.weights = weights, .inputs = {at::full({2}, x)}}.with(resolve(ir));
    return backend.run(graph_case).at(0)[0].item<double>();
  };
  EXPECT_EQ(run(1), 2);
  EXPECT_EQ(run(5), 6);
  weights["w"] = at::full({2}, 3.0);
  EXPECT_EQ(run(1), 4);
  // Another graph in the same place.
  ir.nodes[0].op_type = "aten.mul.Tensor";
  EXPECT_EQ(run(5), 15);
}

}  // namespace
}  // namespace torch_ir
