#include <algorithm>

#include "torch_ir/executor/onednn/library.h"

namespace torch_ir::onednn {
namespace {

using Descriptor = dnnl::memory::desc;

// A dimension as its elements lie: what is of size one does not count, and a block that is the
// whole of its dimension is no block.
struct Axis {
  int64_t size;
  int64_t stride;
  // The size of the innermost block, whose elements are neighbours; one is none.
  int64_t block;
  bool operator==(const Axis&) const = default;
};

// Of a layout with at most one block; nothing for others (those of weights).
std::optional<std::vector<Axis>> axes_of(const dnnl_memory_desc_t& md) {
  const dnnl_blocking_desc_t& blocking = md.format_desc.blocking;
  if (md.format_kind != dnnl_blocked || blocking.inner_nblks > 1) return std::nullopt;
  std::vector<Axis> axes;
  for (int d = 0; d < md.ndims; ++d) {
    if (md.dims[d] != md.padded_dims[d]) return std::nullopt;
    const bool is_blocked = blocking.inner_nblks == 1 && blocking.inner_idxs[0] == d;
    Axis axis{md.dims[d], blocking.strides[d], is_blocked ? blocking.inner_blks[0] : 1};
    if (axis.block > 1 && (axis.size == axis.block || axis.stride == axis.block)) {
      axis.stride = axis.block = 1;
    }
    if (axis.size == 1) axis.stride = axis.block = 1;
    axes.push_back(axis);
  }
  return axes;
}

}  // namespace

std::optional<std::string> version() {
  const dnnl_version_t* version = dnnl_version();
  return std::to_string(version->major) + '.' + std::to_string(version->minor) + '.' +
         std::to_string(version->patch);
}

Layout LayoutAccess::layout(const Descriptor& descriptor) {
  Layout layout;
  layout.sizes_ = descriptor.dims();
  layout.descriptor_ = std::make_shared<const Descriptor>(descriptor);
  return layout;
}

Layout Layout::strided(const Dims& sizes, const Dims& strides) {
  return LayoutAccess::layout(Descriptor(sizes, dnnl::memory::data_type::f32, strides));
}

Layout Layout::any(const Dims& sizes) {
  return LayoutAccess::layout(
      Descriptor(sizes, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any));
}

Layout Layout::blocked(const Dims& sizes, int64_t block) {
  using Tag = dnnl::memory::format_tag;
  return LayoutAccess::layout(
      Descriptor(sizes, dnnl::memory::data_type::f32, block == 16 ? Tag::nChw16c : Tag::nChw8c));
}

std::optional<int64_t> Layout::block() const {
  for (const int64_t size : {16, 8}) {
    if (sizes_.size() == 4 && *this == blocked(sizes_, size)) return size;
  }
  return std::nullopt;
}

size_t Layout::bytes() const { return LayoutAccess::descriptor(*this).get_size(); }

std::string Layout::key() const {
  const dnnl_memory_desc_t& md = LayoutAccess::descriptor(*this).data;
  return {reinterpret_cast<const char*>(&md), sizeof(md)};
}

bool Layout::operator==(const Layout& other) const {
  const Descriptor& a = LayoutAccess::descriptor(*this);
  const Descriptor& b = LayoutAccess::descriptor(other);
  if (a == b) return true;
  const auto axes = axes_of(a.data);
  return axes && axes == axes_of(b.data);
}

}  // namespace torch_ir::onednn
