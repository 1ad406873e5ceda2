// The C functions of oneDNN, from a copy of the library that is isolated from LibTorch's.
//
// Both copies have weak symbols (instances of templates) that the loader would bind to whichever
// library comes first: LibTorch's matrix products would then run on the other's tables, or the
// other way round. So oneDNN is not linked but opened: RTLD_LOCAL hides its symbols from LibTorch,
// and RTLD_DEEPBIND hides LibTorch's from it.
//
// dnnl.hpp, which comes after this, calls the functions from within the namespace dnnl, where
// callable objects of their names stand in for them. A function that is not listed here does not
// link.
#pragma once

#include <oneapi/dnnl/dnnl.h>

// clang-format off
#define TORCH_IR_ONEDNN_COMMON(F)                                                                 \
  F(dnnl_engine_create) F(dnnl_engine_destroy) F(dnnl_get_effective_cpu_isa)                      \
  F(dnnl_memory_desc_equal) F(dnnl_memory_destroy)                                                \
  F(dnnl_memory_set_data_handle_v2) F(dnnl_post_ops_append_eltwise) F(dnnl_post_ops_append_sum)   \
  F(dnnl_post_ops_create) F(dnnl_post_ops_destroy) F(dnnl_primitive_attr_create)                  \
  F(dnnl_primitive_attr_destroy) F(dnnl_primitive_attr_set_post_ops)                              \
  F(dnnl_primitive_attr_set_scratchpad_mode) F(dnnl_primitive_create)                             \
  F(dnnl_primitive_desc_destroy) F(dnnl_primitive_desc_query) F(dnnl_primitive_desc_query_md)     \
  F(dnnl_primitive_destroy) F(dnnl_primitive_execute) F(dnnl_reorder_primitive_desc_create)       \
  F(dnnl_stream_create) F(dnnl_stream_destroy) F(dnnl_version)

#if DNNL_VERSION_MAJOR >= 3
#define TORCH_IR_ONEDNN_FUNCTIONS(F) TORCH_IR_ONEDNN_COMMON(F)                                    \
  F(dnnl_binary_primitive_desc_create) F(dnnl_convolution_forward_primitive_desc_create)          \
  F(dnnl_inner_product_forward_primitive_desc_create) F(dnnl_memory_create_v2)                    \
  F(dnnl_memory_desc_clone) F(dnnl_memory_desc_create_with_strides)                               \
  F(dnnl_memory_desc_create_with_tag) F(dnnl_memory_desc_destroy)                                 \
  F(dnnl_memory_desc_get_size_v2) F(dnnl_memory_desc_query) F(dnnl_memory_desc_query_v2)          \
  F(dnnl_pooling_forward_primitive_desc_create) F(dnnl_primitive_attr_set_scales_mask)            \
  F(dnnl_primitive_attr_set_zero_points_mask) F(dnnl_resampling_forward_primitive_desc_create)
#else
#define TORCH_IR_ONEDNN_FUNCTIONS(F) TORCH_IR_ONEDNN_COMMON(F)                                    \
  F(dnnl_binary_desc_init) F(dnnl_dilated_convolution_forward_desc_init)                          \
  F(dnnl_inner_product_forward_desc_init) F(dnnl_memory_create) F(dnnl_memory_desc_get_size)      \
  F(dnnl_memory_desc_init_by_strides) F(dnnl_memory_desc_init_by_tag)                             \
  F(dnnl_pooling_v2_forward_desc_init) F(dnnl_post_ops_append_sum_v2)                             \
  F(dnnl_primitive_attr_set_output_scales) F(dnnl_primitive_attr_set_zero_points)                 \
  F(dnnl_primitive_desc_iterator_create) F(dnnl_primitive_desc_iterator_destroy)                  \
  F(dnnl_primitive_desc_iterator_fetch) F(dnnl_resampling_forward_desc_init)
#endif
// clang-format on

namespace torch_ir::onednn {

struct Functions {
#define TORCH_IR_ONEDNN_MEMBER(name) decltype(&::name) name = nullptr;
  TORCH_IR_ONEDNN_FUNCTIONS(TORCH_IR_ONEDNN_MEMBER)
#undef TORCH_IR_ONEDNN_MEMBER
};

// Opens the library at the first call; null if there is none.
const Functions* functions();

template <auto kMember>
struct Call;

template <class Result, class... Arguments, Result (*Functions::*kMember)(Arguments...)>
struct Call<kMember> {
  Result operator()(Arguments... arguments) const { return (functions()->*kMember)(arguments...); }
};

}  // namespace torch_ir::onednn

namespace dnnl {

#define TORCH_IR_ONEDNN_CALL(name) \
  inline constexpr torch_ir::onednn::Call<&torch_ir::onednn::Functions::name> name;
TORCH_IR_ONEDNN_FUNCTIONS(TORCH_IR_ONEDNN_CALL)
#undef TORCH_IR_ONEDNN_CALL

}  // namespace dnnl
