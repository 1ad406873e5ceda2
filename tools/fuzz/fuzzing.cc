#include "tools/fuzz/fuzzing.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "torch_ir/base/error.h"
#include "torch_ir/base/printable.h"
#include "torch_ir/base/testing/zip_builder.h"
#include "torch_ir/base/zip_archive.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace torch_ir {
namespace {

// The number of bytes that a mutation may add.
constexpr size_t kMaxGrowth = 4096;

size_t below(RandomBits& random, size_t limit) { return limit == 0 ? 0 : random() % limit; }

bool can_be_shown(std::string_view message) {
  while (!message.empty()) {
    const size_t size = first_character(message).length;
    const auto first = static_cast<unsigned char>(message.front());
    if (size == 0 || (first < ' ' && first != '\n') || first == 0x7f) return false;
    message.remove_prefix(size);
  }
  return true;
}

void set_content(int descriptor, std::string_view content) {
  const auto size = static_cast<ssize_t>(content.size());
  if (::pwrite(descriptor, content.data(), content.size(), 0) != size ||
      ::ftruncate(descriptor, size) != 0) {
    fail_input("cannot write an input");
  }
}

// --- JSON ---

using Json = nlohmann::ordered_json;

Json interesting_value(RandomBits& random) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  static const auto& values = *new std::vector<Json>{
      // clang-format off
      0, 1, -1, 2, 3, 8, 63, 64, 65, 255, 1 << 20, 1LL << 31, (1LL << 31) - 1, 1LL << 32,
      1LL << 40, 1LL << 62, kMax, kMin, kMin + 1, ~uint64_t{0}, 0.5, -0.0, 1e308, 1e-308, 1e18,
      "", "s0", "s0*s0", "float32", "bool", "int64", "complex128", "\x01\x7f", "../x",
      "Infinity", "NaN", "-Infinity", nullptr, true, false, Json::array(), Json::object(),
      // clang-format on
  };
  return values[below(random, values.size())];
}

// Also accepts strings that are no longer valid UTF-8.
std::string text_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::ignore);
}

void collect(Json& value, std::vector<Json*>& all) {
  all.push_back(&value);
  if (!value.is_structured()) return;
  for (Json& item : value) collect(item, all);
}

Json& choose(const std::vector<Json*>& all, RandomBits& random) {
  return *all[below(random, all.size())];
}

void replace_by_other(Json& value, const std::vector<Json*>& all, RandomBits& random) {
  // Mostly by a value of the same type, so that the text keeps its form.
  Json other = choose(all, random);
  for (int i = 0; i < 20 && other.type() != value.type(); ++i) other = choose(all, random);
  if (text_of(other).size() < kMaxGrowth) value = std::move(other);
}

void replace_by_interesting(Json& value, const std::vector<Json*>&, RandomBits& random) {
  value = interesting_value(random);
}

void change_scalar(Json& value, const std::vector<Json*>&, RandomBits& random) {
  if (value.is_string()) {
    value = mutate_bytes(value.get<std::string>(), random);
  } else if (value.is_number_integer()) {
    const auto delta = static_cast<uint64_t>(below(random, 9)) - 4;
    value = static_cast<int64_t>(value.get<uint64_t>() + delta);
  } else {
    value = interesting_value(random);
  }
}

void erase_item(Json& value, const std::vector<Json*>&, RandomBits& random) {
  if (value.is_structured() && !value.empty()) {
    value.erase(std::next(value.begin(), static_cast<ptrdiff_t>(below(random, value.size()))));
  }
}

void repeat_item(Json& value, const std::vector<Json*>& all, RandomBits& random) {
  if (!value.is_array()) return;
  Json item = value.empty() ? choose(all, random) : value[below(random, value.size())];
  const size_t count = below(random, 8) == 0 ? 65 : 1;
  if (text_of(item).size() * count > kMaxGrowth) return;
  value.insert(std::next(value.begin(), static_cast<ptrdiff_t>(below(random, value.size() + 1))),
               count, item);
}

void swap_items(Json& value, const std::vector<Json*>&, RandomBits& random) {
  if (!value.is_array() || value.empty()) return;
  std::swap(value[below(random, value.size())], value[below(random, value.size())]);
}

void add_member(Json& value, const std::vector<Json*>& all, RandomBits& random) {
  if (!value.is_object()) return;
  const Json& name = choose(all, random);
  value[name.is_string() ? name.get<std::string>() : "x"] = interesting_value(random);
}

void nest(Json& value, const std::vector<Json*>&, RandomBits& random) {
  for (size_t depth = below(random, 8) == 0 ? 600 : 1; depth > 0; --depth) {
    value = Json::array({std::move(value)});
  }
}

constexpr void (*kJsonMutations[])(Json&, const std::vector<Json*>&, RandomBits&) = {
    replace_by_other,
    replace_by_other,
    replace_by_interesting,
    change_scalar,
    change_scalar,
    erase_item,
    repeat_item,
    swap_items,
    add_member,
    nest};

// --- Zip archives ---

std::vector<ZipEntry> entries_of(const std::string& archive) {
  std::string copy = archive;
  const ZipArchive zip =
      ZipArchive::open({reinterpret_cast<std::byte*>(copy.data()), copy.size()}, "seed");
  std::vector<ZipEntry> entries;
  for (const std::string& name : zip.entries()) {
    entries.push_back({.name = name, .content = std::string(zip.map(name).text())});
  }
  return entries;
}

void set_content(ZipEntry& entry, std::string content) {
  entry.content = std::move(content);
  entry.size = entry.content.size();
  entry.crc = zip_checksum(entry.content);
}

void change_content(std::vector<ZipEntry>& entries, size_t index, RandomBits& random) {
  ZipEntry& entry = entries[index];
  const bool is_json = entry.content.starts_with('{');
  set_content(entry, (is_json ? mutate_json : mutate_bytes)(entry.content, random));
}

void change_declaration(std::vector<ZipEntry>& entries, size_t index, RandomBits& random) {
  ZipEntry& entry = entries[index];
  switch (below(random, 4)) {
    case 0:
      entry.size = random() << below(random, 8);
      break;
    case 1:
      entry.crc = below(random, 2) == 0 ? 0 : random();
      break;
    case 2:
      entry.method = ZipEntry::kDeflated;
      entry.content = deflate_stored(entry.content.substr(0, 0xffff));
      break;
    default:
      entry.flags = static_cast<uint16_t>(random());
  }
}

void change_name(std::vector<ZipEntry>& entries, size_t index, RandomBits& random) {
  entries[index].name = below(random, 2) == 0 ? entries[below(random, entries.size())].name
                                              : mutate_bytes(entries[index].name, random);
}

void swap_contents(std::vector<ZipEntry>& entries, size_t index, RandomBits& random) {
  ZipEntry& other = entries[below(random, entries.size())];
  const std::string content = other.content;
  set_content(other, entries[index].content);
  set_content(entries[index], content);
}

void leave_out(std::vector<ZipEntry>& entries, size_t index, RandomBits&) {
  entries.erase(entries.begin() + static_cast<ptrdiff_t>(index));
}

void repeat_entry(std::vector<ZipEntry>& entries, size_t index, RandomBits& random) {
  ZipEntry copy = entries[index];
  copy.name += below(random, 2) == 0 ? "" : "2";
  entries.push_back(std::move(copy));
}

constexpr void (*kZipMutations[])(std::vector<ZipEntry>&, size_t, RandomBits&) = {
    change_content, change_content, change_content, change_content,
    change_content, change_content, change_content, change_declaration,
    change_name,    swap_contents,  leave_out,      repeat_entry};

}  // namespace

void fail_input(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

void expect_result_or_error(const std::function<void()>& read) {
  try {
    read();
  } catch (const Error& error) {
    if (headline(error.what()).empty()) fail_input("an error without a message");
    if (!can_be_shown(error.what())) {
      fail_input(std::string("the message has characters that a terminal cannot show: ") +
                 error.what());
    }
  }
}

const std::string& file_in_memory(std::string_view content) {
  static const int descriptor = ::memfd_create("input", MFD_CLOEXEC);
  static const auto& path = *new std::string("/proc/self/fd/" + std::to_string(descriptor));
  set_content(descriptor, content);
  return path;
}

const std::string& scratch_folder() {
  static const auto& folder = *[] {
    auto* path = new std::string((std::filesystem::temp_directory_path() / "fuzz.XXXXXX").string());
    if (::mkdtemp(path->data()) == nullptr) fail_input("no folder");
    std::atexit([] { std::filesystem::remove_all(scratch_folder()); });
    return path;
  }();
  return folder;
}

void overwrite_file(const std::string& path, std::string_view content) {
  // Does not truncate: some file systems would wait for the disk each time.
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  set_content(descriptor, content);
  ::close(descriptor);
}

std::string mutate_bytes(const std::string& bytes, RandomBits&) {
  std::string buffer = bytes;
  buffer.resize(bytes.size() + std::min(bytes.size() + 64, kMaxGrowth));
  buffer.resize(
      LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(buffer.data()), bytes.size(), buffer.size()));
  return buffer;
}

std::string mutate_json(const std::string& text, RandomBits& random) {
  Json root = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded()) return text;
  for (size_t count = below(random, 3) + 1; count > 0; --count) {
    std::vector<Json*> all;
    collect(root, all);
    kJsonMutations[below(random, std::size(kJsonMutations))](choose(all, random), all, random);
  }
  return text_of(root);
}

std::string mutate_zip(const std::string& archive, RandomBits& random) {
  try {
    std::vector<ZipEntry> entries = entries_of(archive);
    for (size_t count = below(random, 3) + 1; count > 0 && !entries.empty(); --count) {
      kZipMutations[below(random, std::size(kZipMutations))](entries, below(random, entries.size()),
                                                             random);
    }
    return build_zip(entries);
  } catch (const Error&) {
    return archive;
  }
}

std::string mutate_safetensors(const std::string& file, RandomBits& random) {
  uint64_t size = 0;
  if (file.size() < sizeof(size)) return file;
  std::memcpy(&size, file.data(), sizeof(size));
  if (size > file.size() - sizeof(size)) return file;
  const std::string header = mutate_json(file.substr(sizeof(size), size), random);
  const std::string rest = file.substr(sizeof(size) + size);
  size = header.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof(size)) + header + rest;
}

size_t mutate_input(uint8_t* data, size_t size, size_t max_size, unsigned seed,
                    InputMutation mutation) {
  constexpr size_t kBytesEvery = 8;
  RandomBits random(seed);
  const std::string input(input_text(data, size));
  const std::string changed = below(random, kBytesEvery) == 0 ? input : mutation(input, random);
  if (changed == input || changed.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::ranges::copy(changed, data);
  return changed.size();
}

}  // namespace torch_ir
