#include "torch_ir/exporter/meta/testing/meta_cases.h"

#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>

#include "torch_ir/exporter/meta/meta_kernels.h"

namespace torch_ir {

Agreement agreement_of(const MetaCase& call) {
  register_meta_kernels();
  return compare_on_meta(call.function, call.inputs);
}

TEST_P(MetaKernels, AgreeWithTheCpu) {
  const Agreement agreement = agreement_of(GetParam());
  ASSERT_EQ(agreement.cpu_error, "") << "the case itself is wrong";
  EXPECT_EQ(agreement.meta_error, "");
  EXPECT_EQ(agreement.meta, agreement.cpu);
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MetaKernels);

void PrintTo(const MetaCase& call, std::ostream* out) { *out << call.name; }

std::string meta_case_name(const testing::TestParamInfo<MetaCase>& info) { return info.param.name; }

at::Tensor floats(at::IntArrayRef sizes) { return at::rand(sizes); }

at::Tensor channels_last(at::IntArrayRef sizes) {
  return at::rand(sizes).contiguous(sizes.size() == 4 ? at::MemoryFormat::ChannelsLast
                                                      : at::MemoryFormat::ChannelsLast3d);
}

at::Tensor indices(at::IntArrayRef sizes) { return at::zeros(sizes, at::kLong); }

}  // namespace torch_ir
