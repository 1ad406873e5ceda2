// CommandBackendTest: for tests of executors, a small graph and commands that run it.
#pragma once

#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/backend/command_backend.h"
#include "torch_ir/base/error.h"
#include "torch_ir/ir/resolve.h"
#include "torch_ir/ir/testing/test_graphs.h"
#include "torch_ir/weights/safetensors.h"

namespace torch_ir {

// relu(linear(x, w)) * mask, with the mask as a constant.
inline IR masked_linear() {
  IR ir = TestGraphBuilder("Small")
              .input("x", {1, 2})
              .weight("p_fc_weight", "fc.weight", {2, 2})
              .weight("c_mask", "mask", {2})
              .op("linear", "aten.linear.default", {"x", "p_fc_weight"}, {1, 2})
              .op("relu", "aten.relu.default", {"linear"}, {1, 2})
              .op("mul", "aten.mul.Tensor", {"relu", "c_mask"}, {1, 2})
              .output("mul")
              .build();
  ir.constants.insert("mask", at::tensor({1.0f, 0.5f}));
  return ir;
}

class CommandBackendTest : public ::testing::Test {
 protected:
  CommandBackendTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    weights_.insert("fc.weight", at::tensor({1.0f, 2.0f, -3.0f, 0.5f}).view({2, 2}));
    weights_.insert("unused", at::ones({3}));
  }
  ~CommandBackendTest() override { std::filesystem::remove_all(folder_); }

  // For a command that need not use its files.
  std::unique_ptr<Backend> backend(const std::string& command, bool has_intermediates = false) {
    return raw_backend(command + "; :" + kFiles, has_intermediates);
  }
  std::unique_ptr<Backend> raw_backend(const std::string& command, bool has_intermediates = false) {
    return make_command_backend({.executor = command, .executor_intermediates = has_intermediates},
                                folder_ + "/it's a folder");
  }

  Case graph_case(const StateDict& weights, const std::vector<at::Tensor>& inputs) const {
    return Case{.weights = weights, .inputs = inputs}.with(resolve(ir_));
  }
  Case graph_case() const { return graph_case(weights_, inputs_); }

  std::vector<at::Tensor> run(const std::string& command) {
    return backend(command)->run(graph_case());
  }

  // The error message of a run.
  std::string error_of_run(Backend& backend) {
    try {
      backend.run(graph_case());
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  std::string error_of(const std::string& command) { return error_of_run(*backend(command)); }

  // Writes a file with these tensors, and returns a command that copies it to `place`.
  std::string hand_in(const StateDict& tensors, const std::string& place = "{outputs}") {
    save_weights_safetensors(tensors, folder_ + "/given.safetensors");
    return "cp " + folder_ + "/given.safetensors " + place;
  }

  // Matches an action that throws such an error.
  static auto is_unsupported(const std::string& message) {
    return testing::Throws<Error>(
        testing::AllOf(testing::Property(&Error::is_unsupported, true),
                       testing::Property(&Error::what, testing::StrEq(message))));
  }

  // What every command must name.
  static inline const std::string kFiles = " {ir} {weights} {inputs} {outputs}";

  const std::string folder_ = ::testing::TempDir() + "command_backend_test";
  IR ir_ = masked_linear();
  StateDict weights_;
  std::vector<at::Tensor> inputs_ = {at::tensor({2.0f, 3.0f}).view({1, 2})};
};

}  // namespace torch_ir
