// SPDX-License-Identifier: Apache-2.0
#include "bench/space/published_spaces.hpp"

#include <utility>

namespace autotune {
namespace {

using Values = std::vector<std::int64_t>;

Parameter numbers(const std::string& name, const Values& values) {
  Parameter parameter{name, {}, {}, false};
  for (const std::int64_t value : values) parameter.values.emplace_back(value);
  return parameter;
}

/// first, first + step, … up to last.
Values range(std::int64_t first, std::int64_t last, std::int64_t step = 1) {
  Values values;
  for (std::int64_t value = first; value <= last; value += step) values.push_back(value);
  return values;
}

Values joined(Values values, const Values& more) {
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

std::vector<Parameter> parameters(const std::vector<std::pair<std::string, Values>>& all) {
  std::vector<Parameter> parameters;
  for (const auto& [name, values] : all) parameters.push_back(numbers(name, values));
  return parameters;
}

std::vector<Expression> parsed(const std::vector<std::string>& texts) {
  std::vector<Expression> expressions;
  for (const std::string& text : texts) expressions.push_back(Expression::parse(text));
  return expressions;
}

PublishedSpace dedispersion() {
  return {
      "dedispersion",
      parameters({{"block_size_x", {1, 2, 4, 8, 16, 32}},
                  {"block_size_y", range(32, 256, 8)},
                  {"tile_size_x", range(1, 4)},
                  {"tile_size_y", range(1, 8)},
                  {"tile_stride_x", {0, 1}},
                  {"tile_stride_y", {0, 1}}}),
      parsed({"block_size_x * block_size_y >= 32 && block_size_x * block_size_y <= 1024",
              "tile_size_x > 1 || tile_stride_x == 0", "tile_size_y > 1 || tile_stride_y == 0"}),
      22272,
      11130,
      0.1171140};
}

PublishedSpace expdist() {
  const Values to_eight = range(1, 8);
  return {
      "expdist",
      parameters({{"block_size_x", {1024, 512, 256, 128, 64, 32}},
                  {"block_size_y", {1, 2, 4, 8, 16, 32}},
                  {"tile_size_x", to_eight},
                  {"tile_size_y", to_eight},
                  {"use_shared_mem", {0, 1, 2}},
                  {"loop_unroll_factor_x", to_eight},
                  {"loop_unroll_factor_y", to_eight},
                  {"use_column", {0, 1}},
                  {"n_y_blocks", {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}}}),
      // Kernel Tuner adds the first one itself.
      parsed({"block_size_x * block_size_y <= 1024", "use_column != 0 || n_y_blocks <= 1",
              "use_column != 0 || use_shared_mem != 2",
              "loop_unroll_factor_x <= tile_size_x && tile_size_x % loop_unroll_factor_x == 0",
              "loop_unroll_factor_y <= tile_size_y && tile_size_y % loop_unroll_factor_y == 0"}),
      9732096, 294000, 0};
}

PublishedSpace hotspot() {
  const std::string shared =
      "(block_size_x * tile_size_x + temporal_tiling_factor * 2) * "
      "(block_size_y * tile_size_y + temporal_tiling_factor * 2) * (2 + sh_power) * 4";
  return {"hotspot",
          parameters({{"block_size_x", joined({1, 2, 4, 8, 16}, range(32, 1024, 32))},
                      {"block_size_y", {1, 2, 4, 8, 16, 32}},
                      {"tile_size_x", range(1, 10)},
                      {"tile_size_y", range(1, 10)},
                      {"temporal_tiling_factor", range(1, 10)},
                      {"loop_unroll_factor_t", range(1, 10)},
                      {"sh_power", {0, 1}},
                      {"blocks_per_sm", {0, 1, 2, 3, 4}}}),
          parsed({"block_size_x * block_size_y >= 32",
                  "temporal_tiling_factor % loop_unroll_factor_t == 0",
                  "block_size_x * block_size_y <= 1024", shared + " <= 49152",
                  "blocks_per_sm == 0 || " + shared + " * blocks_per_sm <= 102400"}),
          22200000,
          349853,
          2.6839208};
}

PublishedSpace microhh() {
  const Values to_four = {1, 2, 4}, to_eight = {1, 2, 4, 8};
  const std::string threads = "BLOCK_SIZE_X * BLOCK_SIZE_Y * BLOCK_SIZE_Z";
  return {"microhh",
          parameters({{"BLOCK_SIZE_X", {1, 2, 4, 8, 16, 32, 128, 256, 512, 1024}},
                      {"BLOCK_SIZE_Y", {1, 2, 4, 8, 16, 32}},
                      {"BLOCK_SIZE_Z", to_four},
                      {"TILING_FACTOR_X", to_eight},
                      {"TILING_FACTOR_Y", to_four},
                      {"TILING_FACTOR_Z", to_four},
                      {"LOOP_UNROLL_FACTOR_X", to_eight},
                      {"LOOP_UNROLL_FACTOR_Y", to_four},
                      {"LOOP_UNROLL_FACTOR_Z", to_four},
                      {"BLOCKS_PER_MP", {0, 1, 2, 3, 4}}}),
          parsed({threads + " * BLOCKS_PER_MP <= 1024", threads + " >= 32", threads + " <= 1536",
                  "TILING_FACTOR_X % LOOP_UNROLL_FACTOR_X == 0",
                  "TILING_FACTOR_Y % LOOP_UNROLL_FACTOR_Y == 0",
                  "TILING_FACTOR_Z % LOOP_UNROLL_FACTOR_Z == 0"}),
          1166400,
          138600,
          1.1565620};
}

/// CLBlast's Xgemm: the space that was recorded on ten GPUs (`wide` false) and its larger form.
PublishedSpace clblast_gemm(bool wide) {
  const Values switched = wide ? Values{0, 1} : Values{0}, vector = {1, 2, 4, 8}, dim = {8, 16, 32},
               tile = {16, 32, 64, 128};
  std::vector<std::string> constraints = {"KWG % 2 == 0",
                                          "MWG % (MDIMC * VWM) == 0",
                                          "NWG % (NDIMC * VWN) == 0",
                                          "MWG % (MDIMA * VWM) == 0",
                                          "NWG % (NDIMB * VWN) == 0",
                                          "KWG % (MDIMC * NDIMC / MDIMA) == 0",
                                          "KWG % (MDIMC * NDIMC / NDIMB) == 0"};
  if (wide) constraints.emplace_back("MWG != 128 || NWG != 128 || MDIMC != 8 || NDIMC != 8");
  PublishedSpace space;
  space.name = wide ? "gemm (CLBlast), wide" : "gemm (CLBlast)";
  space.parameters = parameters({{"MWG", tile},
                                 {"NWG", tile},
                                 {"KWG", wide ? Values{16, 32} : Values{32}},
                                 {"MDIMC", dim},
                                 {"NDIMC", dim},
                                 {"MDIMA", dim},
                                 {"NDIMB", dim},
                                 {"VWM", vector},
                                 {"VWN", vector},
                                 {"STRM", switched},
                                 {"STRN", switched},
                                 {"SA", {0, 1}},
                                 {"SB", {0, 1}}});
  space.constraints = parsed(constraints);
  space.product = wide ? 663552 : 82944;
  space.valid = wide ? 116928 : 17956;
  return space;
}

}  // namespace

std::vector<PublishedSpace> published_spaces() {
  return {dedispersion(), microhh(), hotspot(), expdist(), clblast_gemm(false), clblast_gemm(true)};
}

}  // namespace autotune
