#include "torch_ir/python_operators/python_operators.h"

#include <ATen/ops/_to_copy.h>
#include <ATen/ops/clone.h>

#include "torch_ir/ir/binding.h"
#include "torch_ir/python_operators/definitions.h"

namespace torch_ir {
namespace {

// As ExecuTorch maps them (executorch.exir.dim_order_utils).
at::MemoryFormat memory_format_of(at::OptionalIntArrayRef dim_order) {
  if (!dim_order) return at::MemoryFormat::Preserve;
  if (std::ranges::is_sorted(*dim_order)) return at::MemoryFormat::Contiguous;
  TORCH_CHECK(*dim_order == at::IntArrayRef({0, 2, 3, 1}), "Unsupported dim_order ", *dim_order);
  return at::MemoryFormat::ChannelsLast;
}

void define_dim_order_ops(Definitions& definitions) {
  definitions.add(
      "_to_dim_order_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None, bool non_blocking=False, int[]? dim_order=None)"
      " -> Tensor",
      +[](const at::Tensor& self, std::optional<at::ScalarType> dtype,
          std::optional<at::Layout> layout, std::optional<at::Device> device,
          std::optional<bool> pin_memory, bool non_blocking, at::OptionalIntArrayRef dim_order) {
        return at::_to_copy(self, dtype, layout, device, pin_memory, non_blocking,
                            memory_format_of(dim_order));
      });
  definitions.add(
      "_clone_dim_order(Tensor self, *, bool non_blocking=False, int[]? dim_order=None) -> Tensor",
      +[](const at::Tensor& self, bool, at::OptionalIntArrayRef dim_order) {
        return at::clone(self, memory_format_of(dim_order));
      });
}

const bool is_registered = [] {
  set_operator_definitions(define_python_operators);
  return true;
}();

}  // namespace

void define_python_operators(std::string_view name) {
  if (name.starts_with("quantized_decomposed::") || name.starts_with("torchao::") ||
      name.starts_with("dim_order_ops::")) {
    [[maybe_unused]] static const bool is_done = [] {
      define_quantized_decomposed(*new Definitions("quantized_decomposed"));
      define_torchao(*new Definitions("torchao"));
      define_dim_order_ops(*new Definitions("dim_order_ops"));
      return true;
    }();
  } else if (name.starts_with("prims::")) {
    [[maybe_unused]] static const bool is_done = [] {
      define_prims(*new Definitions("prims"));
      return true;
    }();
  }
}

}  // namespace torch_ir
