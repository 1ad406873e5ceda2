#include "torch_ir/runtime/onednn/primitive.h"

namespace torch_ir::onednn {

std::optional<std::string> version() { return std::nullopt; }

Layout Layout::strided(const Dims& /*sizes*/, const Dims& /*strides*/) { return {}; }
Layout Layout::any(const Dims& /*sizes*/) { return {}; }
Layout Layout::channels_last(const Dims& /*sizes*/) { return {}; }
Layout Layout::blocked(const Dims& /*sizes*/, int64_t /*block*/) { return {}; }
std::optional<int64_t> Layout::block() const { return std::nullopt; }
std::optional<Dims> Layout::strides() const { return std::nullopt; }
size_t Layout::bytes() const { return 0; }
std::string Layout::key() const { return {}; }
bool Layout::operator==(const Layout& /*other*/) const { return true; }

PrimitivePtr make_convolution(const Convolution& /*convolution*/) { return nullptr; }
PrimitivePtr make_inner_product(const Layout& /*source*/, const Layout& /*weights*/,
                                const std::optional<Layout>& /*bias*/, const Layout& /*output*/,
                                const PostOps& /*post_ops*/) {
  return nullptr;
}
PrimitivePtr make_reorder(const Layout& /*from*/, const Layout& /*to*/) { return nullptr; }
PrimitivePtr make_pooling(Pooling /*pooling*/, const Layout& /*source*/, const Layout& /*output*/,
                          const Window& /*window*/) {
  return nullptr;
}
PrimitivePtr make_binary(Binary /*binary*/, const Layout& /*first*/, const Layout& /*second*/,
                         const PostOps& /*post_ops*/) {
  return nullptr;
}

}  // namespace torch_ir::onednn
