// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/cubin_compiler.hpp"

#include <elf.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <sstream>

#include "tuner/core/kernel_arguments.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

// Attributes of .nv.info (by symbol) and .nv.info.<kernel>.
enum Attribute : unsigned {
  kMaxThreads = 0x05,
  kRequiredThreads = 0x10,
  kFrameSize = 0x11,
  kParameter = 0x17,
  kRegisters = 0x2f,
  kClusterShape = 0x3d,
  kBarriers = 0x4c,
};
/// The only one of four attribute formats with a payload after its header.
constexpr unsigned kSizedFormat = 4;
/// Marks a kernel, not a device function, in the st_other of its symbol.
constexpr unsigned kEntrySymbol = 0x10;
/// sm_90 and later reserve the first 1024 bytes of a block's shared memory.
constexpr std::int64_t kReservedShared = 1024;

/// The T at `offset`; zero if the bytes end before it does.
template <class T>
T read(std::string_view bytes, std::size_t offset) {
  T value{};
  if (offset <= bytes.size() && sizeof(T) <= bytes.size() - offset) {
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
  }
  return value;
}

std::string_view slice(std::string_view bytes, std::size_t offset, std::size_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset ? bytes.substr(offset, size)
                                                                 : std::string_view{};
}

std::string_view text_at(std::string_view bytes, std::size_t offset) {
  if (offset >= bytes.size()) return {};
  bytes.remove_prefix(offset);
  return bytes.substr(0, bytes.find('\0'));
}

struct Section {
  std::string_view name;
  std::string_view bytes;  // empty for one that takes no room in the file
  std::size_t size = 0;
};

class Elf {
 public:
  explicit Elf(std::string_view file) : header_(read<Elf64_Ehdr>(file, 0)) {
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) return;
    if (header_.e_shentsize != sizeof(Elf64_Shdr)) return;
    const auto at = [&](std::size_t i) {
      return read<Elf64_Shdr>(file, header_.e_shoff + i * sizeof(Elf64_Shdr));
    };
    const Elf64_Shdr strings = at(header_.e_shstrndx);
    const std::string_view names = slice(file, strings.sh_offset, strings.sh_size);
    for (std::size_t i = 0; i < header_.e_shnum; ++i) {
      const Elf64_Shdr section = at(i);
      const bool in_file = section.sh_type != SHT_NOBITS;
      sections_.push_back({text_at(names, section.sh_name),
                           in_file ? slice(file, section.sh_offset, section.sh_size) : "",
                           section.sh_size});
    }
  }

  /// 90 for sm_90. Its place in the flags moved with ABI version 8 (CUDA 13).
  int architecture() const {
    const unsigned shift = header_.e_ident[EI_ABIVERSION] >= 8 ? 8 : 0;
    return static_cast<int>(header_.e_flags >> shift & 0xff);
  }

  Section section(std::string_view name) const {
    const auto found = std::ranges::find(sections_, name, &Section::name);
    return found == sections_.end() ? Section{} : *found;
  }

 private:
  Elf64_Ehdr header_;
  std::vector<Section> sections_;
};

/// Calls visit(attribute, payload) for each entry of an .nv.info section.
template <class Visit>
void for_each_attribute(std::string_view info, Visit visit) {
  while (info.size() >= 4) {
    const bool sized = read<std::uint8_t>(info, 0) == kSizedFormat;
    const unsigned attribute = read<std::uint8_t>(info, 1);
    const std::size_t value = read<std::uint16_t>(info, 2);
    visit(attribute, sized ? slice(info, 4, value) : info.substr(2, 2), sized);
    info.remove_prefix(std::min(info.size(), 4 + (sized ? value : 0)));
  }
}

/// Attributes given by symbol number: {symbol: value}.
std::map<std::uint32_t, std::uint32_t> by_symbol(const Elf& elf, unsigned wanted) {
  std::map<std::uint32_t, std::uint32_t> values;
  const auto visit = [&](unsigned attribute, std::string_view payload, bool) {
    if (attribute == wanted)
      values[read<std::uint32_t>(payload, 0)] = read<std::uint32_t>(payload, 4);
  };
  for_each_attribute(elf.section(".nv.info").bytes, visit);
  return values;
}

Dim3 dim3_of(std::string_view payload) {
  return {read<std::uint32_t>(payload, 0), read<std::uint32_t>(payload, 4),
          read<std::uint32_t>(payload, 8)};
}

void take_attribute(CubinKernel& kernel, unsigned attribute, std::string_view payload, bool sized) {
  switch (attribute) {
    case kMaxThreads:
    case kRequiredThreads:
      kernel.resources.max_threads = static_cast<int>(dim3_of(payload).count());
      break;
    case kClusterShape:
      kernel.cluster = dim3_of(payload);
      break;
    case kBarriers:
      if (!sized) kernel.barriers = read<std::uint8_t>(payload, 0);
      break;
    case kParameter: {
      const std::size_t ordinal = read<std::uint16_t>(payload, 4);
      std::vector<int>& parameters = *kernel.resources.parameter_bytes;
      if (parameters.size() <= ordinal) parameters.resize(ordinal + 1);
      parameters[ordinal] = static_cast<int>(read<std::uint32_t>(payload, 8) >> 18);
      break;
    }
    default:
      break;
  }
}

CubinKernel kernel_called(const Elf& elf, const std::string& name) {
  CubinKernel kernel;
  kernel.symbol = kernel.resources.entry = name;
  kernel.resources.parameter_bytes.emplace();
  kernel.resources.shared_bytes = static_cast<std::int64_t>(elf.section(".nv.shared." + name).size);
  if (elf.architecture() >= 90) {
    kernel.resources.shared_bytes =
        std::max<std::int64_t>(kernel.resources.shared_bytes - kReservedShared, 0);
  }
  for_each_attribute(elf.section(".nv.info." + name).bytes,
                     [&](unsigned attribute, std::string_view payload, bool sized) {
                       take_attribute(kernel, attribute, payload, sized);
                     });
  return kernel;
}

/// Names behind a cubin: three lines for each kernel, their length in eight digits, then this word.
constexpr std::string_view kSymbols = "autotune-symbols";
constexpr std::size_t kDigits = 8;

std::vector<KernelSymbol> symbols_behind(std::string_view cubin) {
  if (!cubin.ends_with(kSymbols)) return {};
  cubin.remove_suffix(kSymbols.size());
  std::size_t bytes = 0;
  const char* const end = cubin.data() + cubin.size();
  if (cubin.size() < kDigits || std::from_chars(end - kDigits, end, bytes).ptr != end) return {};
  cubin.remove_suffix(kDigits);
  if (bytes > cubin.size()) return {};
  std::vector<KernelSymbol> symbols;
  std::istringstream lines(std::string(cubin.substr(cubin.size() - bytes)));
  for (KernelSymbol one; std::getline(lines, one.entry) && std::getline(lines, one.symbol) &&
                         std::getline(lines, one.types);) {
    symbols.push_back(one);
  }
  return symbols;
}

}  // namespace

std::string with_symbols(std::string cubin, const std::vector<KernelSymbol>& symbols) {
  if (symbols.empty()) return cubin;
  std::string lines;
  for (const KernelSymbol& one : symbols) {
    lines += one.entry + '\n' + one.symbol + '\n' + one.types + '\n';
  }
  return cubin + lines + format("{:08}", lines.size()) + std::string(kSymbols);
}

std::vector<CubinKernel> kernels_of(std::string_view cubin) {
  const Elf elf(cubin);
  const std::vector<KernelSymbol> entries = symbols_behind(cubin);
  const std::string_view symbols = elf.section(".symtab").bytes;
  const std::string_view names = elf.section(".strtab").bytes;
  const auto registers = by_symbol(elf, kRegisters);
  const auto frames = by_symbol(elf, kFrameSize);
  std::vector<CubinKernel> kernels;
  for (std::uint32_t i = 0; i < symbols.size() / sizeof(Elf64_Sym); ++i) {
    const auto symbol = read<Elf64_Sym>(symbols, i * sizeof(Elf64_Sym));
    const bool is_kernel =
        ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && (symbol.st_other & kEntrySymbol) != 0;
    if (!is_kernel || !registers.contains(i)) continue;
    CubinKernel kernel = kernel_called(elf, std::string(text_at(names, symbol.st_name)));
    const auto known = std::ranges::find(entries, kernel.symbol, &KernelSymbol::symbol);
    if (known != entries.end()) {
      kernel.resources.entry = known->entry;
      kernel.resources.parameter_types = types_in_symbol(known->types);
    }
    kernel.resources.registers = static_cast<int>(registers.at(i));
    const auto frame = frames.find(i);
    kernel.resources.local_bytes = frame == frames.end() ? 0 : frame->second;
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace autotune
