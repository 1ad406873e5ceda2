#include "torch_ir/weights/torch_file.h"

#include <ATen/ops/_conj.h>
#include <ATen/ops/_neg_view.h>
#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/weights/pickle.h"
#include "torch_ir/weights/torch_rules.h"

namespace torch_ir {
namespace {

// --- Tensors ---

// The bytes of a storage, at least `num_bytes`. Throws WeightError where there are none.
using FindStorage = std::function<ByteRange(const PendingStorage&)>;

// A storage whose tensors have been made, and with what elements its bytes were swapped.
struct MadeStorage {
  c10::Storage storage;
  c10::ScalarType dtype;
};

size_t swapped_size(c10::ScalarType dtype) {
  return c10::elementSize(dtype) / (c10::isComplexType(dtype) ? 2 : 1);
}

class TensorMaker {
 public:
  TensorMaker(const FindStorage& find_storage, bool is_big_endian)
      : find_storage_(find_storage), is_big_endian_(is_big_endian) {}

  at::Tensor make(const PendingTensor& tensor, const PendingStorage& storage) {
    TensorView view = tensor.view;
    if (__builtin_add_overflow(view.storage_offset, storage.offset, &view.storage_offset)) {
      throw WeightError("its place in its storage is too large a number");
    }
    at::Tensor result = make_tensor(get_storage(storage, view.dtype), view);
    if (tensor.is_conjugate) result = at::_conj(result);
    if (tensor.is_negative) result = at::_neg_view(result);
    return result;
  }

 private:
  const c10::Storage& get_storage(const PendingStorage& storage, c10::ScalarType dtype) {
    auto known = made_.find(storage.key);
    if (known == made_.end()) {
      ByteRange bytes = find_storage_(storage);
      if (is_big_endian_) bytes = swap_byte_order(bytes, dtype);
      known = made_.emplace(storage.key, MadeStorage{make_storage(bytes), dtype}).first;
    }
    if (is_big_endian_ && swapped_size(known->second.dtype) != swapped_size(dtype)) {
      throw WeightError(fmt::format(
          "it shares storage '{}' of a big-endian file with a tensor of {}, and has dtype {} "
          "itself",
          printable(storage.key), dtype_name(known->second.dtype), dtype_name(dtype)));
    }
    return known->second.storage;
  }

  const FindStorage& find_storage_;
  bool is_big_endian_;
  std::unordered_map<std::string, MadeStorage> made_;
};

// Makes all of them. Storages of one key share memory. Throws WeightError, naming the place of the
// tensor below `root`.
void make_tensors(const PendingTensors& pending, const FindStorage& find_storage,
                  bool is_big_endian, const PickleValue& root) {
  TensorMaker maker(find_storage, is_big_endian);
  for (const PendingTensor& tensor : pending.tensors) {
    try {
      tensor.value->value = maker.make(tensor, pending.storages[tensor.storage]);
    } catch (const WeightError& error) {
      const std::string place = find_place(root, *tensor.value);
      throw WeightError(fmt::format("holds a tensor{}{} that can not be read: {}",
                                    place.empty() ? "" : " under ", place, error.what()));
    }
  }
}

// --- Zip archives ---

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
  make_tensors(
      rules.tensors(), [&](const PendingStorage& storage) { return find_record(records, storage); },
      is_big_endian(records), *root);
  return {arena, root};
}

// --- The legacy format: pickles in a row, and the storages behind them ---

// The first pickle of a file: the integer 0x1950a86a20f9469cfc6c, behind a protocol and a frame.
constexpr std::string_view kMagicNumber = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
// The same where the protocol is 0 or 1.
constexpr std::string_view kMagicNumberAsText = "L119547037146038801333356L\n";
constexpr int64_t kFormatVersion = 1001;

bool looks_like_tar(std::string_view bytes) {
  constexpr size_t kMagicPosition = 257;
  return bytes.size() > kMagicPosition && bytes.substr(kMagicPosition).starts_with("ustar");
}

bool looks_like_legacy_file(std::string_view bytes) {
  constexpr unsigned char kNewestProtocol = 5;
  if (bytes.starts_with(kMagicNumberAsText)) return true;
  return bytes.size() > 1 && bytes[0] == '\x80' &&
         static_cast<unsigned char>(bytes[1]) <= kNewestProtocol;
}

// Where the magic number ends; as text it is left to the pickle machine, which refuses it.
size_t magic_number_end(std::string_view bytes) {
  if (bytes.starts_with(kMagicNumberAsText)) return 0;
  constexpr size_t kMaxBegin = 16;
  const size_t begin = bytes.substr(0, kMaxBegin + kMagicNumber.size()).find(kMagicNumber);
  if (begin != std::string_view::npos) return begin + kMagicNumber.size();
  throw WeightError("is a pickle, but torch.save did not write it");
}

// The pickles of a file, one by one, behind the magic number.
class PickleSequence {
 public:
  PickleSequence(std::string_view bytes, PickleArena& arena, PickleRules& rules)
      : bytes_(bytes), arena_(arena), rules_(rules), position_(magic_number_end(bytes)) {}

  PickleValue* next() {
    size_t size = 0;
    PickleValue* value = unpickle(bytes_.substr(position_), arena_, rules_, &size);
    position_ += size;
    return value;
  }
  size_t position() const { return position_; }

 private:
  std::string_view bytes_;
  PickleArena& arena_;
  PickleRules& rules_;
  size_t position_;
};

// Version, facts about the machine.
void check_beginning(PickleSequence& pickles) {
  const PickleValue* version = pickles.next();
  const auto* version_number = version->get_if<int64_t>();
  if (version_number == nullptr || *version_number != kFormatVersion) {
    throw WeightError(
        fmt::format("is of an unknown version of torch.save's legacy format; {} is "
                    "known",
                    kFormatVersion));
  }
  if (pickles.next()->get_if<PickleValue::Dict>() == nullptr) {
    throw WeightError("is damaged: no dict with facts about the machine that wrote it");
  }
}

// The storages behind the pickles, each behind its number of elements.
class StorageReader {
 public:
  StorageReader(const ByteRange& bytes, size_t position) : bytes_(bytes), position_(position) {}

  ByteRange next(const PendingStorage& storage) {
    const int64_t num_elements = next_count(storage.key);
    const int64_t element_size =
        storage.dtype ? static_cast<int64_t>(c10::elementSize(*storage.dtype)) : 1;
    if (num_elements != storage.num_bytes / element_size) {
      throw WeightError(
          fmt::format("is damaged: storage '{}' has {} elements, and {} in front of its data",
                      printable(storage.key), storage.num_bytes / element_size, num_elements));
    }
    return take(static_cast<uint64_t>(storage.num_bytes), storage.key);
  }

 private:
  int64_t next_count(const std::string& key) {
    int64_t count = 0;
    std::memcpy(&count, take(sizeof(count), key).data, sizeof(count));
    return count;
  }
  ByteRange take(uint64_t size, const std::string& key) {
    const size_t rest = bytes_.size - position_;
    if (size > rest) {
      throw WeightError(fmt::format("is cut: storage '{}' needs {} bytes, but only {} are left",
                                    printable(key), size, rest));
    }
    position_ += size;
    return bytes_.part(position_ - size, size);
  }

  const ByteRange& bytes_;
  size_t position_;
};

using StorageMap = std::unordered_map<std::string, ByteRange>;

StorageMap read_storages(const PickleValue& keys, const PendingTensors& tensors,
                         StorageReader reader) {
  const auto* list = keys.get_if<PickleValue::List>();
  if (list == nullptr) throw WeightError("is damaged: no list of storages");
  std::unordered_map<std::string_view, const PendingStorage*> known;
  for (const PendingStorage& storage : tensors.storages) known.emplace(storage.key, &storage);
  StorageMap storages;
  for (const PickleValue* item : list->items) {
    const auto* key = item->get_if<std::string>();
    const auto found = key == nullptr ? known.end() : known.find(*key);
    if (found == known.end()) {
      throw WeightError("is damaged: its list of storages has one that no tensor uses");
    }
    storages[*key] = reader.next(*found->second);
  }
  return storages;
}

// The data lie in little-endian order, whatever machine wrote them.
PickleDocument read_legacy_file(const ByteRange& bytes) {
  if (looks_like_tar(bytes.text())) {
    throw WeightError(
        "is a tar archive, as the first versions of PyTorch wrote them; load it in Python with "
        "torch.load(FILE, weights_only=False), where you trust it, and save it again");
  }
  if (!looks_like_legacy_file(bytes.text())) {
    throw WeightError("is neither a zip archive nor a pickle: torch.save did not write it");
  }
  const auto arena = std::make_shared<PickleArena>();
  TorchRules rules(*arena, /*reads_objects=*/false);
  PickleSequence pickles(bytes.text(), *arena, rules);
  check_beginning(pickles);
  PickleValue* root = pickles.next();
  const PickleValue* keys = pickles.next();
  const StorageMap storages =
      read_storages(*keys, rules.tensors(), StorageReader(bytes, pickles.position()));
  make_tensors(
      rules.tensors(),
      [&](const PendingStorage& storage) {
        const auto found = storages.find(storage.key);
        if (found != storages.end()) return found->second;
        throw WeightError(fmt::format("there is no storage '{}'", printable(storage.key)));
      },
      /*is_big_endian=*/false, *root);
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
  return looks_like_zip(bytes) || looks_like_legacy_file(bytes) || looks_like_tar(bytes);
}

PickleDocument load_torch_file(ByteRange bytes, const std::string& name) {
  return with_name(name, [&] {
    if (looks_like_zip(bytes.text())) return read_archive(ZipArchive::open(bytes, name));
    return read_legacy_file(bytes);
  });
}

PickleDocument load_torch_file(const ZipArchive& archive) {
  return with_name(archive.name(), [&] { return read_archive(archive); });
}

}  // namespace torch_ir
