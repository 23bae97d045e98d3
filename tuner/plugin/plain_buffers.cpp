// SPDX-License-Identifier: Apache-2.0
#include "tuner/plugin/plain_buffers.hpp"

namespace autotune {
namespace {

const char* role_text(Role role) {
  static constexpr const char* kTexts[] = {"input", "output", "inout", "workspace"};
  return kTexts[static_cast<std::size_t>(role)];
}

}  // namespace

PlainBuffers::PlainBuffers(std::span<const BufferSpec> specs, std::span<void* const> addresses) {
  for (const BufferSpec& spec : specs) types_.emplace_back(name_of(spec.type));
  for (std::size_t i = 0; i < specs.size(); ++i) {
    plain_.push_back({specs[i].name.c_str(), types_[i].c_str(), role_text(specs[i].role),
                      specs[i].length, addresses[i]});
  }
}

}  // namespace autotune
