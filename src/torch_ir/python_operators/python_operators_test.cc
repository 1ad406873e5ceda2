#include "torch_ir/python_operators/python_operators.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "torch_ir/ir/binding.h"

namespace torch_ir {
namespace {

void call(const char* name, torch::jit::Stack arguments) {
  define_python_operators(name);
  c10::Dispatcher::singleton().findSchemaOrThrow(name, "").callBoxed(arguments);
}

// Python's kernel returns a dimension more than its meta kernel declares there.
TEST(PythonOperators, RefuseANegativeAxisOfFakeQuantPerChannel) {
  const at::Tensor ones = at::ones({2});
  EXPECT_THAT(
      [&] {
        call("quantized_decomposed::fake_quant_per_channel",
             {at::ones({2, 2}), ones, ones, -1, -8, 7});
      },
      ::testing::ThrowsMessage<c10::Error>(::testing::HasSubstr("an axis of 0 or more")));
}

// Each of them would read or write beyond a shape, or divide by zero.
TEST(PythonOperators, RefuseShapesWithoutTheDimensionOrElements) {
  const at::Tensor one = at::ones({1});
  EXPECT_THROW(call("prims::split_dim", {at::ones({2, 4}), -1, 2}), c10::Error);
  EXPECT_THROW(call("quantized_decomposed::quantize_per_channel",
                    {at::ones({}), one, one, -1, -128, 127, at::kChar}),
               c10::Error);
  EXPECT_THROW(call("quantized_decomposed::dequantize_per_channel_group",
                    {at::ones({2, 0}), one, one, -8, 7, at::kChar, 4, at::kFloat}),
               c10::Error);
}

// prims_schemas.txt has the schemas of PyTorch 2.13: str(torch.ops.prims.NAME.default._schema).
TEST(PythonOperators, HaveTheSchemasOfPython) {
  // Archives cannot hold the first row, and only Inductor makes or computes the others.
  const std::set<std::string> absent = {"item",
                                        "maximum_value",
                                        "minimum_value",
                                        "resize",
                                        "_low_memory_max_pool_offsets_to_indices",
                                        "_low_memory_max_pool_with_offsets",
                                        "xor_sum"};
  define_python_operators("prims::add");
  std::ifstream file("src/torch_ir/python_operators/prims_schemas.txt");
  size_t num_schemas = 0;
  for (std::string line; std::getline(file, line); ++num_schemas) {
    const std::string name = line.substr(0, line.find('('));
    const auto op = c10::Dispatcher::singleton().findSchema({name, ""});
    const std::string own_name = name.substr(name.find("::") + 2);
    if (absent.contains(own_name) || own_name.starts_with("inductor_")) {
      EXPECT_FALSE(op) << name;
    } else {
      ASSERT_TRUE(op) << name;
      EXPECT_EQ(c10::toString(op->schema()), line);
    }
  }
  EXPECT_EQ(num_schemas, 140U);
}

TEST(PythonOperators, RefuseArgumentsThatPythonRefuses) {
  EXPECT_THROW(call("prims::sum", {at::ones({2, 2}), c10::List<int64_t>({0}), at::kDouble}),
               c10::Error);
}

// As executorch.exir.passes.dim_order_ops_registry defines it: _to_copy in a memory format.
TEST(PythonOperators, CopyInTheOrderOfDimensionsOfExecuTorch) {
  const auto op = find_operator("dim_order_ops._to_dim_order_copy.default").value();
  const at::Tensor x = at::rand({2, 3, 4, 5});
  const auto copy = [&](const c10::IValue& dim_order) {
    torch::jit::Stack stack = {x,     at::kDouble, c10::IValue(), c10::IValue(), c10::IValue(),
                               false, dim_order};
    op.callBoxed(stack);
    return stack.at(0).toTensor();
  };
  const at::Tensor last = copy(c10::List<int64_t>({0, 2, 3, 1}));
  EXPECT_TRUE(last.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(at::equal(last, x.to(at::kDouble)));
  EXPECT_TRUE(copy(c10::List<int64_t>({0, 1, 2, 3})).is_contiguous());
  EXPECT_THROW(copy(c10::List<int64_t>({3, 2, 1, 0})), c10::Error);
}

TEST(PythonOperators, AreNotAdvisedToBeLoaded) {
  EXPECT_EQ(advice_about_unknown("prims.xor_sum.default"),
            "only Python defines it, so export the model without it");
  EXPECT_EQ(advice_about_unknown("torchvision.nms.default"),
            "load the library that defines it (--load-library)");
}

}  // namespace
}  // namespace torch_ir
