#include "torch_ir/weights/torch_file.h"

#include <ATen/ops/_conj.h>
#include <ATen/ops/_neg_view.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "torch_ir/base/error.h"
#include "torch_ir/base/foreign_file.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/weights/pickle.h"
#include "torch_ir/weights/storage_tensor.h"
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
  // With its slash; empty if another program packed the records at the root.
  static std::string find_folder(const ZipArchive& archive) {
    if (archive.entries().empty()) return {};
    const std::string& first = archive.entries().front();
    return first.substr(0, first.find('/') + 1);
  }

  const ZipArchive& archive_;
  std::string folder_;
};

void check_kind(const ZipArchive& archive, const Records& records) {
  if (records.has("data.pkl")) return;
  const std::string what = describe_foreign_archive(archive.entries(), kWeightsAdvice);
  if (!what.empty()) throw WeightError(kNotSupported, what);
  if (records.has("archive_format") || archive.has("serialized_exported_program.json")) {
    throw WeightError(
        "is an exported program (.pt2), not a file of weights; torch-ir import writes its weights "
        "to a separate file");
  }
  throw WeightError("is a zip archive, but not one of torch.save: missing entry data.pkl");
}

void check_byte_order(const Records& records) {
  if (!records.has("byteorder")) return;
  const std::string_view order = records.read("byteorder");
  if (order == "little") return;
  if (order == "big") {
    throw WeightError(
        kNotSupported,
        "was written by a big-endian machine, which is not supported; load it in Python, and "
        "torch.save it again");
  }
  throw WeightError(fmt::format("has the unknown byte order '{}'", printable(order)));
}

ByteRange find_record(const Records& records, const PendingStorage& storage) {
  const std::string name = "data/" + storage.key;
  if (!records.has(name)) {
    // Some writers leave out empty storages.
    if (storage.num_bytes == 0) return {};
    throw WeightError(fmt::format("missing storage '{}'", printable(storage.key)));
  }
  ByteRange bytes = records.map(name);
  if (bytes.size < static_cast<uint64_t>(storage.num_bytes)) {
    throw WeightError(fmt::format("storage '{}' has {} bytes, expected {}", printable(storage.key),
                                  bytes.size, storage.num_bytes));
  }
  return bytes;
}

at::Tensor make_tensor(const PendingTensor& tensor, const c10::Storage& storage) {
  at::Tensor result = make_tensor(storage, tensor.view);
  if (tensor.is_conjugate) result = at::_conj(result);
  if (tensor.is_negative) result = at::_neg_view(result);
  return result;
}

// Makes all pending tensors; those of one key share memory. Throws WeightError, naming the place of
// the tensor below `root`.
void make_tensors(const PendingTensors& pending, const Records& records, const PickleValue& root) {
  std::unordered_map<std::string, c10::Storage> storages;
  for (const PendingTensor& tensor : pending.tensors) {
    const PendingStorage& storage = pending.storages[tensor.storage];
    try {
      auto made = storages.find(storage.key);
      if (made == storages.end()) {
        made = storages.emplace(storage.key, make_storage(find_record(records, storage))).first;
      }
      tensor.value->value = make_tensor(tensor, made->second);
    } catch (const WeightError& error) {
      const std::string place = find_place(root, *tensor.value);
      throw WeightError(fmt::format("holds a tensor{}{} that cannot be read: {}",
                                    place.empty() ? "" : " under ", place, error.what()));
    }
  }
}

PickleDocument read_archive(const ZipArchive& archive, ForeignNames foreign) {
  const Records records(archive);
  check_kind(archive, records);
  check_byte_order(records);
  const auto arena = std::make_shared<PickleArena>();
  TorchRules rules(*arena, /*reads_objects=*/records.has("constants.pkl"), foreign);
  PickleValue* root = unpickle(records.read("data.pkl"), *arena, rules);
  make_tensors(rules.tensors(), records, *root);
  return {arena, root};
}

// Not any tar archive: PyTorch's had four entries.
bool looks_like_tar(std::string_view bytes) {
  constexpr size_t kMagicPosition = 257;
  constexpr std::string_view kEntries[] = {"pickle", "storages", "sys_info", "tensors"};
  return bytes.size() > kMagicPosition && bytes.substr(kMagicPosition).starts_with("ustar") &&
         std::ranges::count(kEntries, bytes.substr(0, bytes.find('\0'))) > 0;
}

// A pickle starts with its protocol, or with PyTorch's magic number as text.
bool looks_like_pickle(std::string_view bytes) {
  constexpr unsigned char kNewestProtocol = 5;
  return bytes.starts_with("L119547037146038801333356L\n") ||
         (bytes.size() > 1 && bytes[0] == '\x80' &&
          static_cast<unsigned char>(bytes[1]) <= kNewestProtocol);
}

[[noreturn]] void refuse(std::string_view bytes) {
  if (!looks_like_tar(bytes) && !looks_like_pickle(bytes)) {
    throw WeightError("is not a zip archive, so torch.save did not write it");
  }
  throw WeightError(
      kNotSupported,
      fmt::format("is a {}, as PyTorch wrote them before version 1.6; load it in Python with "
                  "torch.load(FILE), and torch.save it again",
                  looks_like_tar(bytes) ? "tar archive" : "bare pickle"));
}

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
  return looks_like_zip(bytes) || looks_like_pickle(bytes) || looks_like_tar(bytes);
}

PickleDocument load_torch_file(ByteRange bytes, const std::string& name, ForeignNames foreign) {
  return with_name(name, [&] {
    if (looks_like_zip(bytes.text())) return read_archive(ZipArchive::open(bytes, name), foreign);
    refuse(bytes.text());
  });
}

PickleDocument load_torch_file(const ZipArchive& archive) {
  return with_name(archive.name(), [&] { return read_archive(archive, ForeignNames::kRefused); });
}

}  // namespace torch_ir
