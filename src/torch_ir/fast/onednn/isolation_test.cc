// oneDNN and LibTorch, which contains another oneDNN, in one process: neither may call the other.
#include <ATen/ops/ones.h>
#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
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

Library read_library(const dl_phdr_info& info) {
  Library library{info.dlpi_name};
  // glibc has replaced the offsets in this table by addresses.
  std::map<ElfW(Sxword), uintptr_t> dynamic;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) & header = info.dlpi_phdr[i];
    const uintptr_t begin = info.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_DYNAMIC) {
      const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(begin);
      for (; entry->d_tag != DT_NULL; ++entry) dynamic[entry->d_tag] = entry->d_un.d_ptr;
    }
    if (header.p_type != PT_LOAD) continue;
    library.begin = std::min(library.begin, begin);
    library.end = std::max(library.end, begin + header.p_memsz);
  }
  const auto* names = reinterpret_cast<const char*>(dynamic[DT_STRTAB]);
  const auto* symbols = reinterpret_cast<const ElfW(Sym)*>(dynamic[DT_SYMTAB]);
  for (const auto& [table, bytes] : {std::pair(DT_RELA, DT_RELASZ), {DT_JMPREL, DT_PLTRELSZ}}) {
    const auto* entry = reinterpret_cast<const ElfW(Rela)*>(dynamic[table]);
    for (size_t i = 0; i < dynamic[bytes] / sizeof(*entry); ++i) {
      const ElfW(Sym) & symbol = symbols[ELF64_R_SYM(entry[i].r_info)];
      // Offsets within thread-local storage are not addresses.
      if (&symbol == symbols || ELF64_ST_TYPE(symbol.st_info) == STT_TLS) continue;
      library.references.push_back(
          {names + symbol.st_name,
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
