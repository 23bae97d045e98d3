// SPDX-License-Identifier: Apache-2.0
// A small tree of sources for the rules to find fault with.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace autotune::architecture {

/// A tree with one file in it, removed at the end.
class Planted {
 public:
  Planted(const std::string& file, const std::string& text)
      : root_(std::filesystem::path(::testing::TempDir()) /
              ("planted_" + std::to_string(getpid()) + "_" + std::to_string(++count_))) {
    add(file, text);
  }
  Planted(const Planted&) = delete;
  Planted& operator=(const Planted&) = delete;
  ~Planted() { std::filesystem::remove_all(root_); }

  void add(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << '\n';
  }
  const std::filesystem::path& root() const { return root_; }

 private:
  static inline int count_ = 0;
  std::filesystem::path root_;
};

}  // namespace autotune::architecture
