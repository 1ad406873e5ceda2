#include "torch_ir/weights/storage_tensor.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "torch_ir/base/error.h"
#include "torch_ir/weights/testing/test_support.h"

namespace torch_ir {
namespace {

using ::testing::ThrowsMessage;

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

// Eight bytes: the elements 1, 2, 3, 4 as int16.
c10::Storage four_numbers() {
  return make_storage(range_of(std::string("\x01\0\x02\0\x03\0\x04\0", 8)));
}

TensorView view_of(std::vector<int64_t> sizes, std::vector<int64_t> strides, int64_t offset = 0) {
  return {c10::ScalarType::Short, std::move(sizes), std::move(strides), offset};
}

void expect_no_tensor(const c10::Storage& storage, const TensorView& view,
                      const std::string& message) {
  EXPECT_THAT([&] { make_tensor(storage, view); }, ThrowsMessage<WeightError>(message));
}

TEST(StorageTensorTest, ViewsAreWhereTheySay) {
  const c10::Storage storage = four_numbers();
  const at::Tensor transposed = make_tensor(storage, view_of({2, 2}, {1, 2}));
  EXPECT_TRUE(at::equal(transposed, at::tensor({1, 3, 2, 4}, at::kShort).view({2, 2})));
  EXPECT_TRUE(
      at::equal(make_tensor(storage, view_of({2}, {2}, 1)), at::tensor({2, 4}, at::kShort)));
  EXPECT_TRUE(
      at::equal(make_tensor(storage, view_of({3}, {0}, 3)), at::tensor({4, 4, 4}, at::kShort)));
  EXPECT_EQ(make_tensor(storage, view_of({}, {}, 2)).item<int>(), 3);
  EXPECT_FALSE(transposed.requires_grad());
}

TEST(StorageTensorTest, TensorsOfOneStorageShareItsMemory) {
  const c10::Storage storage = four_numbers();
  const at::Tensor whole = make_tensor(storage, view_of({4}, {1}));
  make_tensor(storage, view_of({}, {}, 1)).fill_(7);
  EXPECT_EQ(whole[1].item<int>(), 7);
}

TEST(StorageTensorTest, TensorsWithoutElementsNeedNoBytes) {
  const c10::Storage storage = make_storage({});
  EXPECT_EQ(make_tensor(storage, view_of({2, 0}, {1, 1})).sizes(), at::IntArrayRef({2, 0}));
  EXPECT_EQ(make_tensor(storage, view_of({0}, {1}, 5)).numel(), 0);
}

TEST(StorageTensorTest, AlignedBytesAreUsedInPlaceAndKept) {
  ByteRange bytes = range_of(std::string(128, 'a'));
  const std::weak_ptr<const void> owner = bytes.owner;
  at::Tensor tensor = make_tensor(make_storage(bytes), view_of({64}, {1}));
  EXPECT_EQ(tensor.const_data_ptr(), bytes.data);
  bytes = {};
  EXPECT_FALSE(owner.expired());
  tensor = at::Tensor();
  EXPECT_TRUE(owner.expired());
}

TEST(StorageTensorTest, MisalignedBytesAreCopied) {
  const ByteRange bytes = range_of(std::string(1 << 21, 'a'));
  const auto is_in_place = [&](size_t offset, size_t size) {
    return make_storage(bytes.part(offset, size)).data() == bytes.data + offset;
  };
  EXPECT_TRUE(is_in_place(64, 100));
  EXPECT_FALSE(is_in_place(16, 100)) << "small ones get the alignment of the allocator";
  EXPECT_TRUE(is_in_place(16, (1 << 20) + 1));
  EXPECT_FALSE(is_in_place(8, (1 << 20) + 1)) << "not aligned for complex128";
}

TEST(StorageTensorTest, MemoryIsRepeatedUpToALimit) {
  const c10::Storage storage = four_numbers();
  const int64_t rows = int64_t{1} << 20;
  const int64_t columns = int64_t{1} << 15;
  EXPECT_EQ(make_tensor(storage, view_of({rows, columns}, {0, 0})).numel(), rows * columns);
  EXPECT_EQ(make_tensor(storage, view_of({0, rows, rows}, {0, 0, 0})).numel(), 0);
  expect_no_tensor(storage, view_of({rows, columns + 1}, {0, 0}),
                   "shape [1048576, 32769] with strides [0, 0] at offset 0 repeats 8 bytes of "
                   "memory to 68721573888; the limit is 68719476736");
}

TEST(StorageTensorTest, ViewsThatDoNotFitAreRefused) {
  const c10::Storage storage = four_numbers();
  expect_no_tensor(storage, view_of({5}, {1}),
                   "shape [5] with strides [1] at offset 0 needs 10 bytes, but the storage has 8");
  expect_no_tensor(storage, view_of({}, {}, 4),
                   "shape [] with strides [] at offset 4 needs 10 bytes, but the storage has 8");
  expect_no_tensor(
      storage, view_of({2, 2}, {3, 2}),
      "shape [2, 2] with strides [3, 2] at offset 0 needs 12 bytes, but the storage has 8");
  expect_no_tensor(make_storage(range_of(std::string(7, 'a'))), view_of({4}, {1}),
                   "shape [4] with strides [1] at offset 0 needs 8 bytes, but the storage has 7");
  expect_no_tensor(storage, view_of({-1}, {1}),
                   "shape [-1] with strides [1] at offset 0 has a negative number");
  expect_no_tensor(storage, view_of({2}, {-1}, 3),
                   "shape [2] with strides [-1] at offset 3 has a negative number");
  expect_no_tensor(storage, view_of({1}, {1}, -1),
                   "shape [1] with strides [1] at offset -1 has a negative number");
  const std::string large = std::to_string(kLargest);
  expect_no_tensor(storage, view_of({1}, {1}, kLargest),
                   "shape [1] with strides [1] at offset " + large + " is too large");
  expect_no_tensor(storage, view_of({3}, {kLargest}),
                   "shape [3] with strides [" + large + "] at offset 0 is too large");
  expect_no_tensor(storage, view_of({kLargest, 2}, {0, 0}),
                   "shape [" + large + ", 2] with strides [0, 0] at offset 0 is too large");
  expect_no_tensor(
      storage, view_of({kLargest, kLargest, 0}, {0, 0, 0}),
      "shape [" + large + ", " + large + ", 0] with strides [0, 0, 0] at offset 0 is too large");
  expect_no_tensor(storage, view_of({1, 1}, {1}),
                   "strides [1] of shape [1, 1]: expected one for each dimension");
  const std::vector<int64_t> ones(65, 1);
  expect_no_tensor(storage, view_of(ones, ones), "65 dimensions; a tensor can have at most 64");
}

}  // namespace
}  // namespace torch_ir
