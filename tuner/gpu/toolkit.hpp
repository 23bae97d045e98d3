// SPDX-License-Identifier: Apache-2.0
// Which parts of CUDA this build and this machine have. Nothing here fails without a GPU.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace autotune {

struct Toolkit {
  bool built = false;                          // with the CUDA device
  std::string nvrtc;                           // `13.0.88`; empty if it does not work
  std::string nvrtc_folder;                    // of the loaded library
  std::vector<std::filesystem::path> headers;  // see toolkit_headers()
  int runtime = 0;                             // 13000: CUDA of the runtime that is linked
  int driver = 0;                              // 13000: CUDA of the driver; 0 if there is none
  std::string device_error;                    // why no GPU can be used; empty if one can
};

Toolkit toolkit();

}  // namespace autotune
