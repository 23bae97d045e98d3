// SPDX-License-Identifier: Apache-2.0
#include "tuner/plugin/plain_buffers.hpp"

namespace autotune {
namespace {

const char* role_text(Role role) {
  static constexpr const char* kTexts[] = {"input", "output", "inout", "workspace"};
  return kTexts[static_cast<std::size_t>(role)];
}

/// The name of a type: a literal, so it is zero-terminated and never freed.
const char* type_text(ElementType type) { return name_of(type).data(); }

}  // namespace

PlainScalars::PlainScalars(std::span<const Scalar> scalars) {
  for (const Scalar& scalar : scalars) memory_.push_back(memory_of(scalar));
}

PlainBuffers::PlainBuffers(std::span<const BufferSpec> specs, std::span<void* const> addresses) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const char* const type = specs[i].members.empty() ? type_text(specs[i].type) : "struct";
    plain_.push_back({specs[i].name.c_str(), type, role_text(specs[i].role), specs[i].length,
                      addresses.empty() ? nullptr : addresses[i]});
  }
}

void PlainBuffers::add(std::span<const Scalar> scalars, const PlainScalars& values) {
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    plain_.push_back(
        {scalars[i].name.c_str(), type_text(scalars[i].type), "scalar", 1, values.address(i)});
  }
}

}  // namespace autotune
