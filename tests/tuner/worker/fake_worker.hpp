// SPDX-License-Identifier: Apache-2.0
// A worker that says what a test wants.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tuner/json/json.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

inline std::string frame_of(const Json& json) {
  const std::vector<std::uint8_t> cbor = Json::to_cbor(json);
  std::string frame(16, '\0');
  frame[0] = static_cast<char>(cbor.size());
  frame.append(cbor.begin(), cbor.end());
  return frame;
}

/// A program that says these messages to its parent, whatever it is asked, and then waits.
inline std::filesystem::path program_that_says(const std::vector<Json>& messages,
                                               const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "fake-worker";
  std::ofstream script(file);
  script << "#!/bin/sh\nprintf '";
  for (const Json& message : messages) {
    for (const unsigned char byte : frame_of(message)) {
      script << format("\\{:03o}", static_cast<int>(byte));
    }
  }
  script << "' >&3\nexec sleep 60\n";
  script.close();
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  return file;
}

}  // namespace autotune
