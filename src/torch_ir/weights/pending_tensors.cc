#include "torch_ir/weights/pending_tensors.h"

#include <ATen/ops/_conj.h>
#include <ATen/ops/_neg_view.h>
#include <fmt/format.h>

#include <unordered_map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/weights/pickle_tree.h"

namespace torch_ir {
namespace {

// A storage whose tensors have been made, and with what elements its bytes were swapped.
struct Made {
  c10::Storage storage;
  c10::ScalarType dtype;
};

size_t swapped_size(c10::ScalarType dtype) {
  return c10::elementSize(dtype) / (c10::isComplexType(dtype) ? 2 : 1);
}

class Maker {
 public:
  Maker(const FindStorage& find_storage, bool is_big_endian)
      : find_storage_(find_storage), is_big_endian_(is_big_endian) {}

  at::Tensor make(const PendingTensor& tensor, const PendingStorage& storage) {
    TensorView view = tensor.view;
    if (__builtin_add_overflow(view.storage_offset, storage.offset, &view.storage_offset)) {
      throw WeightError("its place in its storage is too large a number");
    }
    at::Tensor result = make_tensor(get_storage(storage, view.dtype), view);
    if (tensor.is_conjugate) result = at::_conj(result);
    if (tensor.is_negative) result = at::_neg_view(result);
    return result;
  }

 private:
  const c10::Storage& get_storage(const PendingStorage& storage, c10::ScalarType dtype) {
    auto known = made_.find(storage.key);
    if (known == made_.end()) {
      ByteRange bytes = find_storage_(storage);
      if (is_big_endian_) bytes = swap_byte_order(bytes, dtype);
      known = made_.emplace(storage.key, Made{make_storage(bytes), dtype}).first;
    }
    if (is_big_endian_ && swapped_size(known->second.dtype) != swapped_size(dtype)) {
      throw WeightError(fmt::format(
          "it shares storage '{}' of a big-endian file with a tensor of {}, and has dtype {} "
          "itself",
          printable(storage.key), dtype_name(known->second.dtype), dtype_name(dtype)));
    }
    return known->second.storage;
  }

  const FindStorage& find_storage_;
  bool is_big_endian_;
  std::unordered_map<std::string, Made> made_;
};

}  // namespace

void make_tensors(const PendingTensors& pending, const FindStorage& find_storage,
                  bool is_big_endian, const PickleValue& root) {
  Maker maker(find_storage, is_big_endian);
  for (const PendingTensor& tensor : pending.tensors) {
    try {
      tensor.value->value = maker.make(tensor, pending.storages[tensor.storage]);
    } catch (const WeightError& error) {
      const std::string place = find_place(root, *tensor.value);
      throw WeightError(fmt::format("holds a tensor{}{} that can not be read: {}",
                                    place.empty() ? "" : " under ", place, error.what()));
    }
  }
}

}  // namespace torch_ir
