#include "torch_ir/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "torch_ir/base/error.h"

namespace torch_ir {
namespace {

[[noreturn]] void fail_with_errno(const char* what, const std::string& path) {
  throw Error(std::string(what) + " '" + path + "': " + std::strerror(errno));
}

// A file opened for reading, closed at the end of the scope.
class ReadDescriptor {
 public:
  explicit ReadDescriptor(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) fail_with_errno("cannot open", path);
    struct stat status = {};
    if (::fstat(descriptor_, &status) != 0) fail_with_errno("cannot read", path);
    if (!S_ISDIR(status.st_mode)) {
      size_ = static_cast<size_t>(status.st_size);
      return;
    }
    ::close(descriptor_);
    throw Error("cannot read '" + path + "': it is a directory");
  }
  ~ReadDescriptor() { ::close(descriptor_); }
  ReadDescriptor(const ReadDescriptor&) = delete;
  ReadDescriptor& operator=(const ReadDescriptor&) = delete;

  int get() const { return descriptor_; }
  size_t size() const { return size_; }

 private:
  int descriptor_;
  size_t size_ = 0;
};

}  // namespace

std::string read_file(const std::string& path) {
  const ReadDescriptor file(path);
  std::string content;
  content.reserve(file.size());
  char buffer[1 << 16];
  while (true) {
    const ssize_t count = ::read(file.get(), buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_with_errno("cannot read", path);
    if (count == 0) return content;
    content.append(buffer, static_cast<size_t>(count));
  }
}

void write_file(const std::string& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

AtomicFile::AtomicFile(std::string path)
    : path_(std::move(path)), temporary_path_(path_ + ".tmp.XXXXXX") {
  descriptor_ = ::mkstemp(temporary_path_.data());
  if (descriptor_ < 0) fail_with_errno("cannot write", path_);
  // mkstemp makes files that only their owner can read; a result is as public as any other file.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor_, 0666 & ~mask);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_path_.c_str());
}

void AtomicFile::fail(const char* what) { fail_with_errno(what, path_); }

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("cannot write");
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

void AtomicFile::commit() {
  if (::close(std::exchange(descriptor_, -1)) != 0 ||
      std::rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary_path_.c_str());
    errno = reason;
    fail("cannot write");
  }
}

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  const ReadDescriptor descriptor(path);
  std::shared_ptr<MappedFile> file(new MappedFile());
  if (descriptor.size() == 0) return file;
  void* data = ::mmap(nullptr, descriptor.size(), PROT_READ, MAP_PRIVATE, descriptor.get(), 0);
  if (data == MAP_FAILED) fail_with_errno("cannot map", path);
  file->data_ = static_cast<const std::byte*>(data);
  file->size_ = descriptor.size();
  return file;
}

MappedFile::~MappedFile() {
  if (size_ > 0) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace torch_ir
