#include "torch_ir/operators/data_dependence.h"

#include <algorithm>
#include <array>

namespace torch_ir {
namespace {

constexpr std::array kDataDependent = std::to_array<std::string_view>({
    // Numbers out of tensors.
    "aten::_is_zerotensor",
    "aten::_local_scalar_dense",
    "aten::_nested_tensor_from_mask_left_aligned",
    "aten::allclose",
    "aten::equal",
    "aten::is_nonzero",
    "aten::item",
    // As many results as there are such elements.
    "aten::_unique",
    "aten::_unique2",
    "aten::argwhere",
    "aten::bincount",
    "aten::combinations",
    "aten::masked_select",
    "aten::nonzero",
    "aten::nonzero_numpy",
    "aten::unique_consecutive",
    "aten::unique_dim",
    "aten::unique_dim_consecutive",
    // As long as the values in a tensor of lengths say.
    "aten::_ctc_loss",
    "aten::_nested_from_padded",
    "aten::_nested_tensor_from_mask",
    "aten::_padded_dense_to_jagged_forward",
    "aten::_pad_packed_sequence",
    "aten::one_hot",
    "aten::repeat_interleave",
    "aten::tensor_split",
});

}  // namespace

bool depends_on_data(std::string_view name) {
  return std::find(kDataDependent.begin(), kDataDependent.end(), name) != kDataDependent.end();
}

}  // namespace torch_ir
