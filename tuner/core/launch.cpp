// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/launch.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "tuner/core/narrow_float.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

bool is_name_expression(std::string_view entry) {
  return entry.find_first_of(":<") != std::string_view::npos;
}

std::string type_text(const BufferSpec& buffer) {
  if (buffer.members.empty()) return std::string(name_of(buffer.type));
  std::string text;
  for (const Member& member : buffer.members) {
    text.append(text.empty() ? "{" : ", ").append(name_of(member.type)).append(" ");
    text += member.name;
  }
  return text + '}';
}

bool has_floating(const BufferSpec& buffer) {
  const auto is_floating_member = [](const Member& member) { return is_floating(member.type); };
  return buffer.members.empty() ? is_floating(buffer.type)
                                : std::ranges::any_of(buffer.members, is_floating_member);
}

std::array<std::byte, 8> memory_of(const Scalar& scalar) {
  std::array<std::byte, 8> memory{};
  const auto put = [&](const auto& value) { std::memcpy(memory.data(), &value, sizeof value); };
  switch (scalar.type) {
    case ElementType::f32:
      put(static_cast<float>(scalar.real));
      break;
    case ElementType::f64:
      put(scalar.real);
      break;
    case ElementType::i32:
      put(static_cast<std::int32_t>(scalar.integer));
      break;
    case ElementType::i64:
      put(scalar.integer);
      break;
    case ElementType::f16:
      put(Float16(scalar.real));
      break;
    case ElementType::bf16:
      put(BFloat16(scalar.real));
      break;
    case ElementType::i8:
      put(static_cast<std::int8_t>(scalar.integer));
      break;
    case ElementType::u8:
      put(static_cast<std::uint8_t>(scalar.integer));
      break;
    case ElementType::i16:
      put(static_cast<std::int16_t>(scalar.integer));
      break;
    case ElementType::u16:
      put(static_cast<std::uint16_t>(scalar.integer));
      break;
    case ElementType::u32:
      put(static_cast<std::uint32_t>(scalar.integer));
      break;
    case ElementType::u64:
      put(static_cast<std::uint64_t>(scalar.integer));
      break;
  }
  return memory;
}

std::vector<std::byte> memory_of(const Record& record) {
  std::vector<std::byte> memory(static_cast<std::size_t>(record.bytes));
  for (const Record::Field& each : record.fields) {
    const auto bytes = memory_of(each.value);
    std::copy_n(bytes.begin(), bytes_of(each.value.type), memory.begin() + each.offset);
  }
  return memory;
}

std::string type_text(const Record& record) {
  std::string text;
  for (const Record::Field& each : record.fields) {
    text += format("{}{} {}", text.empty() ? "{" : ", ", name_of(each.value.type),
                   std::string_view(each.value.name).substr(record.name.size() + 1));
  }
  return text + '}';
}

std::string not_resident(const Launch& launch, std::int64_t most_blocks) {
  if (!launch.cooperative || launch.grid.count() <= most_blocks) return "";
  return format(
      "{} is cooperative, and its {} blocks must be resident at once: the device holds {} of them",
      launch.entry, launch.grid.count(), most_blocks);
}

LaunchPlan with_constant(LaunchPlan plan, std::string_view buffer) {
  for (Launch& launch : plan.launches) {
    const auto found = std::ranges::find(launch.with_constant, buffer, &ConstantGrid::buffer);
    if (found != launch.with_constant.end()) launch.grid = Dim3(found->grid);
  }
  std::erase_if(plan.launches, [](const Launch& launch) { return launch.grid.count() == 0; });
  return plan;
}

double value_of(const Scalar& scalar) {
  return is_floating(scalar.type) ? scalar.real : static_cast<double>(scalar.integer);
}

Scalar with_value(Scalar scalar, double value) {
  if (is_floating(scalar.type)) {
    scalar.real = value;
  } else {
    scalar.integer = static_cast<std::int64_t>(value);
  }
  return scalar;
}

namespace {

std::int64_t round_up(std::int64_t bytes, std::int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

constexpr std::int64_t kVectorAlignment = 16;  // of CUDA's vectors

std::int64_t alignment_of(const Member& member) {
  return member.alignment == 0 ? bytes_of(member.type) : member.alignment;
}

std::int64_t alignment_of(std::span<const Member> members) {
  std::int64_t alignment = 1;
  for (const Member& member : members) alignment = std::max(alignment, alignment_of(member));
  return alignment;
}

}  // namespace

std::vector<Member> laid_out(std::vector<Member> members, const std::vector<MemberGroup>& groups) {
  const auto in = [&](const MemberGroup& group) {
    return std::span(members).subspan(group.first, group.end - group.first);
  };
  for (const MemberGroup& group : groups) {
    if (!group.is_vector) continue;
    const std::int64_t bytes = bytes_of(in(group).front().type) * std::ssize(in(group));
    in(group).front().alignment = std::min(bytes, kVectorAlignment);
  }
  std::int64_t end = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (const MemberGroup& group : groups) {
      if (group.first == i) end = round_up(end, alignment_of(in(group)));
    }
    members[i].offset = round_up(end, alignment_of(members[i]));
    end = members[i].offset + bytes_of(members[i].type);
    for (const MemberGroup& group : groups) {
      if (group.end == i + 1) end = round_up(end, alignment_of(in(group)));
    }
  }
  return members;
}

std::int64_t struct_bytes(const std::vector<Member>& members) {
  return round_up(members.back().offset + bytes_of(members.back().type), alignment_of(members));
}

}  // namespace autotune
