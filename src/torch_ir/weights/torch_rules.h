// The rules of the pickles that torch.save, torch::save and TorchScript write: what they may name,
// what a call gives, and the tensors that they describe.
//
// Used by torch_file.cc. What may be named is one list, that of torch.load(weights_only=True), less
// what would need Python and more of what is plain data. What is known and harmless but nothing
// that anybody reads here (sparse and quantized tensors, NumPy's arrays, sets) becomes a
// PickleValue::Unsupported, so that a checkpoint that has one beside its weights still loads.
// Tensors are noted only, and made when the pickle has been read and found to be a tree, so that
// messages can say where in it they are.
#pragma once

#include <string_view>
#include <vector>

#include "torch_ir/weights/pickle.h"
#include "torch_ir/weights/pickle_value.h"
#include "torch_ir/weights/storage_tensor.h"
#include "torch_ir/weights/torch_storage.h"

namespace torch_ir {

struct PendingTensor {
  // An undefined tensor until then.
  PickleValue* value;
  // Its storage in `PendingTensors::storages`.
  size_t storage;
  TensorView view;
  bool is_conjugate = false;
  bool is_negative = false;
};

struct PendingTensors {
  std::vector<PendingStorage> storages;
  std::vector<PendingTensor> tensors;
};

class TorchRules : public PickleRules {
 public:
  // With `reads_objects`, classes of TorchScript ("__torch__.Net") may be named too; their objects
  // become PickleValue::Object.
  TorchRules(PickleArena& arena, bool reads_objects)
      : arena_(arena), reads_objects_(reads_objects) {}

  PickleValue* find_global(std::string_view module, std::string_view name) override;
  PickleValue* call(const PickleValue& callable, const PickleItems& arguments) override;
  void set_state(PickleValue& object, const PickleValue& state) override;
  PickleValue* load_persistent(const PickleValue& id) override;

  // What has been noted so far.
  const PendingTensors& tensors() const { return tensors_; }

 private:
  PickleArena& arena_;
  bool reads_objects_;
  PendingTensors tensors_;
};

}  // namespace torch_ir
