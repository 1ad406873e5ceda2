// Files: reading whole, mapping read-only, and writing so that a reader never sees half a file.
//
// Used by every room that touches the disk. All errors are torch_ir::Error and name the path and
// the system's reason.
#ifndef TORCH_IR_BASE_FILE_H_
#define TORCH_IR_BASE_FILE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace torch_ir {

// The whole content of `path`. A directory is an error.
std::string read_file(const std::string& path);

// Replaces `path` by `content`: written to a temporary name in the same folder, then renamed.
void write_file(const std::string& path, std::string_view content);

// A file written piece by piece under a temporary name. `commit()` gives it its own name; without
// it the destructor removes what was written, and a file that had the name before stays.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  [[noreturn]] void fail(const char* what);

  std::string path_;
  std::string temporary_path_;
  int descriptor_ = -1;
};

// A file mapped read-only into memory for as long as the object lives. An empty file has size 0
// and no data.
class MappedFile {
 public:
  static std::shared_ptr<const MappedFile> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  MappedFile() = default;

  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace torch_ir

#endif  // TORCH_IR_BASE_FILE_H_
