// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/texture_reader.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

// In the order of TextureFilter and of TextureAddress.
constexpr std::array<std::string_view, 2> kFilters = {"point", "linear"};
constexpr std::array<std::string_view, 4> kAddresses = {"clamp", "border", "wrap", "mirror"};

template <class Enumeration, std::size_t count>
Enumeration choice(const Node& node, const std::array<std::string_view, count>& names) {
  const std::string text = node.text();
  const auto found = std::ranges::find(names, text);
  if (found != names.end()) return static_cast<Enumeration>(found - names.begin());
  const std::vector<std::string> known(names.begin(), names.end());
  node.fail(format("\"{}\" is not known ({})", text, suggestion(text, known)));
}

void read_sampling(TextureSpec& spec, const Node& node) {
  for (const char* const key : {"filter", "address", "normalized"}) {
    const Node* const given = node.find(key);
    if (!given || spec.dims.size() > 1) continue;
    given->fail(
        "a texture of one dimension is read by tex1Dfetch(), which neither filters nor "
        "maps coordinates: leave this out");
  }
  if (const Node* const filter = node.find("filter")) {
    spec.filter = choice<TextureFilter>(*filter, kFilters);
  }
  if (const Node* const normalized = node.find("normalized")) {
    spec.normalized = normalized->flag();
  }
  const Node* const address = node.find("address");
  if (!address) return;
  spec.address = choice<TextureAddress>(*address, kAddresses);
  const bool repeats =
      spec.address == TextureAddress::wrap || spec.address == TextureAddress::mirror;
  if (repeats && !spec.normalized) {
    address->fail(format("CUDA knows \"{}\" only where \"normalized\" is true", address->text()));
  }
}

}  // namespace

Expression chosen_buffer(Reading& reading, const ManifestScope& scope, const Node& buffer) {
  const Excerpt text = excerpt_of(buffer);
  const Expression chosen = reading.names.expression(text, NameLevel::configuration, scope.name,
                                                     /*handles=*/true);
  if (chosen.kind() != ValueKind::handle) text.fail("expected the name of a buffer");
  return chosen;
}

TextureSpec read_texture(Reading& reading, const ManifestScope& scope, const std::string& name,
                         const Node& node) {
  node.expect_keys({"buffer", "dims", "filter", "address", "normalized"});
  TextureSpec spec{name, chosen_buffer(reading, scope, node["buffer"]), {}};
  spec.dims = reading.integers(scope, node["dims"], 1, 2);
  read_sampling(spec, node);
  return spec;
}

}  // namespace autotune
