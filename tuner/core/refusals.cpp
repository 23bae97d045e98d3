// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/refusals.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

/// Whether a line such as `template <int BLOCK>` or `const int BLOCK = 16;` declares a name: a word
/// stands before it, and what ends a declaration behind it.
bool declares(std::string_view line, std::string_view name) {
  static constexpr std::array<std::string_view, 5> kNoTypes = {"return", "case", "define", "if",
                                                               "else"};
  std::string_view last;
  while (!line.empty()) {
    const std::string_view word = take_identifier(line);
    if (word == name && !last.empty()) {
      const std::string_view behind = trimmed(line);
      return !behind.empty() && std::string_view("=,;)>[").find(behind.front()) != line.npos;
    }
    if (!word.empty()) {
      const bool is_type = std::ranges::find(kNoTypes, word) == kNoTypes.end();
      last = is_type ? word : std::string_view();
      continue;
    }
    const bool is_product = line.starts_with(" * ") || line.starts_with(" & ");
    const bool is_between = line.front() == ' ' || line.front() == '*' || line.front() == '&';
    if (is_product || !is_between) last = {};
    line.remove_prefix(1);
  }
  return false;
}

/// Names of <stdint.h>, <limits.h>, <float.h> and <math.h>.
bool is_of_nvcc(std::string_view name) {
  return name.ends_with("int8_t") || name.ends_with("int16_t") || name.ends_with("int32_t") ||
         name.ends_with("int64_t") || name.starts_with("FLT_") || name.starts_with("DBL_") ||
         name == "uint" || name == "ushort" || name == "ulong" || name.ends_with("INT_MAX") ||
         name == "INT_MIN" || name == "INFINITY" || name == "NAN" || name.starts_with("M_");
}

/// Whether a line of a log puts a name of nvcc's in quotes as undefined: `identifier "NAN" is
/// undefined`, or `'NAN' was not declared`.
bool lacks_name_of_nvcc(std::string_view line) {
  for (const auto& [before, after] :
       {std::pair<std::string_view, std::string_view>{"identifier \"", "\" is undefined"},
        {"'", "' was not declared"},
        {"'", "' does not name a type"}}) {
    const auto end = line.find(after);
    if (end == line.npos || end == 0) continue;
    const auto from = line.rfind(before, end - 1);
    if (from == line.npos) continue;
    const std::string_view name = line.substr(from + before.size(), end - from - before.size());
    if (is_of_nvcc(name)) return true;
  }
  return false;
}

/// What a compiler says, in any of these words, and what is meant.
constexpr std::pair<std::string_view, std::string_view> kMeanings[] = {
    {"device-side kernel launch could not be processed|<<<",
     "a launch with <<<...>>> is host code: put it between #ifndef __CUDACC_RTC__ and #endif; "
     "kernels that a kernel launches are not supported: list them in the manifest"},
    {"texture is not a template|'texture' does not name a type",
     "CUDA 12 has no texture references: take a cudaTextureObject_t as an argument, and declare it "
     "under textures"},
    {"'cudaSurfaceObject_t' was not declared", "a manifest passes no surfaces: write to a buffer"},
    {"\"__shfl\" is|\"__shfl_down\" is|\"__shfl_up\" is|\"__shfl_xor\" is|\"__ballot\" is|"
     "\"__any\" is|\"__all\" is|'__shfl' was|'__shfl_down' was|'__shfl_up' was|'__shfl_xor' was|"
     "'__ballot' was|'__any' was|'__all' was",
     "votes and shuffles without _sync ended with compute capability 7.0: write "
     "__shfl_down_sync(0xffffffff, ...) and the like, or define it so by options = "
     "[\"-D__shfl_down(...)=__shfl_down_sync(~0u,__VA_ARGS__)\"]"},
    {"which instance of overloaded function|cannot resolve address of overloaded function",
     "several kernels have this name, or its template does not take what `entry` passes: correct "
     "entry, or give the kernel that is launched a name of its own"},
    {"annotation on lambda requires",
     "NVRTC has no extended lambdas: leave __device__ out, a lambda in a kernel is device code"},
    {"Assembler messages:",
     "the host device runs no inline PTX: put it between #ifndef AUTOTUNE_HOST and #endif, or "
     "check the kernel for a GPU (--device model:h200)"},
    {"'nvcuda' is not a namespace-name|'nvcuda' has not been declared|'nvcuda' was not declared",
     "the host device has no <mma.h>: with it, the kernel compiles for GPUs only (check it with "
     "--device model:h200)"},
    {"'coalesced_threads' is not a member",
     "the host device has no groups of coalesced threads: check the kernel for a GPU (--device "
     "model:h200)"},
    {"'clock64' was not declared|'clock' was not declared",
     "the host device has no clock: check the kernel for a GPU (--device model:h200)"},
};

}  // namespace

std::string_view written_name(std::string_view entry) {
  return entry.substr(entry.starts_with("::") ? 2 : 0);
}

std::string grid_barrier_refusal(const std::string& source, const std::string& who) {
  return format(
      "{}: error: {} waits for the whole grid (this_grid().sync()), which needs a cooperative "
      "launch: write cooperative = true at the kernel\n",
      source, who);
}

std::string file_refusal(const std::string& source, const std::filesystem::path& file) {
  return format(
      "{}: error: it reads {}: a source may include files of its own folder and of its `include` "
      "folders, but no data of the target, and headers of the toolkit and the system\n",
      source, file.string());
}

std::string missing_header_refusal(const std::string& source, std::string_view log) {
  constexpr std::string_view kBefore = "fatal error: ", kAfter = ": No such file";
  const auto from = log.find(kBefore), end = log.find(kAfter);
  if (end == log.npos || from == log.npos || from > end) return "";
  const std::string_view name = log.substr(from + kBefore.size(), end - from - kBefore.size());
  static constexpr std::array<std::string_view, 6> kOfCuda = {"cub/",   "thrust/", "cuda",
                                                              "curand", "mma.h",   "nv/"};
  if (std::ranges::none_of(kOfCuda, [&](auto each) { return name.starts_with(each); })) return "";
  return format(
      "{}: error: the host device has no <{}>: with it, the kernel compiles for GPUs "
      "only (check it with --device model:h200)\n",
      source, name);
}

std::string advice_on(const SourceUnit& unit, std::string_view log) {
  const std::vector<std::string_view> lines = split(log, '\n');
  std::string advice;
  for (std::string_view define : split(unit.prelude, '\n')) {
    if (!define.starts_with("#define ")) continue;
    define.remove_prefix(8);
    const std::string_view name = take_identifier(define);
    const auto line =
        std::ranges::find_if(lines, [&](std::string_view each) { return declares(each, name); });
    if (line == lines.end()) continue;
    advice += format(
        "{}: error: {} is a macro of the manifest, and `{}` declares that name: rename "
        "one of the two\n",
        unit.name, name, trimmed(line->substr(std::min(line->find('|') + 1, line->size()))));
  }
  for (const auto& [said, meant] : kMeanings) {
    const bool is_said = std::ranges::any_of(split(said, '|'),
                                             [&](auto each) { return log.find(each) != log.npos; });
    if (is_said) advice += format("{}: error: {}\n", unit.name, meant);
  }
  return advice;
}

std::optional<SourceUnit> with_runtime_header(const SourceUnit& unit, std::string_view log) {
  static constexpr std::string_view kHeader = "#include <cuda_runtime.h>\n";
  const bool is_there = unit.prelude.find(kHeader) != unit.prelude.npos;
  if (is_there || std::ranges::none_of(split(log, '\n'), lacks_name_of_nvcc)) return std::nullopt;
  SourceUnit with = unit;
  with.prelude.insert(0, kHeader);
  return with;
}

}  // namespace autotune
