// SPDX-License-Identifier: Apache-2.0
// autotune watch in the program that has a web server.
#include <csignal>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <utility>

#include "tuner/cli/answers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/cli/report.hpp"
#include "tuner/report/page.hpp"
#include "tuner/text/format.hpp"
#include "tuner/watch/page_server.hpp"

namespace autotune::cli {
namespace {

constexpr int kLastPort = 65535;

/// Blocks Ctrl-C, SIGTERM and SIGHUP, so that wait() receives them. Threads that start later
/// inherit this.
class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&signals_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, number);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  /// After the first signal, a second one ends the process at once.
  void wait() {
    int number = 0;
    sigwait(&signals_, &number);
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
  }

 private:
  sigset_t signals_{};
};

/// The latest report that could be read, with a notice if newer data could not.
class LatestReport {
 public:
  explicit LatestReport(const Arguments& arguments)
      : file_(database_path(arguments)), source_(arguments) {
    report_.database = file_.filename().string();
    report_.tool_version = AUTOTUNE_VERSION;
    report_.written_at = db::now_text();
  }

  watch::Made make() {
    try {
      report_ = source_.read();
      return {report::page_content(report_), true};
    } catch (const std::exception& error) {
      report_.notice = error.what();
    }
    if (report_.problems.empty() && !std::filesystem::exists(file_)) {
      report_.notice =
          format("{} is not there yet: this page waits for a run that makes it.", file_.string());
    } else if (report_.notice != std::exchange(told_, report_.notice)) {
      std::cerr << "warning: " << report_.notice << '\n';
    }
    return {report::page_content(report_), false};
  }

 private:
  std::filesystem::path file_;
  ReportSource source_;
  report::Report report_;
  std::string told_;
};

/// A run may still make results of a target, but only if there is one.
void expect_target(const Arguments& arguments, const std::optional<db::TunedStore>& store) {
  if (!arguments.has("target") || (store && is_tuned(arguments, *store))) return;
  Plugins(arguments).find_target(arguments.text("target"));
}

}  // namespace

int run_watch(const Arguments& arguments) {
  const auto port = static_cast<int>(arguments.integer("port", 0, kLastPort));
  const std::filesystem::path file = database_path(arguments);
  LatestReport latest(arguments);
  // An unreadable file is an error at once. A missing one may still be created.
  std::optional<db::TunedStore> store;
  if (std::filesystem::exists(file)) store = open_store(arguments, db::Mode::read_only);
  expect_target(arguments, store);
  store.reset();

  EndSignals signals;
  watch::LiveContent content(file, [&] { return latest.make(); });
  const watch::PageServer server(
      port, {[&] { return content.content(); },
             [](const watch::Content& now) { return report::live_page(now.html, now.version); }});
  std::cout << server.url() << std::endl;
  const char* const awaited = std::filesystem::exists(file) ? "" : " once a run makes it, and";
  std::cerr << format("shows {}{} as it grows; Ctrl-C ends\n", file.string(), awaited);
  signals.wait();
  return kDone;
}

}  // namespace autotune::cli
