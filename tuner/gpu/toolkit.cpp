// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/toolkit.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <exception>

#include "tuner/gpu/nvrtc.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/text/environment.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

std::string device_error() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  cudaGetLastError();
  if (status != cudaSuccess) return cudaGetErrorString(status);
  return count > 0 ? "" : "the driver has no GPU";
}

}  // namespace

Toolkit toolkit() {
  Toolkit found;
  found.built = true;
  try {
    found.nvrtc = nvrtc_version();
  } catch (const std::exception&) {  // empty says so
  }
  found.nvrtc_folder = nvrtc_folder().string();
  found.headers = toolkit_headers();
  cudaRuntimeGetVersion(&found.runtime);
  cudaDriverGetVersion(&found.driver);
  found.device_error = device_error();
  return found;
}

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> candidates() {
  std::vector<fs::path> folders;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    const std::string root = environment_variable(name);
    if (!root.empty()) folders.push_back(fs::path(root) / "include");
  }
  if (const fs::path library = nvrtc_folder(); !library.empty()) {
    folders.push_back(library.parent_path() / "include");
    folders.push_back(library.parent_path().parent_path() / "include");
    // PyPI's packages of CUDA 12: nvidia/cuda_nvrtc/lib, nvidia/cuda_runtime/include.
    folders.push_back(library.parent_path().parent_path() / "cuda_runtime/include");
  }
  folders.emplace_back(AUTOTUNE_CUDA_INCLUDE);
  folders.emplace_back("/usr/local/cuda/include");
  return folders;
}

std::vector<fs::path> find() {
  std::error_code failed;
  for (const fs::path& folder : candidates()) {
    if (!fs::exists(folder / "cuda_fp16.h", failed)) continue;
    std::vector<fs::path> found{folder};
    if (fs::exists(folder / "cccl", failed)) found.push_back(folder / "cccl");
    return found;
  }
  return {};
}

}  // namespace

fs::path nvrtc_folder() {
  Dl_info found;
  void* const function = nvrtc_function("nvrtcVersion");
  if (function == nullptr || dladdr(function, &found) == 0) return {};
  std::error_code failed;
  return fs::canonical(found.dli_fname, failed).parent_path();
}

const std::vector<fs::path>& toolkit_headers() {
  static const std::vector<fs::path> folders = find();
  return folders;
}

std::string stamp_of(const fs::path& folder) {
  constexpr auto kHow = fs::directory_options::skip_permission_denied |
                        fs::directory_options::follow_directory_symlink;
  std::vector<std::string> lines;
  std::error_code failed;
  for (fs::recursive_directory_iterator at(folder, kHow, failed), end; !failed && at != end;
       at.increment(failed)) {
    struct stat status {};
    if (stat(at->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    lines.push_back(format("{} {} {}.{}\n", at->path().lexically_relative(folder).string(),
                           status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec));
  }
  std::ranges::sort(lines);
  std::string all;
  for (const std::string& line : lines) all += line;
  return hash128(all);
}

const std::string& toolkit_stamp() {
  static const std::string stamp =
      toolkit_headers().empty() ? "" : stamp_of(toolkit_headers().front());
  return stamp;
}

std::string with_advice(std::string log, bool found) {
  const std::size_t at = log.find("cannot open source file \"cuda_");
  if (found || at == std::string::npos) return log;
  return log.insert(std::min(log.find('\n', at), log.size()),
                    " (CUDA's headers are not found: set CUDA_HOME to the toolkit's folder)");
}

}  // namespace autotune
