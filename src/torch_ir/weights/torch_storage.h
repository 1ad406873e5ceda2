// The storages that pickles of PyTorch refer to by persistent ids.
//
// Used by torch_rules.cc.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "torch_ir/weights/pickle_value.h"

namespace torch_ir {

// A storage as one of its persistent ids has it.
struct PendingStorage {
  // Equal for storages that are one.
  std::string key;
  // None for untyped storages, which count bytes.
  std::optional<c10::ScalarType> dtype;
  int64_t num_bytes = 0;
  // Where it was: "cpu", "cuda:0", "meta".
  std::string location;
};

// Whether a name with its module ("torch.FloatStorage") is that of a class of storages.
bool is_storage_class(std::string_view name);

// Throws WeightError for what is no id of a storage, and for impossible sizes.
PendingStorage read_storage(const PickleValue& id);

}  // namespace torch_ir
