#include "torch_ir/weights/storage_tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <memory>

#include "torch_ir/base/error.h"
#include "torch_ir/weights/testing/test_support.h"

namespace torch_ir {
namespace {

using ::testing::ThrowsMessage;

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

c10::Storage storage_of(size_t size) { return make_storage(range_of(std::string(size, 'a'))); }

TensorView view_of(std::vector<int64_t> sizes, std::vector<int64_t> strides, int64_t offset = 0) {
  return {c10::ScalarType::Short, std::move(sizes), std::move(strides), offset};
}

void expect_no_tensor(const c10::Storage& storage, const TensorView& view,
                      const std::string& message) {
  EXPECT_THAT([&] { make_tensor(storage, view); }, ThrowsMessage<WeightError>(message));
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
  const c10::Storage copy = make_storage(bytes.part(16, 100));
  EXPECT_EQ(std::memcmp(copy.data(), bytes.data, 100), 0);
}

TEST(StorageTensorTest, MemoryIsRepeatedUpToALimit) {
  const c10::Storage storage = storage_of(8);
  const int64_t rows = int64_t{1} << 20;
  const int64_t columns = int64_t{1} << 15;
  EXPECT_EQ(make_tensor(storage, view_of({rows, columns}, {0, 0})).numel(), rows * columns);
  EXPECT_EQ(make_tensor(storage, view_of({0, rows, rows}, {0, 0, 0})).numel(), 0);
  expect_no_tensor(storage, view_of({rows, columns + 1}, {0, 0}),
                   "shape [1048576, 32769] with strides [0, 0] at offset 0 repeats 8 bytes of "
                   "memory to 68721573888; the limit is 68719476736");
}

TEST(StorageTensorTest, ViewsThatDoNotFitAreRefused) {
  const c10::Storage storage = storage_of(8);
  const auto expect_refused = [&](const std::vector<int64_t>& sizes,
                                  const std::vector<int64_t>& strides, int64_t offset,
                                  const std::string& problem) {
    expect_no_tensor(
        storage, view_of(sizes, strides, offset),
        fmt::format("shape [{}] with strides [{}] at offset {} {}", fmt::join(sizes, ", "),
                    fmt::join(strides, ", "), offset, problem));
  };
  expect_refused({5}, {1}, 0, "needs 10 bytes, but the storage has 8");
  expect_refused({}, {}, 4, "needs 10 bytes, but the storage has 8");
  expect_refused({2, 2}, {3, 2}, 0, "needs 12 bytes, but the storage has 8");
  expect_refused({-1}, {1}, 0, "has a negative number");
  expect_refused({2}, {-1}, 3, "has a negative number");
  expect_refused({1}, {1}, -1, "has a negative number");
  expect_refused({1}, {1}, kLargest, "is too large");
  expect_refused({3}, {kLargest}, 0, "is too large");
  expect_refused({kLargest, 2}, {0, 0}, 0, "is too large");
  expect_refused({kLargest, kLargest, 0}, {0, 0, 0}, 0, "is too large");
  expect_no_tensor(storage_of(7), view_of({4}, {1}),
                   "shape [4] with strides [1] at offset 0 needs 8 bytes, but the storage has 7");
  expect_no_tensor(storage, view_of({1, 1}, {1}),
                   "strides [1] of shape [1, 1]: expected one for each dimension");
  const std::vector<int64_t> ones(65, 1);
  expect_no_tensor(storage, view_of(ones, ones), "65 dimensions; a tensor can have at most 64");
}

}  // namespace
}  // namespace torch_ir
