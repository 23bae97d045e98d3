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
constexpr OldWord kSplitWords[] = {
    {"SPLIT_K", "K_PARTS"},
    {"KERNEL=cores", "KERNEL=tiled PREFETCH=register A_LAYOUT=padded"},
};
constexpr OldName kOldNames[] = {
    {"gemm16_batched", "gemm16", std::span(kStrided).first<4>()},
    {"gemm16_strided", "gemm16", kStrided},
    {"gemm_batched", "gemm", std::span(kStrided).first<4>(), "", "KERNEL=batched"},
    {"gemm_strided", "gemm", std::span(kStrided).subspan<1, 7>()},
    {"gemm_split", "gemm", {}, "", "", kSplitWords},
    {"gemm_split_batched", "gemm", std::span(kStrided).first<4>(), "", "", kSplitWords},
    {"gemm_strided_split", "gemm", std::span(kStrided).subspan<1, 7>(), "", "", kSplitWords},
};

// A change of a target that is named here: its lines get the new fingerprint, and the old one a
// line of its own, if machine code or space are the same; else its lines go.
constexpr SameSource kSameSources[] = {
    {"9265d5024b30ef6f217de82f79fae478", "92777e948ca57d3677fc1d7e56d12206"},  // gemm
    {"7de7cbe71edf2e4de0f0ceba2e141be8", "92777e948ca57d3677fc1d7e56d12206"},  // a wrong bias
    {"9cf39836ef11754688744cfcf4fb378a", "92777e948ca57d3677fc1d7e56d12206"},
    // gemm_batched
    {"ddc6674c492f9abc2a9b9f477bad98eb", "92777e948ca57d3677fc1d7e56d12206", "", "batch=1"},
    {"fdcdf42064b65090d1922413372cdd45", "92777e948ca57d3677fc1d7e56d12206"},  // gemm_split
    {"c8fbc1895e117f98b1a86d1411872686", "92777e948ca57d3677fc1d7e56d12206"},
    // gemm_split_batched
    {"a19b4f2b1d93b6ea56b3a05aa99e85e7", "92777e948ca57d3677fc1d7e56d12206", "", "batch=1"},
    // gemm16: its source, its space
    {"a893ada65985a71d9c9da6c3277484a9", "5d6edfb53c9fb418b0bc4f1f949f4e69"},
    {"7bebce3c8d78f61a2b5cbc57095365b5", "5948a18539c7879096f8ade30dd1169b"},
    // gemm16_batched; a batch of one is a product of gemm16 now
    {"ea56ea9235a958e2ca0486460ab16214", "5d6edfb53c9fb418b0bc4f1f949f4e69", "", "batch=1"},
    {"ec484ad1f0e5a43dfc7e6fa70ef4971c", "5948a18539c7879096f8ade30dd1169b"},
};

}  // namespace

const OldName* old_name(std::string_view name, std::span<const std::filesystem::path> installed) {
  const auto old = std::ranges::find(kOldNames, name, &OldName::name);
  if (old == std::ranges::end(kOldNames)) return nullptr;
  const std::vector<CatalogEntry> here = list_targets(installed);
  return std::ranges::find(here, name, &CatalogEntry::name) == here.end() ? &*old : nullptr;
}

std::span<const SameSource> same_sources() { return kSameSources; }

const SameSource* same_source(std::string_view fingerprint) {
  const auto line = std::ranges::find(kSameSources, fingerprint, &SameSource::was);
  return line == std::ranges::end(kSameSources) ? nullptr : &*line;
}

bool is_same_space(std::string_view fingerprint, std::string_view now) {
  const SameSource* const line = same_source(fingerprint);
  return fingerprint == now || (line && line->is == now);
}

}  // namespace autotune
