// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/elf.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace autotune {
namespace {

/// The value at an offset; nullopt where the bytes end before it does.
template <class T>
std::optional<T> read_at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::optional<Elf64_Ehdr> header_of(std::string_view bytes) {
  const auto header = read_at<Elf64_Ehdr>(bytes, 0);
  const bool is_elf = header && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0;
  return is_elf ? header : std::nullopt;
}

std::string_view text_at(std::string_view bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const std::string_view rest = bytes.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

/// Calls visit(symbol, name) for each symbol of the file's tables, but not those of the loader.
template <class Visit>
void for_each_symbol(std::string_view shared_object, Visit visit) {
  const auto header = header_of(shared_object);
  if (!header) return;
  const auto section = [&](std::uint64_t index) {
    return read_at<Elf64_Shdr>(shared_object, header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto symbols = section(i);
    if (!symbols || symbols->sh_type != SHT_SYMTAB) continue;
    const auto names = section(symbols->sh_link);
    if (!names) continue;
    for (std::uint64_t at = 0; at < symbols->sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = read_at<Elf64_Sym>(shared_object, symbols->sh_offset + at);
      if (!symbol) break;
      visit(*symbol, text_at(shared_object, names->sh_offset + symbol->st_name));
    }
  }
}

/// Thread-local variables that are the shim's, not shared memory of the kernel.
bool is_of_shim(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kOwn = {"threadIdx", "blockIdx", "blockDim",
                                                           "gridDim", "autotune_"};
  return std::ranges::any_of(
      kOwn, [&](std::string_view own) { return name.find(own) != std::string_view::npos; });
}

}  // namespace

std::int64_t shared_bytes_of(std::string_view shared_object) {
  std::int64_t bytes = 0;
  for_each_symbol(shared_object, [&](const Elf64_Sym& symbol, std::string_view name) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS || symbol.st_shndx == SHN_UNDEF) return;
    if (!is_of_shim(name)) bytes += static_cast<std::int64_t>(symbol.st_size);
  });
  return bytes;
}

std::vector<std::string> symbols_with(std::string_view shared_object, std::string_view part) {
  std::vector<std::string> names;
  for_each_symbol(shared_object, [&](const Elf64_Sym&, std::string_view name) {
    if (name.find(part) != std::string_view::npos) names.emplace_back(name);
  });
  return names;
}

std::size_t thread_local_bytes_of(std::string_view shared_object) {
  const auto header = header_of(shared_object);
  if (!header) return 0;
  for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto segment =
        read_at<Elf64_Phdr>(shared_object, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (segment && segment->p_type == PT_TLS) return segment->p_memsz;
  }
  return 0;
}

}  // namespace autotune
