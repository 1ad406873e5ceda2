#include "torch_ir/ir/builtin_operators.h"

#include <torch/csrc/jit/frontend/function_schema_parser.h>

#include <string>
#include <unordered_map>

namespace torch_ir {
namespace {

struct Entry {
  const char* op_type;
  // Arguments and results, as LibTorch writes schemas, with the argument names of the Python
  // functions, which archives use.
  const char* signature;
};

constexpr const char* kUnary = "(Scalar a) -> Scalar";
constexpr const char* kBinary = "(Scalar a, Scalar b) -> Scalar";

constexpr Entry kEntries[] = {
    {"_operator.add", kBinary},
    {"_operator.and_", kBinary},
    {"_operator.eq", kBinary},
    {"_operator.floordiv", kBinary},
    {"_operator.ge", kBinary},
    {"_operator.gt", kBinary},
    {"_operator.le", kBinary},
    {"_operator.lshift", kBinary},
    {"_operator.lt", kBinary},
    {"_operator.mod", kBinary},
    {"_operator.mul", kBinary},
    {"_operator.ne", kBinary},
    {"_operator.neg", kUnary},
    {"_operator.or_", kBinary},
    {"_operator.pos", kUnary},
    {"_operator.pow", kBinary},
    {"_operator.rshift", kBinary},
    {"_operator.sub", kBinary},
    {"_operator.truediv", kBinary},
    {"math.ceil", "(Scalar x) -> Scalar"},
    {"math.floor", "(Scalar x) -> Scalar"},
    {"math.trunc", "(Scalar x) -> Scalar"},
    {"torch._sym_sqrt", kUnary},
    {"torch.sym_float", kUnary},
    {"torch.sym_int", kUnary},
    {"torch.sym_ite", "(Scalar b, Scalar t, Scalar f) -> Scalar"},
    {"torch.sym_max", kBinary},
    {"torch.sym_min", kBinary},
    {"torch.sym_not", kUnary},
    {kCond.data(), "(Tensor pred, Tensor[] operands) -> Tensor[]"},
    {kWhileLoop.data(), "(Tensor[] carried_inputs, Tensor[] additional_inputs) -> Tensor[]"},
};

using Table = std::unordered_map<std::string_view, c10::FunctionSchema>;

Table make_table() {
  Table table;
  for (const Entry& entry : kEntries) {
    table.emplace(entry.op_type,
                  torch::jit::parseSchema(std::string("builtin::call") + entry.signature));
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
  return op_type == kCond || op_type == kWhileLoop ? 2 : 0;
}

}  // namespace torch_ir
