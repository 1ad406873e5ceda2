// The rules of the pickles that torch.save, torch::save and TorchScript write.
//
// Used by torch_file.cc: names are looked up in pickle_globals.h, persistent ids are storages.
#pragma once

#include <string>
#include <string_view>

#include "torch_ir/weights/pending_tensors.h"
#include "torch_ir/weights/pickle.h"
#include "torch_ir/weights/pickle_arena.h"

namespace torch_ir {

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
