// The main function of tests that run models; the runner starts the same program as a worker.

#include <gmock/gmock.h>

#include "harness/run/run_as_child.h"

int main(int argc, char** argv) {
  if (const auto status = torch_ir::run_as_child(argc, argv)) return *status;
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
