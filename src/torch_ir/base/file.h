// Reads and maps files, and writes them so that a reader never sees half a file.
//
// All errors are torch_ir::Error and name the path and the system's reason.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace torch_ir {

// File names built from other text are cut to this size: with prefix and suffix, a name may have
// at most 255 bytes.
inline constexpr size_t kMaxNameBytes = 200;

// Prefix of the hidden folders whose files are published together (work_directory.h).
inline constexpr std::string_view kWorkDirectoryPrefix = ".torch-ir-run-";

// Whether a file lies in such a folder: it need not be flushed before it is published.
bool is_in_work_directory(std::string_view path);

// Reads all of `path`, a file or a pipe, waiting for the pipe; /dev/null is empty. A directory or
// another device is an error.
std::string read_file(const std::string& path);

void write_file(const std::string& path, std::string_view content);

// Writes `bytes` to a file, a pipe or a terminal. False for a failure, whose reason is in errno.
bool write_all(int descriptor, std::string_view bytes);

// Resolves a relative `path` against the directory where the user typed `bazel run`
// (BUILD_WORKING_DIRECTORY). "" gives that directory.
std::string user_path(const std::string& path);

// Changes to that directory if it differs from the current one.
void enter_user_directory();

// Flushes the directory entries of `folder`. Ignores file systems that refuse.
void flush_folder(const std::string& folder);

// A file written under a temporary name in the same folder, ".NAME.torch-ir-tmp".
//
// `commit()` flushes it and gives it its own name; without it the destructor removes the temporary
// file, and an existing file stays whole, however the process ends. The next write of the same name
// removes what a killed process left; concurrent writes do not collide. The new file gets
// the permissions of the file that it replaces. A symbolic link with the name is replaced, not
// followed.
//
// Two kinds are written to directly: anything that is not a regular file (a device, a pipe), and an
// open file of this process named in /proc/self/fd, or by a link to it (/dev/stdout): it continues
// at its current position, deleted or not, or at its end if it was opened for appending.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  void open_temporary(mode_t mode);

  std::string path_;
  // Empty when `path_` is written to directly.
  std::string temporary_;
  // Locked while in use: a temporary file without a lock is stale.
  int descriptor_ = -1;
};

// A range of bytes and its owner: a mapped file, an entry of an archive, a storage of tensors.
// Copying a range copies no bytes. The bytes are private pages or memory: writing to them reaches
// no file, but every range over the same bytes sees it.
struct ByteRange {
  std::byte* data = nullptr;
  size_t size = 0;
  std::shared_ptr<const void> owner = nullptr;

  std::string_view text() const { return {reinterpret_cast<const char*>(data), size}; }

  // `offset` and `length` must lie inside.
  ByteRange part(size_t offset, size_t length) const { return {data + offset, length, owner}; }
};

// Maps the regular file at `path`. The pages are private: writes never reach the file. An empty
// file has size 0 and no data. (Truncating a mapped file makes the pages after its new end
// inaccessible.)
ByteRange map_file(const std::string& path);

}  // namespace torch_ir
