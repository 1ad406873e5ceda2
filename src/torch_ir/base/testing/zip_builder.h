// Builds zip archives for tests, including malformed ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace torch_ir {

uint32_t zip_checksum(const std::string& bytes);

std::string deflate_stored(const std::string& bytes);

struct ZipEntry {
  static constexpr uint16_t kStored = 0;
  static constexpr uint16_t kDeflated = 8;

  std::string name;
  std::string content;
  uint16_t method = kStored;
  uint16_t flags = 0;
  uint64_t size = content.size();
  uint32_t crc = zip_checksum(content);
  // Padding before the content, as PyTorch aligns it.
  std::string padding = {};
};

std::string build_zip(const std::vector<ZipEntry>& entries);

std::string zip_local_header(const ZipEntry& entry);
std::string zip_directory_entry(const ZipEntry& entry, size_t offset);
std::string zip_end(size_t count, size_t directory_size, size_t directory_offset,
                    uint16_t disk = 0);

}  // namespace torch_ir
