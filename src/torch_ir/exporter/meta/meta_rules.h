// The shape rules: what operators without a Meta kernel return, computed from the shapes of their
// arguments alone.
//
// One table a family of operators, one line an operator. Sizes, strides and dtype are those of the
// CPU kernel. meta_kernels.cc registers them.
#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>
#include <vector>

#include "torch_ir/exporter/meta/meta_call.h"

namespace torch_ir {

// The results of the functional form of the operator, as meta tensors.
using MetaRule = std::vector<at::Tensor> (*)(const MetaCall&);

// What a rule does with an operator that is composed of others: keep that, or replace it where the
// composition does not work on meta tensors or gives other results than the CPU kernel.
enum class Composite { kKeep, kReplace };

struct NamedMetaRule {
  // Of the operator, for all its overloads: "relu".
  std::string_view name;
  MetaRule rule;
  Composite composite = Composite::kKeep;
};

c10::ArrayRef<NamedMetaRule> pointwise_meta_rules();
c10::ArrayRef<NamedMetaRule> reduction_meta_rules();
c10::ArrayRef<NamedMetaRule> indexing_meta_rules();
c10::ArrayRef<NamedMetaRule> convolution_meta_rules();
c10::ArrayRef<NamedMetaRule> normalization_meta_rules();
c10::ArrayRef<NamedMetaRule> window_meta_rules();
c10::ArrayRef<NamedMetaRule> matrix_meta_rules();

// The rule for an operator named `name` ("aten::relu"); null when there is none.
const NamedMetaRule* find_meta_rule(std::string_view name);

// The dtypes of the results, learnt from the CPU kernel itself: it is called with ones of the
// same dtypes and number of dimensions, all of length 1. Its checks of dtypes are made on the way.
// For operators that accept such a call whenever they accept the real one.
std::vector<c10::ScalarType> result_dtypes(const MetaCall& call);

}  // namespace torch_ir
