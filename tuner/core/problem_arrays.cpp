// SPDX-License-Identifier: Apache-2.0
// Buffers and scalars of a problem, by the formulas of a LaunchPlanner.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "tuner/core/fill.hpp"
#include "tuner/core/launch_planner.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::int64_t kLongestBuffer = std::int64_t{1} << 48;  // elements; bytes cannot overflow
constexpr std::int64_t kMostAlignment = 256;                    // of what cudaMalloc() gives

}  // namespace

std::vector<BufferSpec> LaunchPlanner::buffers() const {
  const Question question{target_, problem_, {}};
  const FormulaValues values(names_, fixed_slots_, question);
  std::vector<BufferSpec> buffers;
  for (const Array& array : arguments_) {
    if (array.length && !array.is_absent) buffers.push_back(buffer_of(array, values));
  }
  return buffers;
}

std::vector<Scalar> LaunchPlanner::scalars() const {
  const Question question{target_, problem_, {}};
  const FormulaValues values(names_, fixed_slots_, question);
  std::vector<Scalar> scalars;
  for (const Array& array : arguments_) {
    if (array.length) continue;
    if (array.fields.empty()) scalars.push_back(scalar_of(array, values));
    for (const Array& field : array.fields) scalars.push_back(scalar_of(field, values));
  }
  return scalars;
}

std::int64_t LaunchPlanner::length_of(const Array& array, const FormulaValues& values) {
  const auto key = [&] { return array.key + ".length"; };
  const std::int64_t length = values.at_least(1, *array.length, key);
  const std::int64_t width = array.spec->width;
  if (length > kLongestBuffer / width) {
    values.fail(key(), format("{} elements are too many", length));
  }
  return length * width;
}

BufferSpec LaunchPlanner::buffer_of(const Array& array, const FormulaValues& values) const {
  const ArgumentSpec& spec = *array.spec;
  BufferSpec buffer;
  buffer.name = short_name(spec.name);
  buffer.type = array.type.of(values.levels());
  buffer.members = members_of(array, values);
  buffer.length = length_of(array, values);
  buffer.role = spec.role;
  set_dims(array, buffer, values);
  buffer.fill = spec.fill;
  buffer.seed = spec.seed;
  const auto fill_key = [&] { return array.key + ".fill"; };
  for (const Formula& each : array.fill_values) {
    (void)values.value(each, fill_key);  // or says why not
    buffer.fill_values.push_back(values.number(each));
  }
  if (const std::string why = fill_complaint(buffer); !why.empty()) values.fail(fill_key(), why);
  if (spec.file) {
    check_file(array, buffer, values);
    buffer.file = spec.file->path;
    buffer.file_offset = spec.file->offset;
  }
  if (array.tolerance) {
    buffer.tolerance = static_cast<double>(
        values.at_least(0, *array.tolerance, [&] { return array.key + ".tolerance"; }));
  }
  if (array.absolute) {
    const auto absolute_key = [&] { return array.key + ".absolute"; };
    (void)values.value(*array.absolute, absolute_key);  // or says why not
    buffer.absolute = values.number(*array.absolute);
    if (!(buffer.absolute >= 0) || !std::isfinite(buffer.absolute)) {
      values.fail(absolute_key(),
                  format("{} is not an error that could be allowed", buffer.absolute));
    }
  }
  const auto holds = [&](const std::optional<Formula>& condition, const char* part) {
    return condition && values.value(*condition, [&] { return array.key + part; }) != 0;
  };
  buffer.repeatable = holds(array.repeatable, ".repeatable");
  buffer.streams = holds(array.streams, ".streams");
  buffer.alignment = alignment_of(array, buffer, values);
  if (buffer.alignment < spec.aligned) buffer.shift = buffer.alignment;
  return buffer;
}

/// Leaves the dimensions out where there are no gaps.
void LaunchPlanner::set_dims(const Array& array, BufferSpec& buffer, const FormulaValues& values) {
  const std::int64_t width = array.spec->width;
  std::int64_t packed = width;
  bool has_gaps = false;
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // stride and reach of each dimension
  for (std::size_t i = 0; i < array.dims.size(); ++i) {
    const auto key = [&](const char* part, std::size_t at) {
      return [&array, part, at] { return format("{}.{}[{}]", array.key, part, at); };
    };
    const std::int64_t dim = values.at_least(1, array.dims[i], key("dims", i));
    buffer.dims.push_back(i == 0 ? dim * width : dim);
    if (i > 0) {
      const std::int64_t stride =
          array.strides.empty()
              ? packed
              : values.at_least(0, array.strides[i - 1], key("strides", i - 1)) * width;
      buffer.strides.push_back(stride);
      has_gaps = has_gaps || (dim > 1 && stride != packed);
      if (dim > 1) steps.emplace_back(stride, stride * (dim - 1));
    }
    packed *= dim;
  }
  std::ranges::sort(steps);
  std::int64_t reach = buffer.dims.empty() ? 0 : buffer.dims.front();
  for (const auto& [stride, more] : steps) {
    if (buffer.role != Role::input && stride < reach) {
      values.fail(array.key + ".strides",
                  format("a stride of {} elements is less than the {} elements that it passes, so "
                         "that elements of an output overlap",
                         stride / width, reach / width));
    }
    reach += more;
  }
  if (has_gaps) return;
  buffer.dims.clear();
  buffer.strides.clear();
}

std::int64_t LaunchPlanner::alignment_of(const Array& array, const BufferSpec& buffer,
                                         const FormulaValues& values) {
  if (!array.alignment) {
    std::int64_t widest = bytes_of(buffer.type);
    for (const Member& each : buffer.members) widest = std::max(widest, bytes_of(each.type));
    return widest;
  }
  const auto key = [&] { return array.key + (array.spec->aligned ? ".aligned" : ".alignment"); };
  const std::int64_t bytes = values.at_least(1, *array.alignment, key);
  const bool is_power = std::has_single_bit(static_cast<std::uint64_t>(bytes));
  if (!is_power || bytes > kMostAlignment) {
    values.fail(key(), format("is {}, and must be a power of two up to {}", bytes, kMostAlignment));
  }
  return bytes;
}

void LaunchPlanner::check_file(const Array& array, const BufferSpec& buffer,
                               const FormulaValues& values) {
  const InputFile& file = *array.spec->file;
  const std::string name = file.path.filename().string();
  const std::string type = type_text(buffer);
  if (!file.type.empty() && file.type != type) {
    values.fail(array.key + ".type", format("is {}, and {} holds {}", type, name, file.type));
  }
  if (buffer.bytes() == file.bytes) return;
  values.fail(array.key + ".length", format("{} elements of {} are {} bytes, and {} has {}",
                                            buffer.length, type, buffer.bytes(), name, file.bytes));
}

std::vector<Member> LaunchPlanner::members_of(const Array& array,
                                              const FormulaValues& values) const {
  std::vector<Member> members;
  for (std::size_t i = 0; i < array.members.size(); ++i) {
    members.push_back({array.spec->members[i].name, array.members[i].of(values.levels())});
  }
  return laid_out(std::move(members), array.spec->groups);
}

Argument LaunchPlanner::value_of(const Array& array, const FormulaValues& values) const {
  if (array.fields.empty()) return scalar_of(array, values);
  const std::vector<Member> members = members_of(array, values);
  Record record{array.spec->name, {}, struct_bytes(members)};
  for (std::size_t i = 0; i < members.size(); ++i) {
    record.fields.push_back({scalar_of(array.fields[i], values), members[i].offset});
  }
  return record;
}

Scalar LaunchPlanner::scalar_of(const Array& array, const FormulaValues& values) const {
  const ArgumentSpec& spec = *array.spec;
  const auto key = [&] { return array.key + ".value"; };
  Scalar scalar;
  scalar.name = spec.name;
  scalar.type = array.type.of(values.levels());
  const bool is_real = spec.real || array.value->expression().kind() == ValueKind::real;
  if (is_real && !is_floating(scalar.type)) {
    values.fail(key(), format("{} is not a value of an integer type",
                              spec.real ? *spec.real : values.number(*array.value)));
  }
  if (is_floating(scalar.type)) {
    if (!spec.real) values.value(*array.value, key);  // or says why not
    scalar.real = spec.real ? *spec.real : values.number(*array.value);
    return scalar;
  }
  scalar.integer = values.value(*array.value, key);
  values.require(scalar.type, scalar.integer, key);
  return scalar;
}

}  // namespace autotune
