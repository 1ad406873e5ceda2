// oneDNN and LibTorch, which contains another oneDNN, in one process: neither may call the other.
#include <ATen/ops/ones.h>
#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "torch_ir/fast/onednn/primitive.h"

namespace torch_ir::onednn {
namespace {

// A loaded library, and the addresses that its references to symbols were bound to.
struct Library {
  struct Reference {
    std::string symbol;
    uintptr_t address;
  };
  std::string name;
  uintptr_t begin = UINTPTR_MAX;
  uintptr_t end = 0;
  std::vector<Reference> references = {};

  bool contains(uintptr_t address) const { return address >= begin && address < end; }
};

struct Dynamic {
  const char* names = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  std::vector<std::pair<uintptr_t, size_t>> tables = {};
};

// glibc has replaced the offsets in this table by addresses.
Dynamic read_dynamic(const ElfW(Dyn) * entry) {
  Dynamic dynamic;
  uintptr_t rela = 0;
  uintptr_t plt = 0;
  size_t rela_bytes = 0;
  size_t plt_bytes = 0;
  for (; entry->d_tag != DT_NULL; ++entry) {
    const uintptr_t value = entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRTAB) dynamic.names = reinterpret_cast<const char*>(value);
    if (entry->d_tag == DT_SYMTAB) dynamic.symbols = reinterpret_cast<const ElfW(Sym)*>(value);
    if (entry->d_tag == DT_RELA) rela = value;
    if (entry->d_tag == DT_RELASZ) rela_bytes = value;
    if (entry->d_tag == DT_JMPREL) plt = value;
    if (entry->d_tag == DT_PLTRELSZ) plt_bytes = value;
  }
  dynamic.tables = {{rela, rela_bytes}, {plt, plt_bytes}};
  return dynamic;
}

Library read_library(const dl_phdr_info& info) {
  Library library{info.dlpi_name};
  const ElfW(Dyn)* dynamic_entries = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) & header = info.dlpi_phdr[i];
    const uintptr_t begin = info.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_DYNAMIC) dynamic_entries = reinterpret_cast<const ElfW(Dyn)*>(begin);
    if (header.p_type != PT_LOAD) continue;
    library.begin = std::min(library.begin, begin);
    library.end = std::max(library.end, begin + header.p_memsz);
  }
  const Dynamic dynamic = read_dynamic(dynamic_entries);
  for (const auto& [table, bytes] : dynamic.tables) {
    const auto* entry = reinterpret_cast<const ElfW(Rela)*>(table);
    for (size_t i = 0; i < bytes / sizeof(*entry); ++i) {
      const uint32_t symbol = ELF64_R_SYM(entry[i].r_info);
      // Offsets within thread-local storage are not addresses.
      if (symbol == 0 || ELF64_ST_TYPE(dynamic.symbols[symbol].st_info) == STT_TLS) continue;
      library.references.push_back(
          {dynamic.names + dynamic.symbols[symbol].st_name,
           *reinterpret_cast<const uintptr_t*>(info.dlpi_addr + entry[i].r_offset)});
    }
  }
  return library;
}

// The library whose file name begins so; it has no references if it is not loaded.
Library find_library(std::string_view name) {
  struct Search {
    std::string_view name;
    Library found = {};
  } search{name};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        Search& wanted = *static_cast<Search*>(data);
        const std::string_view path = info->dlpi_name;
        if (!path.substr(path.rfind('/') + 1).starts_with(wanted.name)) return 0;
        wanted.found = read_library(*info);
        return 1;
      },
      &search);
  return search.found;
}

std::vector<std::string> references_into(const Library& from, const Library& into) {
  std::vector<std::string> symbols;
  for (const Library::Reference& reference : from.references) {
    if (into.contains(reference.address)) symbols.push_back(reference.symbol);
  }
  return symbols;
}

TEST(IsolationTest, LibTorchAndOneDnnDoNotBindToEachOther) {
  if (!version()) GTEST_SKIP() << "built without oneDNN";
  ASSERT_EQ(at::ones({2}).numel(), 2);
  const Library onednn = find_library("libdnnl.so");
  const Library libtorch = find_library("libtorch_cpu.so");
  ASSERT_GT(onednn.references.size(), 1000);
  ASSERT_GT(libtorch.references.size(), 10000);
  // What is found at all: each library's references into itself.
  EXPECT_FALSE(references_into(onednn, onednn).empty());
  EXPECT_FALSE(references_into(libtorch, libtorch).empty());
  EXPECT_EQ(references_into(libtorch, onednn), std::vector<std::string>());
  EXPECT_EQ(references_into(onednn, libtorch), std::vector<std::string>());
}

}  // namespace
}  // namespace torch_ir::onednn
