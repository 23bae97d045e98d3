// SPDX-License-Identifier: Apache-2.0
// Tests of one manifest, which replace a text in it.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "tests/support/matchers.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tuner/core/error.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {

class OneManifest : public testing::Test {
 protected:
  /// `NAME.target.toml`, beside NAME.cu with this source.
  OneManifest(std::string name, std::string manifest, const std::string& source)
      : name_(std::move(name)), manifest_(std::move(manifest)) {
    folder_.write(name_ + ".cu", source);
  }

  /// The manifest with the first `from` replaced.
  Target read(const std::string& from = "", const std::string& to = "") const {
    std::string text = manifest_;
    const std::size_t at = text.find(from);
    if (at == std::string::npos) throw std::logic_error("the manifest has no " + from);
    text.replace(at, from.size(), to);
    return load_manifest(folder_.write(name_ + ".target.toml", text));
  }
  void expect_error(const std::string& from, const std::string& to, const std::string& what) const {
    EXPECT_REFUSAL(Error, read(from, to), what) << from << " -> " << to;
  }

  ScratchFolder folder_;

 private:
  std::string name_, manifest_;
};

}  // namespace autotune
