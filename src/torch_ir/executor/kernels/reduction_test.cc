#include <gtest/gtest.h>

#include "torch_ir/executor/kernels/testing/kernel_cases.h"

namespace torch_ir {
namespace {

// Calls with tensors of all dtypes and layouts, after each of which `more` follows.
void run_for_dims(CaseRunner& runner, const std::string& op,
                  const std::vector<std::vector<c10::IValue>>& more) {
  for (const std::vector<c10::IValue>& arguments : more) run_with_one_tensor(runner, op, arguments);
}

TEST(ReductionKernels, GiveTheBitsOfTheDispatcher) {
  CaseRunner runner(reduction_kernels());
  const c10::IValue none;
  const std::vector<int64_t> no_dims;
  const std::vector<int64_t> first = {0};
  const std::vector<int64_t> last = {-1};
  const std::vector<int64_t> planes = {2, 3};
  for (const char* op : {"aten::all", "aten::any", "aten::max", "aten::min", "aten::prod",
                         "aten::argmax", "aten::argmin", "aten::aminmax"}) {
    run_with_one_tensor(runner, op);
  }
  for (const char* op : {"aten::all.dim", "aten::any.dim", "aten::max.dim", "aten::min.dim",
                         "aten::prod.dim_int", "aten::argmax", "aten::argmin", "aten::aminmax"}) {
    run_for_dims(runner, op, {{0, false}, {-1, true}, {1, false}});
  }
  for (const char* op : {"aten::amax", "aten::amin", "aten::mean.dim", "aten::sum.dim_IntList",
                         "aten::all.dims", "aten::any.dims"}) {
    run_for_dims(runner, op,
                 {{no_dims, false}, {first, false}, {last, true}, {planes, false}, {planes, true}});
  }
  run_for_dims(runner, "aten::sum.dim_IntList", {{none, false}, {last, false, at::kDouble}});
  run_for_dims(runner, "aten::mean.dim", {{none, false}, {last, false, at::kFloat}});
  run_for_dims(runner, "aten::cumsum", {{0}, {-1}, {1, at::kDouble}});
  run_for_dims(runner, "aten::cumprod", {{0}, {-1}});
  for (const char* op : {"aten::std.correction", "aten::var.correction"}) {
    run_for_dims(runner, op, {{none, 1, false}, {last, 0, true}, {planes, none, false}});
  }
  for (const at::Scalar& order : {at::Scalar(2), at::Scalar(1), at::Scalar(0), at::Scalar(3.5)}) {
    run_for_dims(runner, "aten::linalg_vector_norm",
                 {{order, none, false}, {order, last, true}, {order, planes, false}});
    run_for_dims(runner, "aten::norm.ScalarOpt_dim", {{order, last, false}, {order, first, true}});
    run_for_dims(runner, "aten::norm.ScalarOpt_dim_dtype", {{order, last, false, at::kDouble}});
  }
  for (const bool flag : {true, false}) {
    run_for_dims(runner, "aten::topk", {{2, -1, flag, true}, {1, 0, flag, true}});
    run_for_dims(runner, "aten::sort.stable", {{flag, -1, false}, {true, 0, flag}});
  }
  run_for_dims(runner, "aten::renorm", {{2, 0, 1.5}});
  runner.expect_all_taken();
}

}  // namespace
}  // namespace torch_ir
