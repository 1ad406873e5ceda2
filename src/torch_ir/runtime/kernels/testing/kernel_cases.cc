#include "torch_ir/runtime/kernels/testing/kernel_cases.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "torch_ir/operators/call_recording.h"
#include "torch_ir/runtime/graph/memory_overlap.h"

namespace torch_ir {
namespace {

double any_number(std::mt19937& random, Values values) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  // The last is a quiet NaN with a payload bit that float has, too.
  constexpr std::array kSpecial = {
      0.0, -0.0, kInfinity, -kInfinity, kNan, -kNan, std::bit_cast<double>(0x7ff9000000000000)};
  std::uniform_real_distribution<double> plain(-4.0, 4.0);
  const double number = plain(random);
  if (values == Values::kPositive) return std::abs(number) + 0.125;
  if (values == Values::kFinite) return number;
  const size_t choice = random() % 24;
  if (choice == kSpecial.size()) return 1.0;
  return choice < kSpecial.size() ? kSpecial[choice] : number;
}

void fill(at::Tensor block, Values values, std::mt19937& random) {
  at::Tensor flat = block.view({-1});
  const bool is_whole = at::isIntegralType(block.scalar_type(), /*includeBool=*/true);
  const bool is_unsigned = block.scalar_type() == at::kByte || block.scalar_type() == at::kBool;
  const int64_t count = flat.numel();
  std::vector<double> numbers(static_cast<size_t>(count));
  for (double& number : numbers) {
    number = any_number(random, is_whole && values == Values::kAny ? Values::kFinite : values);
    if (is_whole) number = std::round(number * 8.0);
    if (is_whole && values == Values::kPositive) number = std::max(number, 1.0);
    if (is_unsigned) number = std::abs(number);
    if (block.scalar_type() == at::kBool) number = number > 12.0 ? 1.0 : 0.0;
  }
  flat.copy_(at::from_blob(numbers.data(), {count}, at::TensorOptions(at::kDouble)));
}

}  // namespace

at::Tensor make_tensor(at::ScalarType dtype, const std::vector<int64_t>& sizes, Layout layout,
                       Values values) {
  const auto make_block = [&](const std::vector<int64_t>& block_sizes) {
    std::mt19937 random(17);
    const at::Tensor block = at::empty(block_sizes, at::TensorOptions(dtype));
    fill(block, values, random);
    return block;
  };
  const size_t rank = sizes.size();
  std::vector<int64_t> block = sizes;
  if (layout == Layout::kTransposed && rank >= 2) {
    std::swap(block[rank - 1], block[rank - 2]);
    return make_block(block).transpose(-1, -2);
  }
  if (layout == Layout::kChannelsLast && rank == 4) {
    return make_block({sizes[0], sizes[2], sizes[3], sizes[1]}).permute({0, 3, 1, 2});
  }
  if (layout == Layout::kSliced) {
    if (rank == 0) return make_block({3}).select(0, 2);
    block[rank - 1] = 2 * block[rank - 1] + 3;
    return make_block(block).slice(-1, 3, block[rank - 1], 2);
  }
  if (layout == Layout::kExpanded && rank > 0) {
    block[0] = 1;
    return make_block(block).expand(sizes);
  }
  return make_block(sizes);
}

at::Tensor make_indices(const std::vector<int64_t>& sizes, int64_t limit, at::ScalarType dtype) {
  at::Tensor indices = at::empty(sizes, at::TensorOptions(at::kLong));
  std::mt19937 random(23);
  auto* numbers = indices.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < indices.numel(); ++i) {
    numbers[i] = static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
  }
  return indices.to(dtype);
}

at::Tensor make_wrapped_number(const at::Scalar& number) {
  at::Tensor tensor = at::empty({}, at::TensorOptions(number.type()));
  tensor.fill_(number);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

namespace {

constexpr int kGarbage = 0xff;

std::span<char> bytes_of(const at::Tensor& tensor) {
  c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
  return {static_cast<char*>(storage->mutable_data()), storage->nbytes()};
}

// Copies the tensor with the whole block of memory around it.
at::Tensor duplicate(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  const std::span<char> from = bytes_of(tensor);
  const auto elements = static_cast<int64_t>(from.size() / tensor.element_size());
  at::Tensor block = at::empty({elements}, tensor.options());
  if (!from.empty()) std::memcpy(block.mutable_data_ptr(), from.data(), from.size());
  at::Tensor copy = block.as_strided(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  if (tensor.dim() == 0) {
    copy.unsafeGetTensorImpl()->set_wrapped_number(
        tensor.unsafeGetTensorImpl()->is_wrapped_number());
  }
  return copy;
}

std::vector<c10::IValue> duplicate(const std::vector<c10::IValue>& values) {
  std::vector<c10::IValue> copies;
  for (const c10::IValue& value : values) {
    copies.push_back(
        map_tensors(value, [](const at::Tensor& tensor) { return duplicate(tensor); }));
  }
  return copies;
}

std::vector<at::Tensor> aliases_of(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> aliases;
  for (const at::Tensor& tensor : tensors) {
    aliases.push_back(tensor.as_strided(tensor.sizes(), tensor.strides(), tensor.storage_offset()));
  }
  return aliases;
}

void copy_blocks(const std::vector<at::Tensor>& sources, const std::vector<at::Tensor>& targets) {
  for (size_t i = 0; i < sources.size(); ++i) {
    const std::span<char> bytes = bytes_of(sources[i]);
    if (!bytes.empty()) std::memcpy(bytes_of(targets[i]).data(), bytes.data(), bytes.size());
  }
}

// Reorders the values, and scales them where that keeps a dtype's meaning.
void change_data(const std::vector<c10::IValue>& arguments) {
  for (const at::Tensor& tensor : tensors_of(arguments)) {
    const auto elements = static_cast<int64_t>(bytes_of(tensor).size() / tensor.element_size());
    at::Tensor block = tensor.as_strided({elements}, {1}, 0);
    block.copy_(block.clone().flip(0));
    if (tensor.is_floating_point()) block.mul_(1.25);
  }
}

std::vector<c10::IValue> call_dispatcher(const c10::OperatorHandle& op,
                                         const std::vector<c10::IValue>& arguments) {
  std::vector<c10::IValue> stack = duplicate(arguments);
  op.callBoxed(stack);
  return stack;
}

void fill_with_garbage(const at::Tensor& tensor) {
  const std::span<char> bytes = bytes_of(tensor);
  if (!bytes.empty()) std::memset(bytes.data(), kGarbage, bytes.size());
}

at::Tensor garbage_like(const at::Tensor& tensor) {
  at::Tensor result = at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options());
  fill_with_garbage(result);
  return result;
}

// Moves the tensor's memory, fills the old block with garbage, and keeps it in `old` so that it is
// not reused.
const c10::StorageImpl* move_memory(const at::Tensor& tensor, std::vector<c10::DataPtr>& old) {
  c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
  c10::DataPtr moved = c10::GetCPUAllocator()->allocate(storage->nbytes());
  if (storage->nbytes() > 0) {
    std::memcpy(moved.get(), storage->data(), storage->nbytes());
    std::memset(storage->mutable_data(), kGarbage, storage->nbytes());
  }
  old.push_back(storage->set_data_ptr(std::move(moved)));
  return storage;
}

std::string describe(const std::string& op, const std::vector<c10::IValue>& arguments) {
  std::string text = op;
  for (const at::Tensor& tensor : tensors_of(arguments)) {
    text += fmt::format(" {}[{}]/[{}]+{}", c10::toString(tensor.scalar_type()),
                        fmt::join(tensor.sizes().vec(), ","),
                        fmt::join(tensor.strides().vec(), ","), tensor.storage_offset());
  }
  return text;
}

std::vector<c10::IValue> with(const at::Tensor& first, std::vector<c10::IValue> more) {
  more.insert(more.begin(), first);
  return more;
}

}  // namespace

void run_with_one_tensor(CaseRunner& runner, const std::string& op,
                         const std::vector<c10::IValue>& more) {
  const auto run = [&](const at::Tensor& tensor) { runner.run(op, with(tensor, more)); };
  for (const at::ScalarType dtype : kAllDtypes) {
    for (const Layout layout : kLayouts) run(make_tensor(dtype, {2, 3, 4, 5}, layout));
    for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{}, {0, 3}, {1}, {67}}) {
      run(make_tensor(dtype, sizes));
    }
  }
  run(make_tensor(at::kFloat, {3, 20001}));
}

void run_with_two_tensors(CaseRunner& runner, const std::string& op,
                          const std::vector<c10::IValue>& more, Values values) {
  const auto run = [&](const at::Tensor& left, const at::Tensor& right) {
    runner.run(op, with(left, with(right, more)));
  };
  const auto make_right = [&](at::ScalarType dtype, const std::vector<int64_t>& sizes) {
    return make_tensor(dtype, sizes, Layout::kContiguous, values);
  };
  for (const at::ScalarType dtype : kAllDtypes) {
    const at::Tensor plain = make_right(dtype, {2, 3, 4, 5});
    for (const Layout layout : kLayouts) run(make_tensor(dtype, {2, 3, 4, 5}, layout), plain);
    run(plain, make_right(dtype, {4, 1}));
    run(plain, make_right(dtype, {}));
    run(make_tensor(dtype, {0, 3}), make_right(dtype, {3}));
    run(make_tensor(dtype, {1}), make_right(dtype, {1}));
    run(make_tensor(at::kInt, {3, 5}), make_right(dtype, {5}));
    run(make_tensor(dtype, {3, 5}), make_right(at::kFloat, {3, 1}));
    run(plain, make_wrapped_number(2));
    run(plain, make_wrapped_number(0.75));
    run(make_wrapped_number(1.5), plain);
  }
  run(make_tensor(at::kFloat, {3, 20001}), make_right(at::kFloat, {3, 20001}));
}

void CaseRunner::run_taken(const std::string& op, const std::vector<c10::IValue>& arguments) {
  EXPECT_EQ(run(op, arguments), Outcome::kTaken) << describe(op, arguments) << refusal_;
}

void CaseRunner::run_refused(const std::string& op, const std::vector<c10::IValue>& arguments) {
  EXPECT_EQ(run(op, arguments), Outcome::kRefused) << describe(op, arguments) << refusal_;
}

void CaseRunner::expect_all_taken() const {
  for (const KernelEntry& entry : table_) {
    EXPECT_TRUE(taken_.contains(entry.operator_name))
        << entry.operator_name << " has no case that its kernel takes";
  }
}

namespace {

class LoneKernel {
 public:
  LoneKernel(const c10::OperatorHandle& op, const std::vector<c10::IValue>& arguments,
             const std::vector<c10::IValue>& results, const std::vector<bool>& is_used,
             PrepareKernel prepare)
      : is_compared_(is_used.empty() ? std::vector<bool>(results.size(), true) : is_used),
        is_in_place_(op.schema().name().ends_with('_')) {
    KernelCall call{
        op, duplicate(arguments), std::vector<bool>(arguments.size(), false), {}, is_compared_};
    for (const c10::IValue& result : results) {
      call.outputs.push_back(is_in_place_ ? call.arguments[0].toTensor()
                                          : garbage_like(result.toTensor()));
    }
    kernel_ = prepare(call);
    inputs_ = aliases_of(tensors_of(call.arguments));
    outputs_ = aliases_of(call.outputs);
  }

  bool takes_call() const { return kernel_ != nullptr; }

  std::string difference(const std::vector<c10::IValue>& arguments,
                         const std::vector<c10::IValue>& expected) {
    copy_blocks(tensors_of(arguments), inputs_);
    if (!is_in_place_) std::ranges::for_each(outputs_, fill_with_garbage);
    try {
      kernel_->run();
    } catch (const std::exception& error) {
      return error.what();
    }
    for (size_t i = 0; i < expected.size(); ++i) {
      const at::Tensor& result = expected[i].toTensor();
      if (!is_compared_[i] || same_bits(outputs_[i], result)) continue;
      return fmt::format("result {} differs", i) +
             (result.numel() <= 64 ? c10::str("\n", outputs_[i], "\nexpected\n", result) : "");
    }
    return "";
  }

  void move_memory() {
    std::set<const c10::StorageImpl*> moved;
    std::vector<at::Tensor> all = inputs_;
    all.insert(all.end(), outputs_.begin(), outputs_.end());
    for (const at::Tensor& tensor : all) {
      if (moved.contains(tensor.storage().unsafeGetStorageImpl())) continue;
      const c10::StorageImpl* storage = torch_ir::move_memory(tensor, old_memory_);
      moved.insert(storage);
      kernel_->on_moved(storage);
    }
  }

 private:
  std::vector<bool> is_compared_;
  bool is_in_place_;
  std::unique_ptr<PreparedKernel> kernel_;
  std::vector<at::Tensor> inputs_;
  std::vector<at::Tensor> outputs_;
  std::vector<c10::DataPtr> old_memory_;
};

}  // namespace

CaseRunner::Outcome CaseRunner::run(const std::string& op_name, std::vector<c10::IValue> arguments,
                                    const std::vector<bool>& is_used) {
  const c10::InferenceMode no_autograd;
  const c10::OperatorHandle op =
      c10::Dispatcher::singleton().findSchema(torch::jit::parseName(op_name)).value();
  const auto& parameters = op.schema().arguments();
  for (size_t i = arguments.size(); i < parameters.size(); ++i) {
    arguments.push_back(parameters[i].default_value().value_or(c10::IValue()));
  }
  const std::string text = describe(op_name, arguments);
  const PrepareKernel prepare = find_kernel(op_name);
  if (prepare == nullptr) {
    ADD_FAILURE() << op_name << " has no kernel";
    return Outcome::kRefused;
  }
  refusal_.clear();
  std::vector<c10::IValue> expected;
  try {
    expected = call_dispatcher(op, arguments);
  } catch (const std::exception& error) {
    refusal_ = error.what();
    return Outcome::kNotACase;
  }
  LoneKernel kernel(op, arguments, expected, is_used, prepare);
  if (!kernel.takes_call()) return Outcome::kRefused;
  taken_.insert(op_name);
  EXPECT_EQ(kernel.difference(arguments, expected), "") << text << ", first run";
  change_data(arguments);
  try {
    expected = call_dispatcher(op, arguments);
  } catch (const std::exception&) {
    return Outcome::kTaken;
  }
  EXPECT_EQ(kernel.difference(arguments, expected), "") << text << ", second run";
  kernel.move_memory();
  EXPECT_EQ(kernel.difference(arguments, expected), "") << text << ", after its memory moved";
  return Outcome::kTaken;
}

}  // namespace torch_ir
