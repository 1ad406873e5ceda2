#include "torch_ir/base/byte_range.h"

#include "torch_ir/base/file.h"

namespace torch_ir {

ByteRange map_file(const std::string& path) {
  std::shared_ptr<MappedFile> file = MappedFile::open(path);
  std::byte* data = file->data();
  const size_t size = file->size();
  return {data, size, std::move(file)};
}

}  // namespace torch_ir
