#include "torch_ir/base/testing/zip_builder.h"

namespace torch_ir {
namespace {

std::string number(uint64_t value, size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i, value >>= 8) bytes += static_cast<char>(value);
  return bytes;
}

std::string fields(const ZipEntry& entry) {
  return number(entry.flags, 2) + number(entry.method, 2) + number(0, 4) + number(entry.crc, 4) +
         number(entry.content.size(), 4) + number(entry.size, 4) + number(entry.name.size(), 2);
}

}  // namespace

uint32_t zip_checksum(const std::string& bytes) {
  constexpr uint32_t kPolynomial = 0xedb88320;
  uint32_t sum = ~0u;
  for (const char byte : bytes) {
    sum ^= static_cast<unsigned char>(byte);
    for (int i = 0; i < 8; ++i) sum = sum >> 1 ^ ((sum & 1) == 0 ? 0 : kPolynomial);
  }
  return ~sum;
}

std::string deflate_stored(const std::string& bytes) {
  return "\x01" + number(bytes.size(), 2) + number(~bytes.size(), 2) + bytes;
}

std::string zip_local_header(const ZipEntry& entry) {
  std::string extra;
  if (!entry.padding.empty()) extra = "FB" + number(entry.padding.size(), 2) + entry.padding;
  return "PK\x03\x04" + number(20, 2) + fields(entry) + number(extra.size(), 2) + entry.name +
         extra;
}

std::string zip_directory_entry(const ZipEntry& entry, size_t offset) {
  return "PK\x01\x02" + number(20, 2) + number(20, 2) + fields(entry) + number(0, 12) +
         number(offset, 4) + entry.name;
}

std::string zip_end(size_t count, size_t directory_size, size_t directory_offset, uint16_t disk) {
  return "PK\x05\x06" + number(disk, 2) + number(disk, 2) + number(count, 2) + number(count, 2) +
         number(directory_size, 4) + number(directory_offset, 4) + number(0, 2);
}

std::string build_zip(const std::vector<ZipEntry>& entries) {
  std::string bytes;
  std::string directory;
  for (const ZipEntry& entry : entries) {
    directory += zip_directory_entry(entry, bytes.size());
    bytes += zip_local_header(entry) + entry.content;
  }
  return bytes + directory + zip_end(entries.size(), directory.size(), bytes.size());
}

}  // namespace torch_ir
