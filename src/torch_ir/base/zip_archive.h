// Zip archives, read in place.
//
// What `.pt` and `.pt2` files are. libzip reads the directory and inflates; an entry that is stored
// uncompressed, as PyTorch stores all of them, is handed out as the part of the file that it is,
// not copied. So an archive inside an archive is read in place too. Zip64, data descriptors and
// padding in local headers are understood. All errors are torch_ir::Error and name the archive and
// the entry.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/base/file.h"

namespace torch_ir {

// Whether `bytes` begin like a zip archive.
bool looks_like_zip(std::string_view bytes);

// Copies share one archive. What was read from it outlives it. Not for several threads at once.
class ZipArchive {
 public:
  // Maps the file at `path`; it is also what messages call the archive.
  static ZipArchive open(const std::string& path);
  // Reads `bytes` in place. `name` is what messages call the archive, such as
  // "model.pt2: data/weights/model.pt".
  //
  // Refused, here already: what is no zip archive or is truncated, several entries of one name, an
  // encrypted entry, an archive in several parts.
  static ZipArchive open(ByteRange bytes, std::string name);

  const std::string& name() const;
  // All entries but folders (names that end in '/'), in the order of the directory. Names are the
  // archive's own bytes: anything can be in them, `printable` is for messages.
  const std::vector<std::string>& entries() const;
  bool has(std::string_view entry) const;

  // The bytes of an entry, mapped and not looked at where it is stored, so that weights that nobody
  // uses are never read from the disk. A deflated entry is inflated once, into memory, and its
  // checksum is checked; all those of an archive may need 512 MiB together.
  ByteRange map(std::string_view entry) const;
  // The same, and its checksum is checked where the archive has one: for JSON, pickles and
  // whatever else is read whole anyway. (PyTorch writes checksums of 0 when told to save time.)
  ByteRange read(std::string_view entry) const;

 private:
  struct Impl;
  explicit ZipArchive(std::shared_ptr<Impl> impl);

  std::shared_ptr<Impl> impl_;
};

}  // namespace torch_ir
