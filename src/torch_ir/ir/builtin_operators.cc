#include "torch_ir/ir/builtin_operators.h"

#include <torch/csrc/jit/frontend/function_schema_parser.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace torch_ir {
namespace {

using Table = std::unordered_map<std::string_view, c10::FunctionSchema>;

Table make_table() {
  // Arguments and results, as LibTorch writes schemas, with the argument names of the Python
  // functions, which archives use.
  static const std::pair<const char*, std::vector<std::string_view>> signatures[] = {
      {"(Scalar a) -> Scalar",
       {"_operator.neg", "_operator.pos", "torch._sym_sqrt", "torch.sym_float", "torch.sym_int",
        "torch.sym_not"}},
      {"(Scalar x) -> Scalar", {"math.ceil", "math.floor", "math.trunc"}},
      {"(Scalar a, Scalar b) -> Scalar",
       {"_operator.add", "_operator.and_", "_operator.eq", "_operator.floordiv", "_operator.ge",
        "_operator.gt", "_operator.le", "_operator.lshift", "_operator.lt", "_operator.mod",
        "_operator.mul", "_operator.ne", "_operator.or_", "_operator.pow", "_operator.rshift",
        "_operator.sub", "_operator.truediv", "torch.sym_max", "torch.sym_min"}},
      {"(Scalar b, Scalar t, Scalar f) -> Scalar", {"torch.sym_ite"}},
      {"(Tensor pred, Tensor[] operands) -> Tensor[]", {kCond}},
      {"(Tensor[] carried_inputs, Tensor[] additional_inputs) -> Tensor[]", {kWhileLoop}},
      {"(Tensor[] init, Tensor[] xs, Tensor[] additional_inputs) -> Tensor[]", {kScan}},
      {"(Tensor[] xs, Tensor[] pos_args) -> Tensor[]", {kMap}},
  };
  Table table;
  for (const auto& [signature, op_types] : signatures) {
    const auto schema = torch::jit::parseSchema(std::string("builtin::call") + signature);
    for (const std::string_view op_type : op_types) table.emplace(op_type, schema);
  }
  return table;
}

}  // namespace

const c10::FunctionSchema* find_builtin_schema(std::string_view op_type) {
  static const Table table = make_table();
  const auto found = table.find(op_type);
  return found == table.end() ? nullptr : &found->second;
}

size_t num_graphs_of(std::string_view op_type) {
  if (op_type == kCond || op_type == kWhileLoop) return 2;
  return op_type == kScan || op_type == kMap ? 1 : 0;
}

bool is_higher_order(std::string_view op_type) { return op_type.starts_with("higher_order."); }

}  // namespace torch_ir
