// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/compiler_blame.hpp"

#include <signal.h>

#include <algorithm>
#include <array>
#include <regex>
#include <span>
#include <string_view>

namespace autotune {
namespace {

using namespace std::string_view_literals;

constexpr std::array kFullDisk = {"No space left on device"sv, "File too large"sv,
                                  "Read-only file system"sv, "Disk quota exceeded"sv};

constexpr std::array kLack = {"Cannot allocate memory"sv, "out of memory"sv,
                              "memory exhausted"sv,       "bad_alloc"sv,
                              "Too many open files"sv,    "Resource temporarily unavailable"sv,
                              "Input/output error"sv};

/// How gcc, collect2 and clang report that one of their programs was killed.
constexpr std::array kCrash = {"Segmentation fault"sv, "Aborted"sv, "Bus error"sv,
                               "Illegal instruction"sv, "Floating point exception"sv};

/// Linker messages that blame the code.
constexpr std::array kLinked = {"undefined reference to"sv, "undefined symbol"sv,
                                "multiple definition of"sv, "duplicate symbol"sv, "relocation "sv};

bool has_one(std::string_view text, std::span<const std::string_view> signs) {
  return std::ranges::any_of(
      signs, [&](std::string_view sign) { return text.find(sign) != std::string_view::npos; });
}

/// `k.cu:3:5: error: …`, `{standard input}:7: Error: …`, `<command-line>: error: …`.
bool names_a_place(const std::string& line) {
  static const std::regex kPlace(R"(^(.*:\d+|<command.line>):.*[Ee]rror: .*)");
  return std::regex_match(line, kPlace);
}

bool is_of_the_source(const std::string& line) {
  const bool other = has_one(line, kFullDisk) || has_one(line, kLack) || has_one(line, kCrash);
  return (names_a_place(line) && !other) || has_one(line, kLinked);
}

bool has_line_of_the_source(std::string_view log) {
  while (!log.empty()) {
    const auto end = std::min(log.find('\n'), log.size());
    if (is_of_the_source(std::string(log.substr(0, end)))) return true;
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  return false;
}

bool is_crash(int signal) {
  return signal == SIGSEGV || signal == SIGABRT || signal == SIGBUS || signal == SIGILL ||
         signal == SIGFPE;
}

}  // namespace

Blame blame(int status, const std::string& log) {
  if (is_crash(status - 128)) return Blame::crash;
  if (has_line_of_the_source(log)) return Blame::source;
  if (has_one(log, kFullDisk)) return Blame::disk;
  if (has_one(log, kLack)) return Blame::machine;
  return has_one(log, kCrash) ? Blame::crash : Blame::machine;
}

}  // namespace autotune
