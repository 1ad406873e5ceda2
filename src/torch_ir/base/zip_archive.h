// Reads zip archives, such as `.pt` and `.pt2` files, in place.
//
// libzip reads the directory and inflates. Entries that are stored uncompressed, as PyTorch stores
// them, are returned as parts of the file, so nested archives are read in place too. Zip64, data
// descriptors and padding in local headers are supported. All errors are torch_ir::Error and name
// the archive and the entry.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/base/file.h"

namespace torch_ir {

bool looks_like_zip(std::string_view bytes);

// `bytes` compressed as a raw DEFLATE stream (RFC 1951).
std::string deflate(std::string_view bytes);

// Copies share one archive. Bytes read from it outlive it. Not thread-safe.
class ZipArchive {
 public:
  // Maps the file at `path`, which messages name.
  static ZipArchive open(const std::string& path);
  // Reads `bytes` in place. Messages call the archive `name`, such as "model.pt2:
  // data/weights/model.pt".
  //
  // Throws if the archive is invalid, truncated, encrypted or split, or has duplicate names.
  static ZipArchive open(ByteRange bytes, std::string name);

  const std::string& name() const;
  // All entries except folders (names that end in '/'), in the order of the directory. Names are
  // untrusted bytes; use `printable` in messages.
  const std::vector<std::string>& entries() const;
  bool has(std::string_view entry) const;

  // The bytes of an entry. A stored entry is mapped and not checked, so that unused weights are
  // never read from the disk. A deflated entry is inflated once, into memory, and its checksum is
  // checked; all of them together may take 512 MiB.
  ByteRange map(std::string_view entry) const;
  // As map(), but checks the checksum if the archive has one: for entries that are read whole
  // anyway. (PyTorch can be configured to write checksums of 0.)
  ByteRange read(std::string_view entry) const;

 private:
  struct Impl;
  explicit ZipArchive(std::shared_ptr<Impl> impl);

  std::shared_ptr<Impl> impl_;
};

}  // namespace torch_ir
