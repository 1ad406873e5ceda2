// The rules for pickles of torch.save, torch::save and TorchScript: the allowed names, the results
// of calls, and the tensors that they describe.
//
// The allowed names are those of torch.load(weights_only=True), without those that need Python,
// plus more plain data. Harmless things that no reader needs (sparse and quantized tensors, NumPy
// arrays, sets) become PickleValue::Unsupported, so that a checkpoint with one still loads. Tensors
// are only noted, and made once the pickle is known to be a tree, so that messages can name their
// place.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/weights/pickle_value.h"
#include "torch_ir/weights/storage_tensor.h"

namespace torch_ir {

using PickleItems = std::vector<PickleValue::Pointer>;

// A storage that a pickle refers to by its persistent id.
struct PendingStorage {
  // Equal for the same storage.
  std::string key;
  // None for untyped storages, which count bytes.
  std::optional<c10::ScalarType> dtype;
  int64_t num_bytes = 0;
  // The original device: "cpu", "cuda:0", "meta".
  std::string location;
};

struct PendingTensor {
  // Undefined until the tensor is made.
  PickleValue* value;
  // Index into `PendingTensors::storages`.
  size_t storage;
  TensorView view;
  bool is_conjugate = false;
  bool is_negative = false;
};

struct PendingTensors {
  std::vector<PendingStorage> storages;
  std::vector<PendingTensor> tensors;
};

// "holds a pickled object of class 'argparse.Namespace'; only tensors ..."
std::string foreign_problem(const std::string& name);

class TorchRules {
 public:
  // With `reads_objects`, TorchScript classes ("__torch__.Net") may be named too; their objects
  // become PickleValue::Object.
  TorchRules(PickleArena& arena, bool reads_objects, ForeignNames foreign)
      : arena_(arena), reads_objects_(reads_objects), foreign_(foreign) {}

  // Resolves `name` of `module`. Throws WeightError if it may not be named.
  PickleValue* find_global(std::string_view module, std::string_view name);
  // Calls `callable` with `arguments`. Throws WeightError if it cannot be called like this.
  PickleValue* call(const PickleValue& callable, const PickleItems& arguments);
  // Applies the saved `state` to `object`.
  void set_state(PickleValue& object, const PickleValue& state);
  // Resolves a persistent id, that of a storage.
  PickleValue* load_persistent(const PickleValue& id);

  const PendingTensors& tensors() const { return tensors_; }

 private:
  PickleValue* call_foreign(const PickleValue& callable, const PickleItems& arguments);

  PickleArena& arena_;
  bool reads_objects_;
  ForeignNames foreign_;
  PendingTensors tensors_;
};

}  // namespace torch_ir
