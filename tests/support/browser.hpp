// SPDX-License-Identifier: Apache-2.0
// Pages in a browser without a screen. A driver, the last script of the page, uses it as a person
// does and leaves what it saw as JSON between `SEEN` and `NEES` in the document.
#pragma once

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/db/sample.hpp"
#include "tuner/json/json.hpp"
#include "tuner/text/format.hpp"

namespace autotune::testing {

inline constexpr const char* kNoBrowser = "there is no Chromium: scripts/install-dependencies --ci";

/// Empty if there is none.
inline std::string browser() {
  for (const char* path : {"/usr/bin/chromium", "/usr/bin/google-chrome"}) {
    if (std::filesystem::exists(path)) return path;
  }
  return "";
}

inline std::string output_of(const std::string& command) {
  std::FILE* const pipe = popen(command.c_str(), "r");
  std::string text;
  for (int letter = 0; pipe && (letter = std::fgetc(pipe)) != EOF;) {
    text += static_cast<char>(letter);
  }
  if (pipe) pclose(pipe);
  return text;
}

/// The page with a first script that notes errors, and this file of the source tree as its last.
inline std::string driven(std::string page, const char* driver) {
  std::ifstream file(std::filesystem::path(AUTOTUNE_SOURCE_DIR) / driver);
  const std::string script{std::istreambuf_iterator<char>(file), {}};
  page.insert(page.rfind("</body>"), "<script>" + script + "</script>");
  page.insert(page.find("<head>") + 6,
              "<script>const errors = [];\n"
              "window.onerror = (message) => { errors.push(message); };\n"
              "window.onunhandledrejection = ({reason}) => { errors.push(String(reason)); };\n"
              "console.error = (...words) => { errors.push(words.join(' ')); };</script>");
  return page;
}

/// What the driver of a page saw. `options` go to the browser.
inline Json seen_at(const std::string& url, const std::string& options = "") {
  const db::TemporaryFolder profile;
  const std::string command = format(
      "timeout 250 {} --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
      "--user-data-dir={} --window-size=1200,900 {} --dump-dom '{}' 2>/dev/null",
      browser(), (profile / "profile").string(), options, url);
  const std::string text = output_of(command);
  const auto from = text.rfind("SEEN{"), to = text.rfind("}NEES");
  if (from == std::string::npos || to == std::string::npos) return {{"output", text.size()}};
  return Json::parse(text.substr(from + 4, to + 1 - from - 4), nullptr, false);
}

}  // namespace autotune::testing
