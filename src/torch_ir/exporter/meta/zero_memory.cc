#include "torch_ir/exporter/meta/zero_memory.h"

#include <c10/core/Allocator.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

struct Mapping {
  void* address;
  size_t bytes;
};

void unmap(void* context) {
  Mapping* mapping = static_cast<Mapping*>(context);
  munmap(mapping->address, mapping->bytes);
  delete mapping;
}

class ZeroAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    const c10::Device cpu(c10::DeviceType::CPU);
    if (bytes == 0) return {nullptr, cpu};
    // Without a reservation: what is never written need not fit into memory.
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) {
      throw Error(fmt::format("can not map {} bytes of zeros: {}", bytes, std::strerror(errno)));
    }
    return {address, new Mapping{address, bytes}, &unmap, cpu};
  }

  void copy_data(void* target, const void* source, size_t bytes) const override {
    default_copy_data(target, source, bytes);
  }
};

}  // namespace

c10::Storage zero_storage(size_t bytes) {
  static ZeroAllocator allocator;
  return c10::Storage(c10::Storage::use_byte_size_t(), bytes, &allocator, /*resizable=*/true);
}

}  // namespace torch_ir
