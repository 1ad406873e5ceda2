#include "torch_ir/exporter/meta_cases.h"

#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>

#include "torch_ir/exporter/meta_kernels.h"

namespace torch_ir {

void MetaKernels::SetUp() { register_meta_kernels(); }

void MetaKernels::expect_agreement() const {
  const Agreement agreement = compare_on_meta(GetParam().function, GetParam().inputs);
  ASSERT_EQ(agreement.cpu_error, "") << "the case itself is wrong";
  EXPECT_EQ(agreement.meta_error, "");
  EXPECT_EQ(agreement.meta, agreement.cpu);
}

std::string meta_case_name(const testing::TestParamInfo<MetaCase>& info) { return info.param.name; }

at::Tensor floats(at::IntArrayRef sizes) { return at::rand(sizes); }

at::Tensor channels_last(at::IntArrayRef sizes) {
  return at::rand(sizes).contiguous(sizes.size() == 4 ? at::MemoryFormat::ChannelsLast
                                                      : at::MemoryFormat::ChannelsLast3d);
}

at::Tensor indices(at::IntArrayRef sizes) { return at::zeros(sizes, at::kLong); }

// The test that every file of cases instantiates.
TEST_P(MetaKernels, AgreeWithTheCpu) { expect_agreement(); }
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MetaKernels);

}  // namespace torch_ir
