// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_module.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

namespace autotune {
namespace {

struct Symbol {
  const char* name;
  unsigned char type;
  std::uint16_t section;
  std::uint64_t size;
};

template <class T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// An ELF file of a symbol table and its names.
std::string shared_object(const std::vector<Symbol>& symbols) {
  std::string table, names(1, '\0');
  for (const Symbol& each : symbols) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(names.size());
    symbol.st_info = ELF64_ST_INFO(STB_LOCAL, each.type);
    symbol.st_shndx = each.section;
    symbol.st_size = each.size;
    append(table, symbol);
    names += each.name;
    names += '\0';
  }
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_shoff = sizeof header;
  header.e_shnum = 2;
  Elf64_Shdr sections[2]{};
  sections[0].sh_type = SHT_SYMTAB;
  sections[0].sh_offset = sizeof header + sizeof sections;
  sections[0].sh_size = table.size();
  sections[0].sh_link = 1;
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = sections[0].sh_offset + table.size();
  std::string bytes;
  append(bytes, header);
  append(bytes, sections);
  return bytes + table + names;
}

TEST(Elf, ThreadLocalVariablesHaveASegment) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_phoff = sizeof header;
  header.e_phnum = 2;
  Elf64_Phdr segments[2]{};
  segments[0].p_type = PT_LOAD;
  segments[0].p_memsz = 4096;
  segments[1].p_type = PT_TLS;
  segments[1].p_memsz = 320;
  std::string file;
  append(file, header);
  append(file, segments);
  EXPECT_EQ(thread_local_bytes_of(file), 320u);
  EXPECT_EQ(thread_local_bytes_of(file.substr(0, file.size() - 1)), 0u);
  EXPECT_EQ(thread_local_bytes_of("no such file"), 0u);
}

TEST(Elf, SharedMemoryIsWhatIsThreadLocalAndDefinedByTheKernel) {
  const std::string file = shared_object({{"tile", STT_TLS, 1, 4096},
                                          {"_ZL5other", STT_TLS, 1, 100},
                                          {"threadIdx", STT_TLS, 1, 12},
                                          {"_ZL15autotune_copies", STT_TLS, 1, 1},
                                          {"imported", STT_TLS, SHN_UNDEF, 8},
                                          {"kernel", STT_FUNC, 1, 50},
                                          {"table", STT_OBJECT, 1, 70}});
  EXPECT_EQ(shared_bytes_of(file), 4096 + 100);
}

TEST(Elf, WhatIsNoSharedObjectHasNone) {
  EXPECT_EQ(shared_bytes_of(""), 0);
  EXPECT_EQ(shared_bytes_of("#!/bin/sh\n"), 0);
  EXPECT_EQ(shared_bytes_of(std::string(200, '\0')), 0);
}

TEST(Elf, AFileThatEndsEarlyIsReadAsFarAsItGoes) {
  const std::string whole = shared_object({{"a", STT_TLS, 1, 16}, {"b", STT_TLS, 1, 32}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_LE(shared_bytes_of(std::string_view(whole).substr(0, size)), 48) << size;
  }
  std::string endless = whole;
  const std::uint64_t most = ~std::uint64_t{0};
  std::memcpy(endless.data() + sizeof(Elf64_Ehdr) + offsetof(Elf64_Shdr, sh_size), &most,
              sizeof most);
  EXPECT_GE(shared_bytes_of(endless), 48) << "no endless loop, no read behind the end";
}

}  // namespace
}  // namespace autotune
