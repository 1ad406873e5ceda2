// The effects of a call on memory: the arguments that it writes, and the memory that its results
// may share.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/FunctionRef.h>

#include <string_view>
#include <unordered_map>
#include <vector>

namespace torch_ir {

// One entry for each argument of the schema.
struct OperatorEffects {
  std::vector<bool> writes;
  std::vector<bool> shares;
};

// Conservative: may report an argument as written or shared that is not, but never the reverse.
class EffectsTable {
 public:
  // `may_be_true` tells whether the argument at a position may be true in this call. The result is
  // valid until the next call.
  const OperatorEffects& of(const c10::OperatorHandle& op,
                            c10::function_ref<bool(size_t)> may_be_true);

 private:
  std::unordered_map<const c10::FunctionSchema*, OperatorEffects> by_schema_;
  OperatorEffects of_call_;
};

// The annotation of a list may be on the list or on its items.
bool is_write(const c10::AliasInfo& annotation);

// Whether `op_type` has the name of an operator that writes to its inputs ("vendor.add_.default").
// Without a schema, nothing else is known.
bool writes_by_name(std::string_view op_type);

}  // namespace torch_ir
