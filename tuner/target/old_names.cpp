// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/old_names.hpp"

#include <algorithm>
#include <vector>

#include "tuner/target/catalog.hpp"

namespace autotune {
namespace {

constexpr OldSize kStrided[] = {
    {"BATCH", "batch"},
    {"M", "M"},
    {"N", "N"},
    {"K", "K"},
    {"lda", "lda"},
    {"ldb", "ldb"},
    {"ldc", "ldc", true},
    {"ldd", "ldd"},
    {"stride_a", "stride_a"},
    {"stride_b", "stride_b"},
    {"stride_c", "stride_c", true},
    {"stride_d", "stride_d"},
};
constexpr OldName kOldNames[] = {
    {"gemm16_batched", "gemm16", std::span(kStrided).first<4>()},
    {"gemm16_strided", "gemm16", kStrided},
    {"gemm_batched", "gemm", std::span(kStrided).first<4>()},
    {"gemm_strided", "gemm", std::span(kStrided).subspan<1, 7>()},
    {"gemm_split_batched", "gemm_split", std::span(kStrided).first<4>()},
    {"gemm_strided_split", "gemm_split", std::span(kStrided).subspan<1, 7>()},
};

}  // namespace

const OldName* old_name(std::string_view name, std::span<const std::filesystem::path> installed) {
  const auto old = std::ranges::find(kOldNames, name, &OldName::name);
  if (old == std::ranges::end(kOldNames)) return nullptr;
  const std::vector<CatalogEntry> here = list_targets(installed);
  return std::ranges::find(here, name, &CatalogEntry::name) == here.end() ? &*old : nullptr;
}

}  // namespace autotune
