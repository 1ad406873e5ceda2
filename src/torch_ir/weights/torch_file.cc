#include "torch_ir/weights/torch_file.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/weights/legacy_torch_file.h"
#include "torch_ir/weights/pending_tensors.h"
#include "torch_ir/weights/pickle.h"
#include "torch_ir/weights/pickle_arena.h"
#include "torch_ir/weights/pickle_tree.h"
#include "torch_ir/weights/torch_rules.h"

namespace torch_ir {
namespace {

// The records of a zip archive that PyTorch wrote: all lie in one folder, of any name.
class Records {
 public:
  explicit Records(const ZipArchive& archive) : archive_(archive), folder_(find_folder(archive)) {}

  bool has(std::string_view name) const { return archive_.has(folder_ + std::string(name)); }
  std::string_view read(std::string_view name) const {
    return archive_.read(folder_ + std::string(name)).text();
  }
  ByteRange map(std::string_view name) const { return archive_.map(folder_ + std::string(name)); }

 private:
  // With its slash; empty where the records lie at the root, after another program packed them.
  static std::string find_folder(const ZipArchive& archive) {
    if (archive.entries().empty()) return {};
    const std::string& first = archive.entries().front();
    return first.substr(0, first.find('/') + 1);
  }

  const ZipArchive& archive_;
  std::string folder_;
};

bool is_exported_program(const ZipArchive& archive, const Records& records) {
  return records.has("archive_format") || archive.has("serialized_exported_program.json");
}

void check_kind(const ZipArchive& archive, const Records& records) {
  if (records.has("data.pkl")) return;
  if (is_exported_program(archive, records)) {
    throw WeightError(
        "is an exported program (.pt2) and no file of weights; torch-ir import writes its weights "
        "to a file of their own");
  }
  throw WeightError("is a zip archive, but torch.save did not write it: it has no data.pkl");
}

bool is_big_endian(const Records& records) {
  if (!records.has("byteorder")) return false;
  const std::string_view order = records.read("byteorder");
  if (order != "little" && order != "big") {
    throw WeightError(fmt::format("has the unknown byte order '{}'", printable(order)));
  }
  return order == "big";
}

ByteRange find_record(const Records& records, const PendingStorage& storage) {
  const std::string name = "data/" + storage.key;
  if (!records.has(name)) {
    // Some writers leave out what is empty.
    if (storage.num_bytes == 0) return {};
    throw WeightError(fmt::format("there is no storage '{}'", printable(storage.key)));
  }
  ByteRange bytes = records.map(name);
  if (bytes.size < static_cast<uint64_t>(storage.num_bytes)) {
    throw WeightError(fmt::format("storage '{}' should have {} bytes and has {}",
                                  printable(storage.key), storage.num_bytes, bytes.size));
  }
  return bytes;
}

PickleDocument read_archive(const ZipArchive& archive) {
  const Records records(archive);
  check_kind(archive, records);
  const auto arena = std::make_shared<PickleArena>();
  TorchRules rules(*arena, /*reads_objects=*/records.has("constants.pkl"));
  PickleValue* root = unpickle(records.read("data.pkl"), *arena, rules);
  check_tree(*root);
  make_tensors(
      rules.tensors(), [&](const PendingStorage& storage) { return find_record(records, storage); },
      is_big_endian(records), *root);
  return {arena, root};
}

// `read()`, with errors that begin with the name of the file.
template <class Read>
PickleDocument with_name(const std::string& name, Read read) {
  try {
    return read();
  } catch (const WeightError& error) {
    throw WeightError(error, fmt::format("'{}' {}", printable(name), error.what()));
  } catch (const Error& error) {
    throw WeightError(error, error.what());
  }
}

}  // namespace

bool looks_like_torch_file(std::string_view bytes) {
  return looks_like_zip(bytes) || looks_like_legacy_torch_file(bytes);
}

PickleDocument load_torch_file(ByteRange bytes, const std::string& name) {
  return with_name(name, [&] {
    if (looks_like_zip(bytes.text())) return read_archive(ZipArchive::open(bytes, name));
    return read_legacy_torch_file(bytes);
  });
}

PickleDocument load_torch_file(const ZipArchive& archive) {
  return with_name(archive.name(), [&] { return read_archive(archive); });
}

}  // namespace torch_ir
