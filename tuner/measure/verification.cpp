// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/verification.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <string>

#include "tuner/measure/inputs.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// Errors in roundoffs that the root mean square may always have: see bound_of_squares().
constexpr double kRoundoffs = 8;

Verdict wrong(std::string message) { return {Outcome::wrong, std::move(message), infinity()}; }

/// The smallest number above 0 of a floating type, which is subnormal. Its bits are 1.
double smallest_number(ElementType type) {
  return with_type(type, [&](auto zero) {
    constexpr std::uint64_t kOne = 1;
    return static_cast<double>(element_at<decltype(zero)>(std::as_bytes(std::span(&kOne, 1)), 0));
  });
}

/// Calls work(T{}, Right{}) with the types of an output and of its reference.
template <class Work>
auto with_types(ElementType type, ElementType right, Work work) {
  return with_type(type, [&](auto got) {
    if constexpr (!kIsInteger<decltype(got)>) {
      if (right == ElementType::f64) return work(got, double{});
    }
    return work(got, got);
  });
}

const std::span<const std::byte>& magnitudes_of(const Expected& expected) {
  return expected.magnitudes.empty() ? expected.values : expected.magnitudes;
}

std::string element_text(ElementType type, std::span<const std::byte> element) {
  return with_type(type, [&](auto zero) {
    const auto value = element_at<decltype(zero)>(element, 0);
    return value == value ? format("{}", figure_of(value)) : "nan";  // never "-nan"
  });
}

/// The reference value as text. It is often a double for a float: ten digits suffice.
std::string expected_text(ElementType type, std::span<const std::byte> element) {
  if (!is_floating(type)) return element_text(type, element);
  return with_type(type, [&](auto zero) {
    const auto value = static_cast<double>(element_at<decltype(zero)>(element, 0));
    return value == value ? format("{:.10g}", value) : "nan";
  });
}

double number_in(ElementType type, std::span<const std::byte> elements) {
  return with_type(type, [&](auto zero) {
    return static_cast<double>(element_at<decltype(zero)>(elements, 0));
  });
}

std::string tolerance_text(const BufferSpec& buffer, const Expected& expected) {
  const auto number = [&](std::span<const std::byte> elements) {
    return number_in(expected.type, elements);
  };
  const double right = number(expected.values);
  if (right != right) return "no result is right here: choose a fill that gives numbers";
  const double tolerance = tolerance_of(right, number(magnitudes_of(expected)),
                                        allowance(buffer, expected.type, expected.exact));
  return tolerance > 0 && is_finite(right) ? format("tolerance {:.2g}", tolerance)
                                           : "must be equal";
}

bool holds_poison(ElementType type, std::span<const std::byte> element, Poison before) {
  const std::byte poison = poison_byte(type, before);
  return std::ranges::all_of(element, [&](std::byte byte) { return byte == poison; });
}

/// Whether an element that holds poison was not written. A small integer may equal it by chance.
bool tells_poison(ElementType type) { return is_floating(type) || bytes_of(type) >= 4; }

/// Whether a reference that must write double seems to have written the output's own type: then the
/// double begins with the bytes of element 0. False for 0, which occurs in many doubles.
bool is_of_narrow_reference(const BufferSpec& buffer, std::span<const std::byte> got,
                            const Expected& expected) {
  if (expected.type == buffer.type || got.size() >= expected.values.size()) return false;
  const Expected narrow{buffer.type, expected.values.first(got.size()), {}, false};
  const bool is_zero =
      with_type(buffer.type, [&](auto zero) { return element_at<decltype(zero)>(got, 0) == zero; });
  return !is_zero && compare_elements(buffer, got, narrow, 0, 1).wrong == 0;
}

/// By how many roundings an element is off that must be equal; 0 for too many, and for an integer
/// where integers are exact: it is another sum.
double roundings_of(const BufferSpec& buffer, std::span<const std::byte> got,
                    const Expected& expected) {
  constexpr double kMost = 1000;
  if (!is_floating(buffer.type) || (buffer.tolerance > 0 && !expected.exact)) return 0;
  const double right = number_in(expected.type, expected.values);
  const double value = number_in(buffer.type, got);
  if (expected.exact && value == std::round(value)) return 0;
  const double scale = std::max(std::abs(right), expected.exact ? 1.0 : 0.0);
  const double roundings =
      std::ceil(std::abs(value - right) / (unit_roundoff(buffer.type) * scale));
  return roundings <= kMost ? roundings : 0;
}

/// What to state where an element must be equal and is off by roundings; else empty.
std::string rounding_text(const BufferSpec& buffer, double roundings) {
  if (roundings <= 0) return "";
  return format("; that is {:.0f} rounding{}: {}", roundings, roundings == 1 ? "" : "s",
                buffer.tolerance > 0
                    ? "sums of small integers have none in any order; where a kernel computes "
                      "otherwise, as by transforms, give an input fill = { normal = [0, 1] }"
                    : format("`tolerance` of {} says how many are right", buffer.name));
}

/// Who wrote an element.
struct Writers {
  bool by_kernel = false, by_reference = false;
};

/// `wrong`: how many elements, as text.
std::string mismatch_text(const BufferSpec& buffer, const std::string& element,
                          std::span<const std::byte> got, const Expected& expected, Poison before,
                          Writers writers, const std::string& wrong) {
  const auto [by_kernel, by_reference] = writers;
  const std::string right = expected_text(expected.type, expected.values);
  if (!by_kernel && buffer.role == Role::inout) {  // it began with its fill
    return format(
        "{} comes from memory that nobody wrote{}; {}: nothing may be read outside of a buffer "
        "(correct lengths and fills of indices, or let a constraint say which sizes it takes)",
        element, by_reference ? " (expected " + right + ")" : ", in the reference, too", wrong);
  }
  if (!by_kernel && !by_reference) {
    return format(
        "{} is written neither by the kernel nor by the reference (make {} an inout: it "
        "keeps its fill there); {}",
        element, buffer.name, wrong);
  }
  if (!by_kernel) {
    const bool spreads = is_floating(buffer.type) && before == Poison::nan;  // a sum with it, too
    return format(
        "{} was not written{} (expected {}); {}: outputs do not start with zeros (clear them in "
        "the "
        "kernel, or make {} an inout with fill = \"zero\"){}",
        element, spreads ? ", or comes from memory that nobody wrote" : "", right, wrong,
        buffer.name, spreads ? ", and nothing may be read outside of a buffer" : "");
  }
  const std::string value = element_text(buffer.type, got);
  if (!by_reference) {
    return format("{} is {}, and the reference does not write it; {}", element, value, wrong);
  }
  return format("{} is {}, expected {} ({}); {}{}", element, value, right,
                tolerance_text(buffer, expected), wrong,
                rounding_text(buffer, roundings_of(buffer, got, expected)));
}

/// Says how many elements have no bound from the reference on absolute inputs; else empty.
std::string unbounded_text(const BufferSpec& buffer, const Finding& found) {
  if (found.unbounded == 0) return "";
  return format(
      "on absolute inputs, the reference of {} is not finite in {} of {} elements, where its own "
      "magnitude counts",
      buffer.name, found.unbounded, buffer.length);
}

/// Rounding errors have random signs. They cancel like the terms of a sum: the sum of K products of
/// random signs is about sqrt(K) of them, and so are the errors of its products. So this bound
/// grows with the share that is left of the results' magnitudes, and not with K.
double bound_of_squares(double tolerance, double share) {
  return kRoundoffs * (1 + tolerance * share * share);
}

Verdict verdict_on_squares(const BufferSpec& buffer, const Finding& found) {
  const double count = static_cast<double>(std::max<std::int64_t>(buffer.length, 1));
  const double error = std::sqrt(static_cast<double>(found.squares) / count);
  const double share = std::sqrt(static_cast<double>(found.shares) / kShareUnits / count);
  const double bound = bound_of_squares(buffer.tolerance, share);
  const double worst = std::max(found.worst, error / bound);
  if (error <= bound) return {Outcome::ok, unbounded_text(buffer, found), worst};
  const ElementType sums =
      sum_roundoff(buffer.type) == unit_roundoff(buffer.type) ? buffer.type : ElementType::f32;
  return {Outcome::wrong,
          format("the errors of {0} have a root mean square of {1:.2g} roundoffs of {2}, of which "
                 "{3:.2g} are allowed: products or sums are less precise than {2} (if they may be, "
                 "raise the tolerance, or `absolute` where terms cancel)",
                 buffer.name, error, name_of(sums), bound),
          worst};
}

}  // namespace

std::byte poison_byte(ElementType type, Poison poison) {
  const bool is_f8 = type == ElementType::e4m3 || type == ElementType::e5m2;
  if (is_f8 && poison != Poison::nan) {  // beside the largest number there are NaNs
    const int largest = type == ElementType::e4m3 ? Float8E4M3::kLargest : Float8E5M2::kLargest;
    return static_cast<std::byte>(poison == Poison::high ? largest : largest | 0x80);
  }
  const bool is_f16 = type == ElementType::f16;  // 0x7f7f is a NaN there
  const bool is_unsigned = type == ElementType::u8 || type == ElementType::u16 ||
                           type == ElementType::u32 || type == ElementType::u64;
  switch (poison) {
    case Poison::nan:
      return is_floating(type) ? std::byte{0xFF} : std::byte{0xA5};
    case Poison::high:
      return is_f16 ? std::byte{0x77} : std::byte{0x7F};
    case Poison::low:
      break;
  }
  if (is_floating(type)) return is_f16 ? std::byte{0xF7} : std::byte{0xFE};
  return is_unsigned ? std::byte{0x01} : std::byte{0x81};
}

void poison(std::span<std::byte> bytes, ElementType type, Poison with) {
  std::ranges::fill(bytes, poison_byte(type, with));
}

void poison(std::span<std::byte> bytes, const BufferSpec& buffer, Poison with) {
  poison(bytes, buffer.type, with);
  for (std::size_t i = 0; i < buffer.members.size(); ++i) {
    std::vector<std::byte> elements = member_elements(buffer, i, bytes);
    poison(elements, buffer.members[i].type, with);
    put_member(buffer, i, elements, bytes);
  }
}

std::byte workspace_byte(const BufferSpec& workspace) {
  return workspace.fill == Fill::zero ? std::byte{0} : poison_byte(workspace.type);
}

Verdict check_red_zones(const BufferSpec& buffer, Poison zones, std::span<const std::byte> before,
                        std::span<const std::byte> after) {
  const std::byte painted = poison_byte(buffer.type, zones);
  const auto is_changed = [&](std::byte byte) { return byte != painted; };
  const auto changed =
      std::ranges::count_if(before, is_changed) + std::ranges::count_if(after, is_changed);
  if (changed == 0) return {};
  const std::int64_t size = buffer.element_bytes();
  // Writes past the end are more common. Before the start, name the byte nearest to the buffer.
  const auto past = std::ranges::find_if(after, is_changed);
  std::int64_t index = buffer.length + (past - after.begin()) / size;
  if (past == after.end()) {
    const auto nearest = std::find_if(before.rbegin(), before.rend(), is_changed);
    index = -1 - (nearest - before.rbegin()) / size;
  }
  return wrong(format("wrote {0}[{1}], outside {0}[0..{2}]; {3} bytes around {0} changed",
                      buffer.name, index, buffer.length - 1, changed));
}

std::int64_t reference_slack(const BufferSpec& output) {
  const bool has_one_type = output.members.empty();
  return has_one_type && is_compared(output.role) &&
                 bytes_of(output.type) < bytes_of(ElementType::f64)
             ? output.length * bytes_of(ElementType::f64) - output.bytes()
             : 0;
}

Verdict check_reference_zones(const BufferSpec& buffer, Verdict zones) {
  if (zones.outcome == Outcome::ok || reference_slack(buffer) == 0) return zones;
  zones.message += format(" ({} is declared as {}", buffer.name, name_of(buffer.type));
  if (is_floating(buffer.type) && buffer.role != Role::inout) {
    zones.message +=
        ", and the reference must write that; for double, add outputs = \"f64\" to [reference]";
  }
  zones.message += ')';
  return zones;
}

bool is_compared(Role role) {
  return role == Role::output || role == Role::inout || role == Role::checked;
}

ElementType answer_type(const Workload& workload, const BufferSpec& output) {
  const bool widened = workload.expected_file.empty() && workload.float64_outputs &&
                       is_floating(output.type) && output.members.empty() &&
                       (output.role == Role::output || output.role == Role::checked);
  return widened ? ElementType::f64 : output.type;
}

std::int64_t answer_bytes(const Workload& workload, const BufferSpec& output) {
  return output.members.empty() ? output.length * bytes_of(answer_type(workload, output))
                                : output.bytes();
}

bool all_small_integers(const BufferSpec& structs, std::span<const std::byte> values) {
  for (std::size_t i = 0; i < structs.members.size(); ++i) {
    const ElementType type = structs.members[i].type;
    if (!is_floating(type)) continue;
    const std::vector<std::byte> elements = member_elements(structs, i, values);
    if (!all_small_integers(type, elements, exact_integers(type))) return false;
  }
  return true;
}

bool all_small_integers(ElementType type, std::span<const std::byte> values, double limit) {
  return with_type(type, [&](auto zero) {
    using T = decltype(zero);
    const auto count = static_cast<std::int64_t>(values.size() / sizeof(T));
    for (std::int64_t i = 0; i < count; ++i) {
      if (!is_small_integer(static_cast<double>(element_at<T>(values, i)), limit)) return false;
    }
    return true;
  });
}

Allowance allowance(const BufferSpec& buffer, ElementType right, bool exact) {
  const bool both_round = right == buffer.type;
  if (exact || !is_floating(buffer.type) || (both_round && buffer.tolerance == 0)) {
    return {.absolute = buffer.absolute};
  }
  const double sums = sum_roundoff(buffer.type), smallest = smallest_number(buffer.type);
  double unit = unit_roundoff(buffer.type);
  const bool is_narrow = sums < unit;
  // Two values on both sides of a tie round to neighbouring numbers.
  if (is_narrow && both_round) unit *= 2;
  return {.factor = buffer.tolerance * sums,
          .unit = unit,
          .absolute = buffer.absolute + (both_round ? smallest : smallest / 2),
          .roundoff = sums};
}

Finding compare_elements(const BufferSpec& buffer, std::span<const std::byte> got,
                         const Expected& expected, std::int64_t first, std::int64_t count) {
  assert(expected.type == buffer.type || is_floating(buffer.type));
  const Allowance allowed = allowance(buffer, expected.type, expected.exact);
  const std::span<const std::byte> magnitudes = magnitudes_of(expected);
  Finding found;
  with_types(buffer.type, expected.type, [&](auto one, auto other) {
    using T = decltype(one);
    using Right = decltype(other);
    for (std::int64_t i = first; i < first + count; ++i) {
      compare_element(found, static_cast<unsigned long long>(i), element_at<T>(got, i),
                      element_at<Right>(expected.values, i), element_at<Right>(magnitudes, i),
                      allowed);
    }
  });
  return found;
}

ElementType bits_type(ElementType type) {
  switch (bytes_of(type)) {
    case 1:
      return ElementType::i8;
    case 2:
      return ElementType::i16;
    case 4:
      return ElementType::i32;
    default:
      return ElementType::i64;
  }
}

Finding compare_bits(ElementType type, std::span<const std::byte> one,
                     std::span<const std::byte> other, std::int64_t first, std::int64_t count) {
  const ElementType bits = bits_type(type);
  return compare_elements({.name = {}, .type = bits}, one, {bits, other}, first, count);
}

void add(Finding& to, const Finding& more) {
  to.wrong += more.wrong;
  to.first = std::min(to.first, more.first);
  to.worst = std::max(to.worst, more.worst);
  to.unbounded += more.unbounded;
  to.squares += more.squares;
  to.shares += more.shares;
}

Verdict verdict_of(const BufferSpec& buffer, const Finding& found, std::span<const std::byte> got,
                   const Expected& expected, Poison before) {
  if (found.wrong == 0) return verdict_on_squares(buffer, found);
  const std::string element = format("{}[{}]", buffer.name, found.first);
  if (found.first == 0 && is_of_narrow_reference(buffer, got, expected)) {
    return wrong(
        format("{} is {}, as in the reference if that writes {}: it must write double, or say "
               "outputs = \"same\" in [reference]",
               element, element_text(buffer.type, got), name_of(buffer.type)));
  }
  const std::string wrong = format("{} of {} elements {} wrong", found.wrong, buffer.length,
                                   found.wrong == 1 ? "is" : "are");
  const bool holds = holds_poison(buffer.type, got, before);
  const bool expected_holds = holds_poison(expected.type, expected.values, Poison::nan);
  const bool both = holds && expected_holds;  // even small integers hardly do so by chance
  const bool kernel_left_it = holds && (both || tells_poison(buffer.type));
  const bool reference_left_it = expected_holds && (both || tells_poison(expected.type));
  const Writers writers{!kernel_left_it, !reference_left_it};
  std::string message = mismatch_text(buffer, element, got, expected, before, writers, wrong);
  if (found.unbounded > 0) message += "; " + unbounded_text(buffer, found);
  const bool is_written = writers.by_kernel || writers.by_reference;
  const double roundings = roundings_of(buffer, got, expected);
  return {.outcome = Outcome::wrong,
          .message = std::move(message),
          .worst_error = roundings > 0 ? roundings : found.worst,
          .unwritten = is_written || buffer.role == Role::inout ? "" : buffer.name,
          .is_undefined = is_written && expected_text(expected.type, expected.values) == "nan"};
}

Verdict runs_verdict(const BufferSpec& buffer, const Finding& found, std::span<const std::byte> one,
                     std::span<const std::byte> other) {
  if (found.wrong == 0) return {};
  return {Outcome::nondeterministic,
          format("{}[{}] is {} in one run and {} in the next on the same inputs; {} of {} elements "
                 "differ; if the tolerance is enough, leave out \"repeatable\"",
                 buffer.name, found.first, element_text(buffer.type, one),
                 element_text(buffer.type, other), found.wrong, buffer.length),
          0};
}

std::span<const std::byte> element_of(ElementType type, std::span<const std::byte> bytes,
                                      const Finding& found) {
  const auto size = static_cast<std::size_t>(bytes_of(type));
  return found.wrong == 0 || bytes.empty() ? std::span<const std::byte>()
                                           : bytes.subspan(found.first * size, size);
}

Expected element_of(const Expected& expected, const Finding& found) {
  return {expected.type, element_of(expected.type, expected.values, found),
          element_of(expected.type, expected.magnitudes, found), expected.exact};
}

namespace {

Verdict compare_members(const BufferSpec& structs, std::span<const std::byte> got,
                        const Expected& expected, Poison before) {
  Verdict all;
  for (std::size_t i = 0; i < structs.members.size(); ++i) {
    const std::vector<std::byte> values = member_elements(structs, i, expected.values);
    std::vector<std::byte> magnitudes;
    if (!expected.magnitudes.empty()) magnitudes = member_elements(structs, i, expected.magnitudes);
    const Verdict verdict =
        compare(member_buffer(structs, i), member_elements(structs, i, got),
                {structs.members[i].type, values, magnitudes, expected.exact}, before);
    if (verdict.outcome != Outcome::ok) return verdict;
    all.worst_error = std::max(all.worst_error, verdict.worst_error);
    if (all.message.empty()) all.message = verdict.message;
  }
  return all;
}

Verdict compare_between_gaps(const BufferSpec& buffer, std::span<const std::byte> got,
                             const Expected& expected, Poison before) {
  const BufferSpec packed = without_gaps(buffer);
  const auto without = [&](std::span<const std::byte> bytes, ElementType type) {
    return bytes.empty() ? std::vector<std::byte>() : gathered(buffer, bytes, bytes_of(type));
  };
  const std::vector<std::byte> own = without(got, buffer.type);
  const std::vector<std::byte> values = without(expected.values, expected.type);
  const std::vector<std::byte> magnitudes = without(expected.magnitudes, expected.type);
  const Expected right{expected.type, values, magnitudes, expected.exact};
  Finding found = compare_elements(packed, own, right, 0, packed.length);
  const std::span<const std::byte> first = element_of(buffer.type, own, found);
  const Expected first_right = element_of(right, found);
  if (found.wrong > 0) {
    found.first = static_cast<unsigned long long>(
        position_of(buffer, static_cast<std::int64_t>(found.first)));
  }
  return verdict_of(packed, found, first, first_right, before);
}

}  // namespace

Verdict compare(const BufferSpec& buffer, std::span<const std::byte> got, const Expected& expected,
                Poison before) {
  assert(std::ssize(got) == buffer.bytes());
  assert(expected.magnitudes.empty() || expected.magnitudes.size() == expected.values.size());
  if (!buffer.members.empty()) return compare_members(buffer, got, expected, before);
  if (buffer.has_gaps()) return compare_between_gaps(buffer, got, expected, before);
  const Finding found = compare_elements(buffer, got, expected, 0, buffer.length);
  return verdict_of(buffer, found, element_of(buffer.type, got, found), element_of(expected, found),
                    before);
}

Verdict compare_runs(const BufferSpec& buffer, std::span<const std::byte> one,
                     std::span<const std::byte> other) {
  assert(std::ssize(one) == buffer.bytes() && one.size() == other.size());
  if (std::memcmp(one.data(), other.data(), one.size()) == 0) return {};  // the common case
  if (buffer.has_gaps()) {                                                // whose poison differs
    return compare_runs(without_gaps(buffer), gathered(buffer, one, buffer.element_bytes()),
                        gathered(buffer, other, buffer.element_bytes()));
  }
  for (std::size_t i = 0; i < buffer.members.size(); ++i) {
    const Verdict verdict = compare_runs(member_buffer(buffer, i), member_elements(buffer, i, one),
                                         member_elements(buffer, i, other));
    if (verdict.outcome != Outcome::ok) return verdict;
  }
  if (!buffer.members.empty()) return {};
  const Finding found = compare_bits(buffer.type, one, other, 0, buffer.length);
  return runs_verdict(buffer, found, element_of(buffer.type, one, found),
                      element_of(buffer.type, other, found));
}

}  // namespace autotune
