#include "torch_ir/base/zip_archive.h"

#include <zip.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"

namespace torch_ir {
namespace {

// The most bytes that one deflated byte can make; an entry that declares more is invalid.
constexpr uint64_t kMaxDeflateRatio = 1032;

constexpr const char* kCannotInflate =
    "cannot be inflated: its content does not match its checksum or its size in the directory";

// Serves the archive to libzip. It remembers the last read, since libzip has no other way to tell
// where the bytes of an entry begin.
struct Source {
  ByteRange bytes;
  uint64_t position = 0;
  uint64_t last_read = 0;
  zip_error_t error = {};
};

zip_int64_t read_source(Source& source, void* data, zip_uint64_t length) {
  const uint64_t count = std::min<uint64_t>(length, source.bytes.size - source.position);
  if (count > 0) std::memcpy(data, source.bytes.data + source.position, count);
  source.last_read = source.position;
  source.position += count;
  return static_cast<zip_int64_t>(count);
}

zip_int64_t describe_source(const Source& source, void* data) {
  auto* status = static_cast<zip_stat_t*>(data);
  zip_stat_init(status);
  status->size = source.bytes.size;
  status->valid |= ZIP_STAT_SIZE;
  return sizeof(*status);
}

zip_int64_t serve_source(void* user, void* data, zip_uint64_t length, zip_source_cmd_t command) {
  Source& source = *static_cast<Source*>(user);
  switch (command) {
    case ZIP_SOURCE_OPEN:
      source.position = 0;
      return 0;
    case ZIP_SOURCE_READ:
      return read_source(source, data, length);
    case ZIP_SOURCE_STAT:
      return describe_source(source, data);
    case ZIP_SOURCE_SEEK: {
      const zip_int64_t offset = zip_source_seek_compute_offset(source.position, source.bytes.size,
                                                                data, length, &source.error);
      if (offset < 0) return -1;
      source.position = static_cast<uint64_t>(offset);
      return 0;
    }
    case ZIP_SOURCE_TELL:
      return static_cast<zip_int64_t>(source.position);
    case ZIP_SOURCE_ERROR:
      return zip_error_to_data(&source.error, data, length);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE:
      return 0;
    case ZIP_SOURCE_SUPPORTS:
      return zip_source_make_command_bitmap(
          ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
          ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_SUPPORTS, -1);
    default:
      zip_error_set(&source.error, ZIP_ER_OPNOTSUPP, 0);
      return -1;
  }
}

using EntryFile = std::unique_ptr<zip_file_t, int (*)(zip_file_t*)>;

zip_int64_t read_entry(const EntryFile& file, std::byte* data, uint64_t size) {
  return file == nullptr ? -1 : zip_fread(file.get(), data, size);
}

}  // namespace

bool looks_like_zip(std::string_view bytes) {
  return bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06");
}

std::string deflate(std::string_view bytes) {
  const auto check = [](bool is_done) {
    if (!is_done) throw Error("libzip cannot compress");
  };
  // The one entry of an archive in memory.
  const std::unique_ptr<zip_source_t, void (*)(zip_source_t*)> memory(
      zip_source_buffer_create(nullptr, 0, 0, nullptr), zip_source_free);
  check(memory != nullptr);
  const auto open = [&](int flags) {
    zip_source_keep(memory.get());
    std::unique_ptr<zip_t, void (*)(zip_t*)> zip(zip_open_from_source(memory.get(), flags, nullptr),
                                                 zip_discard);
    if (zip == nullptr) zip_source_free(memory.get());
    check(zip != nullptr);
    return zip;
  };
  auto written = open(ZIP_TRUNCATE);
  zip_source_t* source = zip_source_buffer(written.get(), bytes.data(), bytes.size(), 0);
  check(source != nullptr);
  const bool is_added = zip_file_add(written.get(), "bytes", source, 0) == 0;
  if (!is_added) zip_source_free(source);
  check(is_added && zip_set_file_compression(written.get(), 0, ZIP_CM_DEFLATE, 0) == 0);
  check(zip_close(written.get()) == 0);
  written.release();
  const auto read = open(ZIP_RDONLY);
  zip_stat_t entry;
  check(zip_stat_index(read.get(), 0, 0, &entry) == 0);
  std::string deflated(entry.comp_size, '\0');
  const EntryFile file(zip_fopen_index(read.get(), 0, ZIP_FL_COMPRESSED), zip_fclose);
  const auto size = static_cast<zip_int64_t>(deflated.size());
  check(file != nullptr && zip_fread(file.get(), deflated.data(), deflated.size()) == size);
  return deflated;
}

struct ZipArchive::Impl {
  Impl(ByteRange bytes, std::string archive_name)
      : name(std::move(archive_name)), source{std::move(bytes)} {
    zip_error_init(&source.error);
  }
  ~Impl() {
    if (zip != nullptr) zip_discard(zip);
    zip_error_fini(&source.error);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  [[noreturn]] void fail(const std::string& what) const {
    throw Error("'" + printable(name) + "' " + what);
  }
  [[noreturn]] void fail(std::string_view entry, const std::string& what) const {
    fail("entry '" + printable(entry) + "' " + what);
  }

  void open() {
    // libzip takes an empty file for an archive without entries.
    if (source.bytes.size == 0) fail("cannot be read as a zip archive: the file is empty");
    const auto try_open = [&](int flags) {
      zip_source_t* bytes = zip_source_function_create(serve_source, &source, nullptr);
      if (bytes == nullptr) return;
      zip = zip_open_from_source(bytes, flags, nullptr);
      if (zip == nullptr) zip_source_free(bytes);
    };
    try_open(ZIP_RDONLY | ZIP_CHECKCONS);
    const bool is_consistent = zip != nullptr;
    // libzip does not name the entry at fault; reading the directory may.
    if (!is_consistent) try_open(ZIP_RDONLY);
    if (zip != nullptr) read_directory();
    if (!is_consistent) fail("cannot be read as a zip archive: it is damaged or truncated");
  }

  void read_directory() {
    const zip_int64_t count = zip_get_num_entries(zip, 0);
    for (zip_int64_t i = 0; i < count; ++i) {
      const auto index = static_cast<zip_uint64_t>(i);
      const zip_stat_t entry = describe(index);
      if (!indices.emplace(entry.name, index).second) {
        fail("has a duplicate entry '" + printable(entry.name) + "'");
      }
      if (entry.encryption_method != ZIP_EM_NONE) {
        fail(entry.name, "is encrypted, which is not supported");
      }
      if (entry.comp_method == ZIP_CM_STORE && entry.comp_size != entry.size) {
        fail(entry.name, "is stored, but has two sizes in the directory, " +
                             std::to_string(entry.size) + " and " +
                             std::to_string(entry.comp_size));
      }
      if (!std::string_view(entry.name).ends_with('/')) entries.emplace_back(entry.name);
    }
  }

  zip_stat_t describe(zip_uint64_t index) const {
    constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                     ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD |
                                     ZIP_STAT_CRC;
    zip_stat_t entry;
    zip_stat_init(&entry);
    if (zip_stat_index(zip, index, ZIP_FL_ENC_RAW, &entry) != 0) {
      fail("entry " + std::to_string(index) + " cannot be read from the directory");
    }
    if ((entry.valid & kNeeded) != kNeeded) {
      fail("entry " + std::to_string(index) + " is incomplete in the directory");
    }
    return entry;
  }

  EntryFile open_entry(zip_uint64_t index, zip_flags_t flags) const {
    return {zip_fopen_index(zip, index, flags), zip_fclose};
  }

  zip_uint64_t find(std::string_view entry) const {
    const auto found = indices.find(std::string(entry));
    if (found == indices.end()) fail("has no entry '" + printable(entry) + "'");
    return found->second;
  }

  ByteRange locate(const zip_stat_t& entry) {
    if (entry.size == 0) return {source.bytes.data, 0, source.bytes.owner};
    const EntryFile file = open_entry(entry.index, ZIP_FL_COMPRESSED);
    std::byte first;
    if (read_entry(file, &first, 1) != 1) fail(entry.name, "is not where the directory says");
    const uint64_t offset = source.last_read;
    if (entry.size > source.bytes.size || offset > source.bytes.size - entry.size) {
      fail(entry.name, "has " + std::to_string(entry.size) +
                           " bytes, which extend past the end of the " +
                           std::to_string(source.bytes.size) + "-byte archive");
    }
    return source.bytes.part(offset, entry.size);
  }

  ByteRange inflate(const zip_stat_t& entry) {
    if (const auto known = inflated.find(entry.index); known != inflated.end())
      return known->second;
    const std::string sizes =
        std::to_string(entry.comp_size) + " bytes that inflate to " + std::to_string(entry.size);
    if (entry.size / kMaxDeflateRatio > entry.comp_size) {
      fail(entry.name, "is invalid: it declares " + sizes + ", more than deflate can reach");
    }
    if (entry.size > kMaxInflatedBytes - inflated_size) {
      fail(entry.name, "has " + sizes + ", more than the " + std::to_string(kMaxInflatedBytes) +
                           " that the compressed entries of an archive may have together; store " +
                           "it uncompressed, as PyTorch does");
    }
    const auto buffer = std::make_shared<std::byte[]>(entry.size);
    const EntryFile file = open_entry(entry.index, 0);
    uint64_t size = 0;
    while (size < entry.size) {
      const zip_int64_t count = read_entry(file, buffer.get() + size, entry.size - size);
      if (count <= 0) fail(entry.name, kCannotInflate);
      size += static_cast<uint64_t>(count);
    }
    // libzip compares the checksum when it sees the end.
    std::byte end;
    if (read_entry(file, &end, 1) != 0) fail(entry.name, kCannotInflate);
    inflated_size += size;
    return inflated[entry.index] = {buffer.get(), size, buffer};
  }

  ByteRange map(zip_uint64_t index) {
    const zip_stat_t entry = describe(index);
    switch (entry.comp_method) {
      case ZIP_CM_STORE:
        return locate(entry);
      case ZIP_CM_DEFLATE:
        return inflate(entry);
      default:
        fail(entry.name, "has the unsupported compression method " +
                             std::to_string(entry.comp_method) +
                             "; store it uncompressed, as PyTorch does");
    }
  }

  void check_checksum(zip_uint64_t index) {
    const zip_stat_t entry = describe(index);
    if (entry.crc == 0 || entry.comp_method != ZIP_CM_STORE) return;
    const EntryFile file = open_entry(index, 0);
    std::array<std::byte, 1 << 15> buffer;
    zip_int64_t count = 0;
    while ((count = read_entry(file, buffer.data(), buffer.size())) > 0) {
    }
    if (count < 0) fail(entry.name, "is damaged: its content does not match its checksum");
  }

  std::string name;
  Source source;
  zip_t* zip = nullptr;
  std::vector<std::string> entries;
  std::unordered_map<std::string, zip_uint64_t> indices;
  std::unordered_map<zip_uint64_t, ByteRange> inflated;
  uint64_t inflated_size = 0;
};

ZipArchive ZipArchive::open(const std::string& path) { return open(map_file(path), path); }

ZipArchive ZipArchive::open(ByteRange bytes, std::string name) {
  auto impl = std::make_shared<Impl>(std::move(bytes), std::move(name));
  impl->open();
  return ZipArchive(std::move(impl));
}

ZipArchive::ZipArchive(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

const std::string& ZipArchive::name() const { return impl_->name; }

const std::vector<std::string>& ZipArchive::entries() const { return impl_->entries; }

bool ZipArchive::has(std::string_view entry) const {
  return impl_->indices.contains(std::string(entry));
}

ByteRange ZipArchive::map(std::string_view entry) const { return impl_->map(impl_->find(entry)); }

ByteRange ZipArchive::read(std::string_view entry) const {
  const zip_uint64_t index = impl_->find(entry);
  ByteRange bytes = impl_->map(index);
  impl_->check_checksum(index);
  return bytes;
}

}  // namespace torch_ir
