#include "torch_ir/runtime/replay/dispatched_call.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "torch_ir/operators/argument_values.h"
#include "torch_ir/operators/call_recording.h"
#include "torch_ir/operators/operator_facts.h"
#include "torch_ir/runtime/graph/memory_overlap.h"
#include "torch_ir/runtime/interpreter/run.h"

namespace torch_ir {
namespace {

bool is_written(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

bool is_out_overload(const c10::FunctionSchema& op, const c10::FunctionSchema& out) {
  const auto& arguments = op.arguments();
  const auto& out_arguments = out.arguments();
  if (out_arguments.size() != arguments.size() + op.returns().size()) return false;
  for (size_t i = 0; i < out_arguments.size(); ++i) {
    if (i >= arguments.size()) {
      if (!is_written(out_arguments[i]) ||
          out_arguments[i].type()->kind() != c10::TypeKind::TensorType) {
        return false;
      }
    } else if (arguments[i].name() != out_arguments[i].name() ||
               *arguments[i].type() != *out_arguments[i].type()) {
      return false;
    }
  }
  return true;
}

// For each operator, the overloads that write to given results with a kernel of their own.
const std::unordered_multimap<std::string, c10::OperatorHandle>& out_overloads() {
  static const auto table = [] {
    std::unordered_multimap<std::string, c10::OperatorHandle> overloads;
    c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
    for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
      const auto op = dispatcher.findSchema(name);
      if (!op || !op->hasKernelForDispatchKey(c10::DispatchKey::CPU)) continue;
      const auto& arguments = op->schema().arguments();
      if (!arguments.empty() && is_written(arguments.back())) overloads.emplace(name.name, *op);
    }
    return overloads;
  }();
  return table;
}

std::optional<c10::OperatorHandle> find_out_overload(const c10::OperatorHandle& op) {
  // The first run calls the operator as well, which must not write twice to its arguments.
  const bool writes = op.schema().is_mutable() || !facts_of(op).updates_statistics.empty();
  if (writes || facts_of(op).uses_results_as_scratch) return std::nullopt;
  const auto [begin, end] = out_overloads().equal_range(op.schema().name());
  const auto found = std::find_if(begin, end, [&](const auto& entry) {
    return is_out_overload(op.schema(), entry.second.schema());
  });
  return found == end ? std::nullopt : std::optional(found->second);
}

// Uses the overload only if it gave the operator's bits in the first run.
class OutCall final : public PreparedKernel {
 public:
  OutCall(const c10::OperatorHandle& op, const KernelCall& call)
      : op_(op), call_(call), arguments_(call.arguments) {
    arguments_.insert(arguments_.end(), call.outputs.begin(), call.outputs.end());
    stack_.reserve(arguments_.size());
  }

  void run() override {
    if (is_trusted_) {
      call_overload();
      return;
    }
    const std::vector<at::Tensor> expected = call_operator();
    if (!is_refused_) {
      call_overload();
      is_trusted_ = std::ranges::equal(expected, call_.outputs, same_bits);
      is_refused_ = !is_trusted_;
    }
    for (size_t i = 0; is_refused_ && i < expected.size(); ++i) call_.outputs[i].copy_(expected[i]);
  }

 private:
  void call_overload() {
    stack_.assign(arguments_.begin(), arguments_.end());
    op_.callBoxed(stack_);
    stack_.clear();
  }

  std::vector<at::Tensor> call_operator() const {
    std::vector<c10::IValue> stack = call_.arguments;
    call_.op.callBoxed(stack);
    std::vector<at::Tensor> results;
    for (const c10::IValue& value : stack) results.push_back(value.toTensor());
    return results;
  }

  c10::OperatorHandle op_;
  KernelCall call_;
  std::vector<c10::IValue> arguments_;
  std::vector<c10::IValue> stack_;
  bool is_trusted_ = false;
  bool is_refused_ = false;
};

class CheckedCall final : public PreparedKernel {
 public:
  CheckedCall(ValueCheck check, const KernelCall& call, std::unique_ptr<PreparedKernel> kernel)
      : check_(check), op_(call.op), arguments_(call.arguments), kernel_(std::move(kernel)) {}

  void run() override {
    check_({op_.schema(), arguments_});
    kernel_->run();
  }
  bool writes_unused() const override { return kernel_->writes_unused(); }
  void on_moved(const c10::StorageImpl* storage) override { kernel_->on_moved(storage); }

 private:
  ValueCheck check_;
  c10::OperatorHandle op_;
  std::vector<c10::IValue> arguments_;
  std::unique_ptr<PreparedKernel> kernel_;
};

bool has_same_layout(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && a.strides() == b.strides() &&
         a.storage_offset() == b.storage_offset() && a.scalar_type() == b.scalar_type() &&
         !a.is_conj() && !a.is_neg();
}

}  // namespace

std::unique_ptr<PreparedKernel> prepare_out_call(const KernelCall& call) {
  if (call.outputs.size() != call.op.schema().returns().size()) return nullptr;
  const auto op = find_out_overload(call.op);
  return op ? std::make_unique<OutCall>(*op, call) : nullptr;
}

std::unique_ptr<PreparedKernel> prepare_returning_call(const KernelCall& call,
                                                       std::vector<bool> has_new_memory,
                                                       OnResult on_result) {
  return make_kernel([call, has_new_memory = std::move(has_new_memory),
                      on_result = std::move(on_result), stack = torch::jit::Stack()]() mutable {
    stack.assign(call.arguments.begin(), call.arguments.end());
    const c10::impl::ForceDispatchKeyGuard keys(keys_for_call(stack));
    call.op.callBoxed(stack);
    const std::vector<at::Tensor> results = tensors_of(c10::ArrayRef<c10::IValue>(stack));
    stack.clear();
    if (results.size() != call.outputs.size()) {
      throw std::runtime_error("it returned a different number of tensors than before");
    }
    for (size_t i = 0; i < results.size(); ++i) {
      if (!has_new_memory[i]) continue;
      if (!has_same_layout(results[i], call.outputs[i])) {
        throw std::runtime_error("it returned a tensor with a different layout than before");
      }
      on_result(i, results[i]);
    }
  });
}

std::unique_ptr<PreparedKernel> with_checked_values(const KernelCall& call,
                                                    std::unique_ptr<PreparedKernel> kernel) {
  const ValueCheck check = find_value_check(call.op);
  if (check == nullptr) return kernel;
  return std::make_unique<CheckedCall>(check, call, std::move(kernel));
}

}  // namespace torch_ir
