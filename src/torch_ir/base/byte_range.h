// Bytes in memory, with what keeps them there.
//
// What readers of containers hand on: a whole mapped file, an entry of an archive, a storage of
// tensors. Copying one copies no bytes. The bytes are the reader's own (private pages or memory):
// writing to them reaches no file, but every range over the same bytes sees it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace torch_ir {

struct ByteRange {
  std::byte* data = nullptr;
  size_t size = 0;
  // The mapping or the buffer that the bytes are part of.
  std::shared_ptr<const void> owner = nullptr;

  std::string_view text() const { return {reinterpret_cast<const char*>(data), size}; }

  // `length` bytes from `offset` on, which must lie inside.
  ByteRange part(size_t offset, size_t length) const { return {data + offset, length, owner}; }
};

// The whole file at `path`, mapped. Throws Error as MappedFile does.
ByteRange map_file(const std::string& path);

}  // namespace torch_ir
