#include "torch_ir/ir/ivalue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torch_ir/base/error.h"
#include "torch_ir/ir/binding.h"

namespace torch_ir {
namespace {

using ::testing::ElementsAre;
using ::testing::ThrowsMessage;

const c10::Argument& argument(const char* op_type, const char* name) {
  const c10::FunctionSchema& schema = find_operator(op_type)->schema();
  return schema.arguments().at(static_cast<size_t>(*schema.argumentIndexWithName(name)));
}

TEST(ToIValueTest, GivesStringsTheTypeOfTheArgument) {
  EXPECT_EQ(to_ivalue("bfloat16", argument("aten.zeros.default", "dtype")).toScalarType(),
            c10::ScalarType::BFloat16);
  EXPECT_EQ(to_ivalue("torch.int64", argument("aten.zeros.default", "dtype")).toScalarType(),
            c10::ScalarType::Long);
  EXPECT_EQ(to_ivalue("strided", argument("aten.zeros.default", "layout")).toLayout(),
            c10::kStrided);
  EXPECT_EQ(to_ivalue("cuda:1", argument("aten.zeros.default", "device")).toDevice(),
            c10::Device("cuda:1"));
  EXPECT_EQ(to_ivalue("channels_last", argument("aten.contiguous.default", "memory_format"))
                .toMemoryFormat(),
            c10::MemoryFormat::ChannelsLast);
  EXPECT_EQ(to_ivalue("none", argument("aten.gelu.default", "approximate")).toStringRef(), "none");
}

TEST(ToIValueTest, MakesTheNumbersThatArgumentsTake) {
  const at::Tensor number = to_ivalue(4.0, argument("aten.div.Tensor", "other")).toTensor();
  EXPECT_TRUE(number.unsafeGetTensorImpl()->is_wrapped_number());
  EXPECT_EQ(number.dim(), 0);
  EXPECT_EQ(number.scalar_type(), c10::ScalarType::Double);
  EXPECT_EQ(to_ivalue(2, argument("aten.div.Tensor", "other")).toTensor().scalar_type(),
            c10::ScalarType::Long);
  const c10::Argument& other = argument("aten.add.Scalar", "other");
  EXPECT_TRUE(to_ivalue(1, other).toScalar().isIntegral(/*includeBool=*/false));
  EXPECT_TRUE(to_ivalue(1.0, other).toScalar().isFloatingPoint());
  EXPECT_TRUE(to_ivalue(true, other).toScalar().isBoolean());
  EXPECT_EQ(to_ivalue(Attribute::list({1.0, -2.0}), other).toScalar().toComplexDouble(),
            c10::complex<double>(1, -2));
  EXPECT_EQ(to_ivalue(1, argument("aten.batch_norm.default", "eps")).toDouble(), 1.0);
}

TEST(ToIValueTest, MakesListsOfTheSchemasLength) {
  const c10::Argument& stride = argument("aten.max_pool2d.default", "stride");
  EXPECT_THAT(to_ivalue(Attribute::list({1, 2}), stride).toIntVector(), ElementsAre(1, 2));
  EXPECT_THAT(to_ivalue(3, stride).toIntVector(), ElementsAre(3, 3));
  EXPECT_TRUE(to_ivalue(Attribute::list({}), stride).isIntList());
  // As the boxed kernels of these arguments expect them.
  EXPECT_TRUE(
      to_ivalue(Attribute::list({2, 2}), argument("aten.upsample_nearest2d.vec", "output_size"))
          .isIntList());
  EXPECT_TRUE(
      to_ivalue(Attribute::list({2, 2}), argument("aten.conv2d.default", "stride")).isIntList());
}

TEST(ToIValueTest, NamesArgumentTypeAndValueThatDoNotFit) {
  const auto refuses = [](const Attribute& value, const c10::Argument& argument,
                          const std::string& message) {
    EXPECT_THAT([&] { to_ivalue(value, argument); },
                ThrowsMessage<ValidationError>("argument '" + argument.name() +
                                               "' must be of type " + message));
  };
  refuses("float33", argument("aten.zeros.default", "dtype"), "ScalarType?, not 'float33'");
  const c10::Argument& start_dim = argument("aten.flatten.using_ints", "start_dim");
  refuses(1.5, start_dim, "int, not 1.5");
  refuses(Attribute(), start_dim, "int, not None");
}

TEST(ToAttributeTest, IsTheInverseOfToIValue) {
  const struct {
    const char* op_type;
    const char* name;
    Attribute value;
  } cases[] = {
      {"aten.zeros.default", "dtype", c10::ScalarType::Half},
      {"aten.zeros.default", "layout", c10::kStrided},
      {"aten.zeros.default", "device", c10::Device("cpu")},
      {"aten.zeros.default", "pin_memory", false},
      {"aten.contiguous.default", "memory_format", c10::MemoryFormat::ChannelsLast},
      {"aten.add.Scalar", "other", std::complex<double>(1, 2)},
      {"aten.add.Scalar", "other", 3},
      {"aten.conv2d.default", "stride", Attribute::list({2, 1})},
      {"aten.upsample_nearest2d.vec", "scale_factors", Attribute::list({2.0, 0.5})},
      {"aten.convolution_backward.default", "output_mask", Attribute::list({true, false, true})},
      {"aten.gelu.default", "approximate", "tanh"},
  };
  for (const auto& [op_type, name, value] : cases) {
    const c10::Argument& arg = argument(op_type, name);
    EXPECT_EQ(to_attribute(to_ivalue(value, arg), *arg.real_type()), value) << op_type << name;
  }
}

TEST(WithArgumentTypeTest, LeavesWhatDoesNotFit) {
  EXPECT_EQ(with_argument_type("no such dtype", argument("aten.zeros.default", "dtype")),
            Attribute("no such dtype"));
  EXPECT_EQ(with_argument_type("a b", argument("aten.zeros.default", "device")), Attribute("a b"));
}

}  // namespace
}  // namespace torch_ir
