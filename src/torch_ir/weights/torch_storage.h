// The storages that pickles of PyTorch refer to by persistent ids.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "torch_ir/weights/pickle_value.h"

namespace torch_ir {

struct PendingStorage {
  // Equal for the same storage.
  std::string key;
  // None for untyped storages, which count bytes.
  std::optional<c10::ScalarType> dtype;
  int64_t num_bytes = 0;
  // The original device: "cpu", "cuda:0", "meta".
  std::string location;
};

bool is_storage_class(std::string_view name);

// Throws WeightError for an invalid id or impossible sizes.
PendingStorage read_storage(const PickleValue& id);

}  // namespace torch_ir
