// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/launch.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>

#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {

bool is_name_expression(std::string_view entry) {
  return entry.find_first_of(":<") != std::string_view::npos;
}

std::string shell_text(const Command& command) {
  std::string text;
  for (const std::string& word : command.words) {
    if (!text.empty()) text += ' ';
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%{}";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      text += word;
      continue;
    }
    std::string quoted = word;
    replace_all(quoted, "'", "'\\''");
    text += "'" + quoted + "'";
  }
  return text;
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

std::string cuda_type_of(const TensorMap& map, ElementType type) {
  static constexpr std::array kNames{"FLOAT32",  "FLOAT64", "INT32", "INT64",  "FLOAT16",
                                     "BFLOAT16", "UINT8",   "UINT8", "UINT16", "UINT16",
                                     "UINT32",   "UINT64",  "UINT8", "UINT8"};
  return format("CU_TENSOR_MAP_DATA_TYPE_{}",
                map.tf32 ? "TFLOAT32" : kNames[static_cast<std::size_t>(type)]);
}

std::string cuda_swizzle_of(const TensorMap& map) {
  return map.swizzle_bytes == 0 ? "CU_TENSOR_MAP_SWIZZLE_NONE"
                                : format("CU_TENSOR_MAP_SWIZZLE_{}B", map.swizzle_bytes);
}

bool has_floating(const BufferSpec& buffer) {
  const auto is_floating_member = [](const Member& member) { return is_floating(member.type); };
  return buffer.members.empty() ? is_floating(buffer.type)
                                : std::ranges::any_of(buffer.members, is_floating_member);
}

std::array<std::byte, 8> memory_of(const Scalar& scalar) {
  std::array<std::byte, 8> memory{};
  with_type(scalar.type, [&](auto value) {
    using Type = decltype(value);
    if constexpr (std::is_integral_v<Type>) {
      value = static_cast<Type>(scalar.integer);
    } else {
      value = static_cast<Type>(scalar.real);
    }
    std::memcpy(memory.data(), &value, sizeof value);
  });
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

void pass_unchecked(LaunchPlan& plan, std::vector<BufferSpec>& buffers) {
  const auto end = std::ranges::find_if(
      plan.workspace, [](const BufferSpec& each) { return each.role != Role::unchecked; });
  buffers.insert(buffers.end(), plan.workspace.begin(), end);
  plan.workspace.erase(plan.workspace.begin(), end);
  plan.checks.clear();
}

}  // namespace autotune
