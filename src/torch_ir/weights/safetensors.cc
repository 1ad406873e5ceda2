#include "torch_ir/weights/safetensors.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/file.h"
#include "torch_ir/base/limits.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/ir/dtype.h"
#include "torch_ir/ir/json_reader.h"
#include "torch_ir/ir/json_value.h"
#include "torch_ir/weights/safetensors_writer.h"
#include "torch_ir/weights/storage_tensor.h"

namespace torch_ir {
namespace {

constexpr size_t kHeaderAlignment = 8;
constexpr std::string_view kMetadataKey = "__metadata__";

struct Dtype {
  std::string_view name;
  std::string_view torch_name;
};

// In the order in which the reference implementation stores data: large elements first, so that all
// are aligned. LibTorch cannot represent its other dtypes (F4, F6_E2M3, F6_E3M2), or only in pairs;
// C128 and C32 are ours. By name, since not every LibTorch has float8_e8m0fnu.
constexpr Dtype kDtypes[] = {
    {"C128", "complex128"},
    {"U64", "uint64"},
    {"I64", "int64"},
    {"F64", "float64"},
    {"C64", "complex64"},
    {"F32", "float32"},
    {"U32", "uint32"},
    {"I32", "int32"},
    {"C32", "complex32"},
    {"BF16", "bfloat16"},
    {"F16", "float16"},
    {"U16", "uint16"},
    {"I16", "int16"},
    {"F8_E5M2FNUZ", "float8_e5m2fnuz"},
    {"F8_E4M3FNUZ", "float8_e4m3fnuz"},
    {"F8_E8M0", "float8_e8m0fnu"},
    {"F8_E4M3", "float8_e4m3fn"},
    {"F8_E5M2", "float8_e5m2"},
    {"I8", "int8"},
    {"U8", "uint8"},
    {"BOOL", "bool"},
};

struct Entry {
  std::string name;
  c10::ScalarType dtype;
  std::vector<int64_t> shape;
  int64_t begin;
  int64_t end;
};

c10::ScalarType read_dtype(const JsonValue& value, const Place& place) {
  const std::string& name = as_string(value, place);
  const auto* entry = std::ranges::find(kDtypes, name, &Dtype::name);
  if (entry == std::end(kDtypes)) place.fail("unknown dtype '" + printable(name) + "'");
  const auto dtype = find_dtype(entry->torch_name);
  if (!dtype) {
    place.fail("dtype '" + printable(name) + "' is not supported by this version of LibTorch");
  }
  return *dtype;
}

// LibTorch computes strides as if empty dimensions had size 1, so they count as one here.
int64_t checked_num_bytes(const Entry& entry, const Place& place) {
  int64_t num_bytes = static_cast<int64_t>(c10::elementSize(entry.dtype));
  bool is_empty = false;
  for (const int64_t size : entry.shape) {
    is_empty |= size == 0;
    if (__builtin_mul_overflow(num_bytes, std::max<int64_t>(size, 1), &num_bytes)) {
      place.fail(fmt::format("shape [{}] is too large", fmt::join(entry.shape, ", ")));
    }
  }
  return is_empty ? 0 : num_bytes;
}

// Other members are allowed and ignored.
Entry read_entry(std::string name, const JsonValue& value, const Place& place) {
  const ObjectReader members(value, place);
  Entry entry;
  entry.dtype = members.get("dtype", read_dtype);
  entry.shape = members.get("shape", as_sizes);
  if (entry.shape.size() > kMaxTensorDims) {
    place.fail(fmt::format("{} dimensions; a tensor can have at most {}", entry.shape.size(),
                           kMaxTensorDims));
  }
  const Place offsets_place = place.key("data_offsets");
  const auto offsets = members.get("data_offsets", as_sizes);
  if (offsets.size() != 2) {
    offsets_place.fail(fmt::format("expected [begin, end], found {} numbers", offsets.size()));
  }
  if (offsets[0] > offsets[1]) {
    offsets_place.fail(fmt::format("expected [begin, end] with begin <= end, found [{}]",
                                   fmt::join(offsets, ", ")));
  }
  entry.begin = offsets[0];
  entry.end = offsets[1];
  const int64_t num_bytes = checked_num_bytes(entry, place);
  if (num_bytes != entry.end - entry.begin) {
    place.fail(fmt::format("shape [{}] of {} needs {} bytes, data_offsets has {}",
                           fmt::join(entry.shape, ", "), dtype_name(entry.dtype), num_bytes,
                           entry.end - entry.begin));
  }
  entry.name = std::move(name);
  return entry;
}

void check_metadata(const JsonValue& value, const Place& place) {
  for (const auto& [key, text] : as_object(value, place)) as_string(text, place.key(key));
}

void check_layout(const std::vector<Entry>& entries, int64_t data_size) {
  int64_t position = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != position) {
      throw WeightError(fmt::format("{} tensor '{}': its data starts at byte {}, expected {}",
                                    entry.begin < position ? "overlap before" : "gap before",
                                    printable(entry.name), entry.begin, position));
    }
    position = entry.end;
    if (position > data_size) {
      throw WeightError(
          fmt::format("the data of tensor '{}' ends at byte {}, but the data of the file "
                      "ends at byte {}; it is truncated",
                      printable(entry.name), position, data_size));
    }
  }
  if (position < data_size) {
    throw WeightError(fmt::format("{} unexpected byte{} after the data of the last tensor",
                                  data_size - position, data_size - position == 1 ? "" : "s"));
  }
}

std::vector<Entry> read_header(std::string_view text) {
  const JsonValue header = parse_json(text, kMaxDocumentValues);
  const Place root;
  std::vector<Entry> entries;
  for (const auto& [name, value] : as_object(header, root)) {
    const Place place = root.key(name);
    if (name == kMetadataKey) {
      check_metadata(value, place);
    } else {
      entries.push_back(read_entry(name, value, place));
    }
  }
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  return entries;
}

// Large tensors stay mapped, unless their elements would be misaligned.
at::Tensor make_tensor(const Entry& entry, const ByteRange& data) {
  const at::TensorOptions options(entry.dtype);
  const ByteRange bytes = data.part(entry.begin, entry.end - entry.begin);
  if (bytes.size == 0) return at::empty(entry.shape, options);
  if (!is_usable_in_place(bytes, c10::elementSize(entry.dtype))) {
    at::Tensor copy = at::empty(entry.shape, options);
    std::memcpy(copy.mutable_data_ptr(), bytes.data, bytes.size);
    return copy;
  }
  return at::from_blob(bytes.data, entry.shape, [owner = bytes.owner](void*) {}, options);
}

StateDict read_tensors(const ByteRange& file) {
  if (file.size < kSafetensorsLengthSize) {
    throw WeightError(fmt::format(
        "not a safetensors file: {} bytes are too few for the length of a header", file.size));
  }
  uint64_t header_size = 0;
  std::memcpy(&header_size, file.data, kSafetensorsLengthSize);
  if (header_size > kMaxHeaderBytes) {
    throw WeightError(fmt::format("the header has {} bytes; at most {} are allowed", header_size,
                                  kMaxHeaderBytes));
  }
  const size_t rest = file.size - kSafetensorsLengthSize;
  if (header_size > rest) {
    throw WeightError(
        fmt::format("the header has {} bytes, but the file ends after {} of them; "
                    "it is truncated",
                    header_size, rest));
  }
  const ByteRange header = file.part(kSafetensorsLengthSize, header_size);
  const ByteRange data = file.part(kSafetensorsLengthSize + header_size, rest - header_size);
  const std::vector<Entry> entries = read_header(header.text());
  check_layout(entries, static_cast<int64_t>(data.size));
  StateDict tensors;
  for (const Entry& entry : entries) tensors.insert(entry.name, make_tensor(entry, data));
  return tensors;
}

struct Item {
  std::string name;
  at::Tensor tensor;
  const Dtype* dtype;
  // Of a tensor without values, where its bytes are in another file.
  size_t begin = 0;
};

std::string_view bytes_of(const at::Tensor& tensor) {
  return {static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()};
}

bool is_utf8(const std::string& text) {
  try {
    nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

Item make_item(const std::string& name, const at::Tensor& tensor) {
  const auto fail = [&](const std::string& what) {
    throw WeightError(fmt::format("cannot write tensor '{}': {}", printable(name), what));
  };
  if (!is_utf8(name)) fail("its name is not UTF-8");
  if (name == kMetadataKey) fail("safetensors reserves this name");
  if (!tensor.defined()) fail("it is undefined");
  if (tensor.is_meta()) fail("it is on the meta device and has no values");
  if (tensor.layout() != c10::kStrided) fail("its layout is not strided; make it dense first");
  const std::string dtype = dtype_name(tensor.scalar_type());
  const auto* entry = std::ranges::find(kDtypes, dtype, &Dtype::torch_name);
  if (entry == std::end(kDtypes)) fail("safetensors has no dtype for " + dtype);
  return {name, tensor.detach().cpu().resolve_conj().resolve_neg().contiguous(), entry};
}

std::string make_header(const std::vector<Item>& items) {
  nlohmann::ordered_json::object_t entries;
  int64_t position = 0;
  for (const Item& item : items) {
    const int64_t end = position + static_cast<int64_t>(item.tensor.nbytes());
    nlohmann::ordered_json entry;
    entry["dtype"] = item.dtype->name;
    entry["shape"] = item.tensor.sizes().vec();
    entry["data_offsets"] = {position, end};
    // Names are unique, so this avoids the lookup of entries[item.name].
    entries.emplace_back(item.name, std::move(entry));
    position = end;
  }
  std::string text = nlohmann::ordered_json(std::move(entries)).dump();
  text.resize((text.size() + kHeaderAlignment - 1) / kHeaderAlignment * kHeaderAlignment, ' ');
  return text;
}

// `part` has the bytes of tensors without values.
void write_items(std::vector<Item>& items, const std::string& path, const std::string& part = "") {
  std::ranges::sort(items, [](const Item& a, const Item& b) {
    return std::tie(a.dtype, a.name) < std::tie(b.dtype, b.name);
  });
  const std::string header = make_header(items);
  AtomicFile file(path);
  const uint64_t header_size = header.size();
  file.write({reinterpret_cast<const char*>(&header_size), kSafetensorsLengthSize});
  file.write(header);
  for (const Item& item : items) {
    const size_t num_bytes = item.tensor.nbytes();
    if (num_bytes == 0) continue;
    // Unmapped each time, since mapped pages count as memory of the process.
    file.write(item.tensor.is_meta() ? map_file(part).part(item.begin, num_bytes).text()
                                     : bytes_of(item.tensor));
  }
  file.commit();
}

}  // namespace

StateDict load_weights_safetensors(const std::string& path) {
  const ByteRange file = map_weights(path);
  try {
    return read_tensors(file);
  } catch (const SerializationError& error) {
    throw WeightError(
        fmt::format("{}: header of the safetensors file: {}", printable(path), error.what()));
  } catch (const WeightError& error) {
    throw WeightError(fmt::format("{}: {}", printable(path), error.what()));
  }
}

void save_weights_safetensors(const StateDict& tensors, const std::string& path) {
  std::vector<Item> items;
  items.reserve(tensors.size());
  for (const auto& item : tensors) items.push_back(make_item(item.key(), item.value()));
  write_items(items, path);
}

struct SafetensorsWriter::Part {
  std::string path;
  std::string part_path = path + ".part";
  AtomicFile file = AtomicFile(part_path);
  std::vector<Item> items = {};
  size_t size = 0;
};

SafetensorsWriter::SafetensorsWriter(const std::string& path) : part_(new Part{path}) {}

SafetensorsWriter::~SafetensorsWriter() {
  std::error_code ignored;
  std::filesystem::remove(part_->part_path, ignored);
}

void SafetensorsWriter::add(const std::string& name, const at::Tensor& tensor) {
  Item& item = part_->items.emplace_back(make_item(name, tensor));
  item.begin = std::exchange(part_->size, part_->size + item.tensor.nbytes());
  if (item.tensor.nbytes() > 0) part_->file.write(bytes_of(item.tensor));
  item.tensor = at::empty_like(item.tensor, at::kMeta);
}

void SafetensorsWriter::commit() {
  if (part_->items.empty()) return;
  part_->file.commit();
  write_items(part_->items, part_->path, part_->part_path);
}

}  // namespace torch_ir
