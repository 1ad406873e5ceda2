#include "torch_ir/harness/supported.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::ThrowsMessage;

TEST(SupportedTest, ModelsAndArchivesTellTheirOperatorsAndNothingRuns) {
  const std::string path = "harness/testdata/resnet.pt2";
  // AbortsOnData would, if it ran.
  const auto graphs = operators_of(
      {std::string("AbortsOnData"), std::string("Good"), Archive{.name = "resnet", .path = path}});
  ASSERT_EQ(graphs.size(), 3u);
  EXPECT_EQ(graphs[0].name, "AbortsOnData");
  EXPECT_THAT(graphs[0].operators, ElementsAre(Pair("aten.add.Tensor", 1)));
  EXPECT_THAT(graphs[1].operators, ElementsAre(Pair("aten.add.Tensor", 1)));
  EXPECT_EQ(graphs[2].name, "resnet");
  EXPECT_THAT(graphs[2].operators, testing::Contains(Pair("aten.conv2d.default", testing::Gt(0))));
  EXPECT_EQ(graphs[2].error, "");
}

TEST(SupportedTest, AModelWithoutAGraphHasAnError) {
  const auto graphs =
      operators_of({std::string("Throws"), Archive{.name = "none", .path = "none"}});
  ASSERT_EQ(graphs.size(), 2u);
  EXPECT_THAT(graphs[0].operators, IsEmpty());
  EXPECT_THAT(graphs[0].error, HasSubstr("no | forward"));
  EXPECT_THAT(graphs[1].error, HasSubstr("cannot open 'none'"));
}

TEST(SupportedTest, AnUnknownModelIsAnError) {
  EXPECT_THAT([] { operators_of({std::string("Nobody")}); },
              ThrowsMessage<Error>("no model is registered as 'Nobody'"));
}

}  // namespace
}  // namespace torch_ir
