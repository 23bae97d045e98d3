// SPDX-License-Identifier: Apache-2.0
// autotune watch: the report in a browser, while the database grows.
#include <csignal>
#include <filesystem>
#include <iostream>
#include <string>
#include <utility>

#include "tuner/cli/report_source.hpp"
#include "tuner/cli/request.hpp"
#include "tuner/cli/tuned_entries.hpp"
#include "tuner/report/page.hpp"
#include "tuner/text/format.hpp"
#include "tuner/watch/live_content.hpp"
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

int run_watch(const Arguments& arguments) {
  const auto port = static_cast<int>(arguments.integer("port", 0, kLastPort));
  const std::filesystem::path file = database_path(arguments);
  LatestReport latest(arguments);
  // An unreadable file is an error at once. A missing one may still be created.
  if (std::filesystem::exists(file)) open_store(arguments, db::Mode::read_only);

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

}  // namespace

extern const Verb kWatch;
const Verb kWatch{
    .name = "watch",
    .synopsis = "[--target T] [--size S] [--db FILE] [--port N]",
    .summary = "Show the report in a browser, while the database grows",
    .details =
        R"(Prints a URL of this machine, and answers there until Ctrl-C or SIGTERM. The page is that of
`autotune report`. It looks for new trials every two seconds, and keeps what the reader has chosen.

The URL has a token; without it the page is refused. From another machine, make a tunnel, such as
`ssh -L 8000:127.0.0.1:8000 HOST` with `--port 8000`, and open the URL there.

It waits for a database that does not exist yet. If the database cannot be read, the page says so and
shows the last state that could be read. Reading takes at most a tenth of one core's time, and
nothing while no browser shows the page.)",
    .options = {{"target", "T", "A target's name or the path of a manifest"},
                {"size", "S", "A problem, as for tune: 512, 1037x1031x1055, 128..1024"},
                {"device", "NAME", "Only this device"},
                {"set", "NAME=VALUE", "Only problems with this setting, such as dtype=f64", "",
                 true},
                kContextOption,
                kPluginOption,
                {"db", "FILE", "The database"},
                {"port", "N", "The port on 127.0.0.1; 0: a free one", "0"}},
    .positional = {},
    .run = run_watch};

}  // namespace autotune::cli
