// Files: reading whole, mapping, and writing so that a reader never sees half a file.
//
// Used by every room that touches the disk. All errors are torch_ir::Error and name the path and
// the system's reason.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace torch_ir {

// What others are cut to that names of files are made of: with what is added, a name may have 255
// bytes.
inline constexpr size_t kMaxNameBytes = 200;

// How the hidden folders begin whose files take their places together later (work_directory.h).
inline constexpr std::string_view kWorkDirectoryPrefix = ".torch-ir-run-";

// Whether a file lies in such a folder: it need not reach the disk before it has its place.
bool is_in_work_directory(std::string_view path);

// The whole content of `path`, a file or a pipe; /dev/null is empty. A directory or another device
// is an error. A pipe is waited for.
std::string read_file(const std::string& path);

// Replaces `path` by `content`, as AtomicFile does.
void write_file(const std::string& path, std::string_view content);

// `path` as the user means it: under `bazel run`, which starts programs elsewhere, a relative one
// is one of the directory where that was typed (BUILD_WORKING_DIRECTORY). "" for that directory.
std::string user_path(const std::string& path);

// Changes to that directory, where it is another one.
void enter_user_directory();

// Lets the list of names in `folder` reach the disk. That a system may refuse.
void flush_folder(const std::string& folder);

// A file written piece by piece under a temporary name in the same folder, ".NAME.torch-ir-tmp".
// `commit()` flushes it to the disk and gives it its own name; without it the destructor removes
// what was written, and a file that had the name before stays, whole, however the process ends.
// What a killed process left goes with the next file of that name; two that are written at once do
// not meet. A file that is replaced hands on its permissions. A symbolic link that has the name is
// replaced and not followed.
//
// Two kinds have no name to swap and are written to directly: what is no regular file (a device, a
// pipe), and an open file of this process by its name in /proc/self/fd, or by a link to that
// (/dev/stdout): it goes on where it is, deleted or not, at its end where it was opened so.
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
  // Locked while it is written to: a temporary file without a lock is nobody's.
  int descriptor_ = -1;
};

// Bytes in memory, with what keeps them there: what readers of containers hand on, a whole mapped
// file, an entry of an archive, a storage of tensors. Copying one copies no bytes. The bytes are
// the reader's own (private pages or memory): writing to them reaches no file, but every range over
// the same bytes sees it.
struct ByteRange {
  std::byte* data = nullptr;
  size_t size = 0;
  // The mapping or the buffer that the bytes are part of.
  std::shared_ptr<const void> owner = nullptr;

  std::string_view text() const { return {reinterpret_cast<const char*>(data), size}; }

  // `length` bytes from `offset` on, which must lie inside.
  ByteRange part(size_t offset, size_t length) const { return {data + offset, length, owner}; }
};

// The whole regular file at `path`, mapped. The pages are private: they can be written to, and what
// is written never reaches the file. An empty file has size 0 and no data. (Truncating a file while
// it is mapped makes the pages behind its new end inaccessible.)
ByteRange map_file(const std::string& path);

}  // namespace torch_ir
