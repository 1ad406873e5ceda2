#include "harness/divergence/reference_watch.h"

#include <ATen/Context.h>

#include "torch_ir/ir/binding.h"

namespace torch_ir {
namespace {

// Whether a node of this operator may draw random numbers.
bool may_draw(const OpNode& node) {
  const auto op = find_operator(node.op_type);
  return !node.graphs.empty() || (op && op->hasTag(at::Tag::nondeterministic_seeded));
}

}  // namespace

ReferenceWatch::ReferenceWatch(const IR& ir) {
  for (size_t i = 0; i < ir.nodes.size(); ++i) {
    if (!may_draw(ir.nodes[i])) continue;
    for (const TensorMeta& output : ir.nodes[i].outputs) drawing_.emplace(output.name, i);
  }
}

void ReferenceWatch::start(uint64_t seed) {
  at::manual_seed(seed);
  before_ = RandomState();
}

void ReferenceWatch::see(const std::string& name, const at::Tensor& value) {
  if (value.defined()) shapes_[name] = value.sizes().vec();
  const auto node = drawing_.find(name);
  if (node == drawing_.end()) return;
  if (before_.has_moved()) random_nodes_.insert(node->second);
  before_ = RandomState();
}

}  // namespace torch_ir
