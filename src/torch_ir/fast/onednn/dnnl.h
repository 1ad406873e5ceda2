// Hides the differences between oneDNN 2 and 3: how to describe primitives, read memory descriptors
// and append functions.
//
// Nothing else looks at DNNL_VERSION_MAJOR.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
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

#if DNNL_VERSION_MAJOR >= 3

using DilatedPooling = dnnl::pooling_forward;

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
