// What a pickle may name: the one list of it.
//
// Used by torch_rules.cc. The list is that of torch.load(weights_only=True), less what would need
// Python and more of what is plain data. What is known and harmless but no tensor of ours (sparse,
// quantized, NumPy's) becomes a PickleValue::Unsupported, so that a checkpoint that has one beside
// its weights still loads.
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>
#include <string_view>

#include "torch_ir/weights/pending_tensors.h"
#include "torch_ir/weights/pickle.h"
#include "torch_ir/weights/pickle_arena.h"
#include "torch_ir/weights/pickle_value.h"

namespace torch_ir {

// A call of a global.
struct PickleCall {
  std::string_view name;
  const PickleItems& arguments;
  PickleArena& arena;
  PendingTensors& tensors;
};

struct PickleGlobal {
  // With its module: "collections.OrderedDict".
  std::string_view name;
  // Null where it is a value that can not be called.
  PickleValue* (*call)(const PickleCall&);
};

// Null for all that may not be named.
const PickleGlobal* find_pickle_global(std::string_view name);

// Names that are values: dtypes ("torch.float32"), quantization schemes, memory formats.
bool is_torch_constant(std::string_view name);

// A class of storages. Without its module, which says nothing: all is loaded to the CPU.
struct StorageClass {
  std::string_view name;
  // None for untyped storages.
  std::optional<c10::ScalarType> dtype;
};

// By its name with the module ("torch.FloatStorage"); null where there is none.
const StorageClass* find_storage_class(std::string_view name);

}  // namespace torch_ir
