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
constexpr OldWord kWordsIn16Bits[] = {
    {"SPLIT_K", "K_PARTS"},          {"PAD", "PAD_LINES"},         {"BK=16", "SLICE_BYTES=32"},
    {"BK=32", "SLICE_BYTES=64"},     {"BK=64", "SLICE_BYTES=128"}, {"DEPTH=64", "SLAB_BYTES=128"},
    {"DEPTH=128", "SLAB_BYTES=256"},
};
constexpr OldWord kWordsInI8[] = {
    {"SPLIT_K", "K_PARTS"},
    {"BK", "SLICE_BYTES"},
    {"DEPTH", "SLAB_BYTES"},
    {"KERNEL=mma", "KERNEL=mma_along_k"},
    {"KERNEL=wgmma", "KERNEL=wgmma_along_k"},
};
constexpr OldWord kWordsInTf32[] = {
    {"SPLIT_K", "K_PARTS"},
    {"BK=8", "SLICE_BYTES=32"},
    {"BK=16", "SLICE_BYTES=64"},
    {"BK=32", "SLICE_BYTES=128"},
    {"DEPTH=32", "SLAB_BYTES=128"},
    {"DEPTH=64", "SLAB_BYTES=256"},
    {"KERNEL=mma", "KERNEL=mma_along_k"},
    {"KERNEL=wgmma", "KERNEL=wgmma_along_k"},
};
constexpr OldName kOldNames[] = {
    {"gemm16", "gemm", {}, "dtype=f16", "", kWordsIn16Bits},
    {"gemm16_batched", "gemm", std::span(kStrided).first<4>(), "dtype=f16", "", kWordsIn16Bits},
    {"gemm16_strided", "gemm", kStrided, "dtype=f16", "", kWordsIn16Bits},
    {"gemm_i8", "gemm", {}, "dtype=i8", "", kWordsInI8},
    {"gemm_tf32", "gemm", {}, "math=tf32", "", kWordsInTf32},
    {"gemm_batched", "gemm", std::span(kStrided).first<4>(), "", "KERNEL=batched"},
    {"gemm_strided", "gemm", std::span(kStrided).subspan<1, 7>()},
    {"gemm_split", "gemm", {}, "", "", kSplitWords},
    {"gemm_split_batched", "gemm", std::span(kStrided).first<4>(), "", "", kSplitWords},
    {"gemm_strided_split", "gemm", std::span(kStrided).subspan<1, 7>(), "", "", kSplitWords},
};

constexpr std::string_view kGemm = "97a428ab3a8784194a0d26e7809c9713";
constexpr std::string_view kGrouped = "83c823482fe60963dc06c0e2f0bc43c0";
constexpr std::string_view kDone =  // to D, in another order of its instructions
    "scale=beta epilogue=relu epilogue=gelu epilogue=bias epilogue=bias_relu epilogue=bias_gelu";

// Where gemm changes, and machine code or space are the same, the old fingerprint gets a line; else
// the lines go.
constexpr SameSource kSameSources[] = {
    // without outputs of e4m3
    {"d70ead24ef5650ba3500b185e3bcbffa", kGrouped},
    {"cfad51f3b8049392c86742dfc2db10fa", kGemm},
    {"7971793728569e17dfc40ce0bc599c16", "4aaf3a880ee668e662f371401aa6592b"},  // gemm's space
    // without IN_TURN and WHOLE_PARTS
    {"d72b7717dc865a4e1fca558247f9809e", kGrouped},
    {"f3c821fdc6377c6abeab30bbf719e653", kGemm},
    // gemm_grouped, and gemm whose biases were slow
    {"d5602b2a936818f50820aae028bbff58", kGrouped},
    {"ee0791af97e086e2b8a123e46ddb0246", kGemm, "", {kDone}},
    // without skinny_split; streamed b added products in another order
    {"4103045ce46c365941178a0de508a9da", kGemm, "", {kDone}},
    // gemm; fast sums were wrong with K_PARTS
    {"6dd4e52e04f9485ff763fb995d4b518e", kGemm, "", {"sums=fast", kDone}},
    {"9265d5024b30ef6f217de82f79fae478", kGemm, "", {"sums=fast", kDone}},
    {"ea4c10d256d1413e364d8c7fd94f596b",
     kGemm,
     "",
     {"sums=fast", kDone}},                                    // streamed took twice as long
    {"fc90f7a1bf758d27400ce798db7a887a", kGemm, "", {kDone}},  // without e4m3 and e5m2
    {"7de7cbe71edf2e4de0f0ceba2e141be8", kGemm, "", {kDone}},  // a wrong bias
    {"9cf39836ef11754688744cfcf4fb378a", kGemm, "", {kDone}},
    {"d8646cfebbd14cf2cd59697ee0908e0e", kGemm, "", {kDone}},  // without them, and KERNEL=skinny
    {"ce9d775a3d6fe9ae4df6d02a50ebaf8a", kGemm, "", {kDone}},  // LOADER=register
    // gemm_batched
    {"ddc6674c492f9abc2a9b9f477bad98eb", kGemm, "", {"batch=1", kDone}},
    {"fdcdf42064b65090d1922413372cdd45", kGemm, "", {kDone}},  // gemm_split
    {"c8fbc1895e117f98b1a86d1411872686", kGemm, "", {kDone}},
    // gemm_split_batched
    {"a19b4f2b1d93b6ea56b3a05aa99e85e7", kGemm, "", {"batch=1", kDone}},
    {"92777e948ca57d3677fc1d7e56d12206", kGemm, "", {kDone}},  // gemm without tensor cores' types
    // gemm16; its ReLU did not keep a NaN, and its GELU was another
    {"a893ada65985a71d9c9da6c3277484a9", kGemm, "", {kDone}},
    {"5d6edfb53c9fb418b0bc4f1f949f4e69", kGemm, "", {kDone}},
    // gemm16_batched; a batch of one is a product of gemm16 now
    {"ea56ea9235a958e2ca0486460ab16214", kGemm, "", {"batch=1", kDone}},
    {"422c575ca53636b5b6b67b748ac0df19", kGemm, "", {kDone}},  // gemm_i8
    {"808f3e977ae9b757c6822016b3a197f3", kGemm, "", {kDone}},  // gemm_tf32
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
