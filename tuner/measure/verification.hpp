// SPDX-License-Identifier: Apache-2.0
// Poison, red zones and the element-wise comparison, the same on every device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tuner/core/device.hpp"
#include "tuner/measure/elements.hpp"

namespace autotune {

/// What memory holds that a call must not read. Runs alternate: a kernel may ignore one of them, as
/// fmaxf ignores NaN.
enum class Poison : std::uint8_t { nan, high, low };
inline constexpr int kPoisons = 3;

/// The byte that poisons an element when repeated. Floating types become NaN, or finite numbers
/// near the ends of their range. Integers become numbers far from zero, of both signs.
std::byte poison_byte(ElementType type, Poison poison = Poison::nan);
void poison(std::span<std::byte> bytes, ElementType type, Poison with = Poison::nan);
void poison(std::span<std::byte> bytes, const BufferSpec& buffer, Poison with);
/// The byte that fills a workspace when it is allocated: zero if its fill says so, else poison.
std::byte workspace_byte(const BufferSpec& workspace);

/// Bytes of red zone on each side of a buffer. They hold the poison of its (first) type.
inline constexpr std::int64_t kRedZoneBytes = 64 << 10;

/// Wrong if a byte of either zone was changed. `before` ends where the buffer starts, `after`
/// starts where it ends. Message: `wrote C[4096], outside C[0..4095]; 8 bytes around C changed`.
Verdict check_red_zones(const BufferSpec& buffer, Poison zones, std::span<const std::byte> before,
                        std::span<const std::byte> after);

/// Bytes of memory after the red zone of an output while a reference runs. A reference that writes
/// double instead of a four-byte type then damages nothing else, and is detected.
std::int64_t reference_slack(const BufferSpec& output);
/// As check_red_zones(), for a buffer that a reference wrote. The message says what to declare if
/// the reference seems to write double.
Verdict check_reference_zones(const BufferSpec& buffer, Verdict zones);

/// True for outputs, inouts and checked outputs.
bool is_compared(Role role);

/// The type that a reference writes for an output: the output's own, or f64 for floating types.
ElementType answer_type(const Workload& workload, const BufferSpec& output);
/// The bytes that the reference writes for an output.
std::int64_t answer_bytes(const Workload& workload, const BufferSpec& output);

/// The reference result of one output.
struct Expected {
  ElementType type = ElementType::f64;  // the output's own, or f64 for floating types
  std::span<const std::byte> values;
  /// The magnitude of each element: the reference on absolute inputs. Empty: the values themselves.
  std::span<const std::byte> magnitudes = {};
  bool exact = false;  // floating types must be equal
};

/// Whether all values are integers below `limit`, so that sums are exact: see exact_integers().
bool all_small_integers(ElementType type, std::span<const std::byte> values, double limit);
/// The same for the members of floating types.
bool all_small_integers(const BufferSpec& structs, std::span<const std::byte> values);

/// An element is right if |c - r| <= tolerance * u * magnitude + one rounding of r itself +
/// absolute, where u is the roundoff of sums (f32 for f16 and bf16). If `exact`, for integers, and
/// without a tolerance for an r of the output's type, only `absolute` counts. A narrow r of type
/// `right` was rounded, too. A rounding is at least half of the smallest subnormal number. NaN is
/// always wrong.
Allowance allowance(const BufferSpec& buffer, ElementType right, bool exact);

/// Compares `count` elements from `first` on. Indices in the finding count from the start of the
/// buffer.
Finding compare_elements(const BufferSpec& buffer, std::span<const std::byte> got,
                         const Expected& expected, std::int64_t first, std::int64_t count);
/// The integer type of the same size, for bitwise comparison.
ElementType bits_type(ElementType type);
/// The same for two runs on the same inputs, which must be bit-identical.
Finding compare_bits(ElementType type, std::span<const std::byte> one,
                     std::span<const std::byte> other, std::int64_t first, std::int64_t count);
/// Adds the finding of another part of the same buffer.
void add(Finding& to, const Finding& more);

/// The verdict on the finding of a whole buffer, which held `before` when the call began: also
/// wrong if the root mean square of the errors, in roundoffs of the magnitude, exceeds 8 (1 +
/// tolerance * share^2), where `share` is that of |r| / magnitude. `got` and `expected` hold the
/// first wrong element only. The message says how many elements have no finite magnitude, also if
/// all are right. It says that nobody wrote the element, if it holds poison; or that the reference
/// left poison there, or seems to have written the output's own type instead of double.
Verdict verdict_of(const BufferSpec& buffer, const Finding& found, std::span<const std::byte> got,
                   const Expected& expected, Poison before = Poison::nan);
/// Nondeterministic if an element differs. `one` and `other` hold the first such element.
Verdict runs_verdict(const BufferSpec& buffer, const Finding& found, std::span<const std::byte> one,
                     std::span<const std::byte> other);

/// The bytes of the first wrong element.
std::span<const std::byte> element_of(ElementType type, std::span<const std::byte> bytes,
                                      const Finding& found);
Expected element_of(const Expected& expected, const Finding& found);

/// Compares every element, of structs member by member: `bodies.mass[3]`.
Verdict compare(const BufferSpec& buffer, std::span<const std::byte> got, const Expected& expected,
                Poison before = Poison::nan);
Verdict compare_runs(const BufferSpec& buffer, std::span<const std::byte> one,
                     std::span<const std::byte> other);

}  // namespace autotune
