#include "torch_ir/weights/legacy_torch_file.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/weights/pending_tensors.h"
#include "torch_ir/weights/pickle.h"
#include "torch_ir/weights/pickle_arena.h"
#include "torch_ir/weights/pickle_tree.h"
#include "torch_ir/weights/torch_rules.h"

namespace torch_ir {
namespace {

// The first pickle of a file, in the two forms that protocols give it.
constexpr std::string_view kMagicNumber = "0x1950a86a20f9469cfc6c";
constexpr std::string_view kMagicNumberAsText = "119547037146038801333356";
constexpr int64_t kFormatVersion = 1001;

bool is_tar(std::string_view bytes) {
  constexpr size_t kMagicPosition = 257;
  return bytes.size() > kMagicPosition && bytes.substr(kMagicPosition).starts_with("ustar");
}

// The pickles at the beginning of a file, one by one.
class PickleSequence {
 public:
  PickleSequence(std::string_view bytes, PickleArena& arena, PickleRules& rules)
      : bytes_(bytes), arena_(arena), rules_(rules) {}

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
  size_t position_ = 0;
};

// Whether the first pickle is the magic number; another one may hold whatever its writer liked.
bool has_magic_number(PickleSequence& pickles) {
  try {
    const PickleValue* magic = pickles.next();
    const auto* number = magic->get_if<PickleValue::BigInteger>();
    return number != nullptr &&
           (number->text == kMagicNumber || number->text == kMagicNumberAsText);
  } catch (const WeightError&) {
    return false;
  }
}

// Magic number, version, facts about the machine.
void check_beginning(PickleSequence& pickles) {
  if (!has_magic_number(pickles)) {
    throw WeightError("is a pickle, but torch.save did not write it");
  }
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

}  // namespace

bool looks_like_legacy_torch_file(std::string_view bytes) {
  constexpr std::string_view kProtocol = "\x80";
  constexpr unsigned char kNewestProtocol = 5;
  if (bytes.starts_with("L" + std::string(kMagicNumberAsText) + "L\n")) return true;
  return bytes.size() > 1 && bytes.starts_with(kProtocol) &&
         static_cast<unsigned char>(bytes[1]) <= kNewestProtocol;
}

PickleDocument read_legacy_torch_file(const ByteRange& bytes) {
  if (is_tar(bytes.text())) {
    throw WeightError(
        "is a tar archive, as the first versions of PyTorch wrote them; load it in Python with "
        "torch.load(FILE, weights_only=False), where you trust it, and save it again");
  }
  if (!looks_like_legacy_torch_file(bytes.text())) {
    throw WeightError("is neither a zip archive nor a pickle: torch.save did not write it");
  }
  const auto arena = std::make_shared<PickleArena>();
  TorchRules rules(*arena, /*reads_objects=*/false);
  PickleSequence pickles(bytes.text(), *arena, rules);
  check_beginning(pickles);
  PickleValue* root = pickles.next();
  check_tree(*root);
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

}  // namespace torch_ir
