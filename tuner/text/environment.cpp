// SPDX-License-Identifier: Apache-2.0
#include "tuner/text/environment.hpp"

#include <array>

namespace autotune {
namespace {

struct Variables {
  const char *rank, *count;
};
constexpr std::array<Variables, 6> kLaunchers{{{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                               {"PMIX_RANK", "OMPI_COMM_WORLD_SIZE"},
                                               {"PMI_RANK", "PMI_SIZE"},
                                               {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                                               {"RANK", "WORLD_SIZE"},
                                               {"SLURM_PROCID", "SLURM_NTASKS"}}};

}  // namespace

std::string launched_rank() {
  for (const auto& [rank, count] : kLaunchers) {
    if (std::string number = environment_variable(rank); !number.empty()) return number;
  }
  return "";
}

bool has_other_ranks() {
  for (const auto& [rank, count] : kLaunchers) {
    if (environment_variable(rank).empty()) continue;
    if (environment_variable(count) != "1") return true;
  }
  return false;
}

bool may_earn() { return environment_variable("AUTOTUNE_EARN") != "0" && !has_other_ranks(); }

}  // namespace autotune
