// Tensors that a pickle describes, before the bytes of their storages are at hand.
//
// Used by pickle_globals.cc, which notes them, and by the readers of files, which make them when
// the pickle has been read: in the legacy format the storages come behind it.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "torch_ir/base/file.h"
#include "torch_ir/weights/pickle_value.h"
#include "torch_ir/weights/storage_tensor.h"

namespace torch_ir {

// A storage as one of its persistent ids has it.
struct PendingStorage {
  // Equal for storages that are one.
  std::string key;
  // None for untyped storages, which count bytes.
  std::optional<c10::ScalarType> dtype;
  // Of all elements, of which a view (an early form of sharing) begins with element `offset`.
  int64_t num_bytes = 0;
  int64_t offset = 0;
  // Where it was: "cpu", "cuda:0", "meta".
  std::string location;
};

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

// The bytes of a storage, at least `num_bytes`. Throws WeightError where there are none.
using FindStorage = std::function<ByteRange(const PendingStorage&)>;

// Makes all of them. Storages of one key share memory. Throws WeightError, naming the place of the
// tensor below `root`.
void make_tensors(const PendingTensors& pending, const FindStorage& find_storage,
                  bool is_big_endian, const PickleValue& root);

}  // namespace torch_ir
