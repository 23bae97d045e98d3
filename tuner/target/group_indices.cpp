// SPDX-License-Identifier: Apache-2.0
// Cooperative groups in a kernel's code.

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "tuner/target/kernel_file.hpp"

namespace autotune {

void name_indices_of_groups(Tokens& body) {
  static const std::map<std::string, std::map<std::string, std::string>> kFunctions = {
      {"this_grid",
       {{"thread_rank", "(blockIdx.x * blockDim.x + threadIdx.x)"},
        {"size", "(gridDim.x * blockDim.x)"},
        {"num_threads", "(gridDim.x * blockDim.x)"}}},
      {"this_thread_block",
       {{"thread_rank", "threadIdx.x"},
        {"size", "blockDim.x"},
        {"num_threads", "blockDim.x"},
        {"thread_index", "threadIdx"},
        {"group_index", "blockIdx"},
        {"group_dim", "blockDim"},
        {"dim_threads", "blockDim"}}}};
  const bool is_row = !std::ranges::any_of(std::array{"y", "z"}, [&](const char* axis) {
    return contains(body, Tokens{"threadIdx", ".", axis}) ||
           contains(body, Tokens{"thread_index", "(", ")", ".", axis});
  });
  std::map<std::string, std::string> groups;  // by the names of variables
  for (std::size_t i = 0; i + 2 < body.size(); ++i) {
    const bool is_call = kFunctions.contains(body[i]) && body[i + 1] == "(";
    std::size_t from = i;
    while (is_call && from >= 2 && body[from - 1] == "::") from -= 2;
    if (is_call && from >= 2 && body[from - 1] == "=") groups[body[from - 2]] = body[i];
    const auto group = groups.find(body[i]);
    const auto known = kFunctions.find(group == groups.end() ? body[i] : group->second);
    const std::size_t dot = is_call ? i + 3 : i + 1;
    if (known == kFunctions.end() || dot + 3 >= body.size() || body[dot] != ".") continue;
    const auto index = known->second.find(body[dot + 1]);
    const bool is_index = index != known->second.end() && body[dot + 2] == "(";
    const bool has_axis = is_index && index->second.find('.') == std::string::npos;
    if (is_index && (is_row || has_axis)) replace(body, from, dot + 4, tokens_of(index->second));
    if (is_index) i = from;
  }
}

}  // namespace autotune
