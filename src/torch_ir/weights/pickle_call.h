// The arguments of calls in a pickle, checked.
//
// Used by the functions that pickle_globals.cc lists.
#pragma once

#include <cstddef>
#include <string>

#include "torch_ir/weights/pickle_globals.h"

namespace torch_ir {

[[noreturn]] void fail_call(const PickleCall& call, const std::string& what);

// Throws WeightError where the number of arguments is another.
void check_count(const PickleCall& call, size_t least, size_t most);

// Throws WeightError that argument `index` is of another type.
[[noreturn]] void fail_argument(const PickleCall& call, size_t index);

template <class T>
const T& get_argument(const PickleCall& call, size_t index) {
  const T* value = call.arguments[index]->get_if<T>();
  if (value == nullptr) fail_argument(call, index);
  return *value;
}

// --- Python's own ---

PickleValue* call_dict(const PickleCall& call);
PickleValue* call_default_dict(const PickleCall& call);
PickleValue* call_set(const PickleCall& call);
PickleValue* call_bytes(const PickleCall& call);
PickleValue* call_encode(const PickleCall& call);
PickleValue* call_complex(const PickleCall& call);

// --- PyTorch's ---

PickleValue* call_size(const PickleCall& call);
PickleValue* call_device(const PickleCall& call);
PickleValue* call_layout(const PickleCall& call);
PickleValue* call_parameter(const PickleCall& call);
PickleValue* call_first_argument(const PickleCall& call);
PickleValue* call_rebuild_tensor(const PickleCall& call);
PickleValue* call_rebuild_tensor_v2(const PickleCall& call);
PickleValue* call_rebuild_tensor_v3(const PickleCall& call);
PickleValue* call_rebuild_from_type(const PickleCall& call);

}  // namespace torch_ir
