// Hides the differences between oneDNN 2 and 3: how to describe primitives, read memory
// descriptors, append functions, and scale.
//
// Nothing else looks at DNNL_VERSION_MAJOR.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "torch_ir/fast/onednn/functions.h"
// After the functions.
#include <oneapi/dnnl/dnnl.hpp>

namespace torch_ir::onednn {

// How a tensor lies in memory: strides between blocks, and the blocks, outermost first.
struct Blocking {
  std::vector<int64_t> sizes;
  std::vector<int64_t> padded_sizes;
  std::vector<int64_t> strides;
  std::vector<int64_t> block_sizes;
  std::vector<int64_t> block_dims;
};

// What a primitive reads besides its inputs, the same in every run: numbers of 32 bits.
struct Constant {
  int name;
  dnnl::memory::data_type type;
  std::vector<int32_t> numbers;
};

#if DNNL_VERSION_MAJOR >= 3

using DilatedPooling = dnnl::pooling_forward;

constexpr bool kScalesBias = false;

inline void set_scales(dnnl::primitive_attr& attributes, const std::vector<float>& scales,
                       bool has_groups, std::vector<Constant>& constants) {
  attributes.set_scales_mask(DNNL_ARG_WEIGHTS, has_groups ? 0b11 : 0b1);
  constants.push_back({DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, dnnl::memory::data_type::f32, {}});
  for (const float scale : scales) {
    constants.back().numbers.push_back(std::bit_cast<int32_t>(scale));
  }
}

inline void set_source_zero_point(dnnl::primitive_attr& attributes, int32_t zero_point,
                                  std::vector<Constant>& constants) {
  attributes.set_zero_points_mask(DNNL_ARG_SRC, 0);
  constants.push_back(
      {DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, dnnl::memory::data_type::s32, {zero_point}});
}

inline void append_sum(dnnl::post_ops& list, float scale, dnnl::memory::data_type type) {
  list.append_sum(scale, /*zero_point=*/0, type);
}

inline dnnl::memory::data_type type_of(const dnnl::memory::desc& descriptor) {
  return descriptor.get_data_type();
}

template <class Kind, class... Arguments>
typename Kind::primitive_desc describe(const dnnl::engine& engine,
                                       const dnnl::primitive_attr& attributes,
                                       const Arguments&... arguments) {
  return {engine, arguments..., attributes, /*allow_empty=*/true};
}

inline void append_function(dnnl::post_ops& list, dnnl::algorithm function, float alpha,
                            float beta) {
  list.append_eltwise(function, alpha, beta);
}

inline std::vector<int64_t> sizes_of(const dnnl::memory::desc& descriptor) {
  return descriptor.get_dims();
}

inline bool is_blocked(const dnnl::memory::desc& descriptor) {
  return descriptor.get_format_kind() == dnnl::memory::format_kind::blocked;
}

inline Blocking blocking_of(const dnnl::memory::desc& descriptor) {
  return {descriptor.get_dims(), descriptor.get_padded_dims(), descriptor.get_strides(),
          descriptor.get_inner_blks(), descriptor.get_inner_idxs()};
}

#else

using DilatedPooling = dnnl::pooling_v2_forward;

constexpr bool kScalesBias = true;

inline void set_scales(dnnl::primitive_attr& attributes, const std::vector<float>& scales,
                       bool /*has_groups*/, std::vector<Constant>& /*constants*/) {
  attributes.set_output_scales(0b10, scales);
}

inline void set_source_zero_point(dnnl::primitive_attr& attributes, int32_t zero_point,
                                  std::vector<Constant>& /*constants*/) {
  attributes.set_zero_points(DNNL_ARG_SRC, 0, {zero_point});
}

inline void append_sum(dnnl::post_ops& list, float scale, dnnl::memory::data_type type) {
  list.append_sum(scale, type);
}

inline dnnl::memory::data_type type_of(const dnnl::memory::desc& descriptor) {
  return descriptor.data_type();
}

template <class Kind, class... Arguments>
typename Kind::primitive_desc describe(const dnnl::engine& engine,
                                       const dnnl::primitive_attr& attributes,
                                       const Arguments&... arguments) {
  return {{arguments...}, attributes, engine, /*allow_empty=*/true};
}

inline void append_function(dnnl::post_ops& list, dnnl::algorithm function, float alpha,
                            float beta) {
  list.append_eltwise(1.0F, function, alpha, beta);
}

inline std::vector<int64_t> sizes_of(const dnnl::memory::desc& descriptor) {
  return descriptor.dims();
}

inline bool is_blocked(const dnnl::memory::desc& descriptor) {
  return descriptor.data.format_kind == dnnl_blocked;
}

inline Blocking blocking_of(const dnnl::memory::desc& descriptor) {
  const dnnl_memory_desc_t& md = descriptor.data;
  const dnnl_blocking_desc_t& blocking = md.format_desc.blocking;
  const auto all = [](const dnnl_dims_t& numbers, int count) {
    return std::vector<int64_t>(numbers, numbers + count);
  };
  return {all(md.dims, md.ndims), all(md.padded_dims, md.ndims), all(blocking.strides, md.ndims),
          all(blocking.inner_blks, blocking.inner_nblks),
          all(blocking.inner_idxs, blocking.inner_nblks)};
}

#endif

}  // namespace torch_ir::onednn
