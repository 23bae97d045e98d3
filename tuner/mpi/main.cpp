// SPDX-License-Identifier: Apache-2.0
// autotune-mpi tune …: `autotune tune` on the devices of an MPI job. Rank 0 has the database, every
// other rank a device.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "db/store.hpp"
#include "tuner/cli/answers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/help.hpp"
#include "tuner/cli/program.hpp"
#include "tuner/cli/tuning_report.hpp"
#include "tuner/core/deadline.hpp"
#include "tuner/core/error.hpp"
#include "tuner/host/process.hpp"
#include "tuner/mpi/mpi_transport.hpp"
#include "tuner/mpi/own_job.hpp"
#include "tuner/ranks/lead.hpp"
#include "tuner/ranks/member.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr const char* kDeadlineVariable = "AUTOTUNE_MPI_DEADLINE";
constexpr double kDeadline = 30;
constexpr double kDeadlinesToStart = 4;

/// Seconds without a word after which a rank is lost; nullopt if the variable holds none.
std::optional<double> deadline() {
  const char* const text = std::getenv(kDeadlineVariable);
  if (text == nullptr) return kDeadline;
  const double seconds = std::atof(text);
  return seconds > 0 ? std::optional(seconds) : std::nullopt;
}

double deadline_of_lead() {
  if (const auto seconds = deadline()) return *seconds;
  throw UsageError(format("{} is seconds without a word from a rank, such as 30, not \"{}\"",
                          kDeadlineVariable, std::getenv(kDeadlineVariable)));
}

bool asks_for_help(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--help" || word == "-h") return true;
  }
  return false;
}

std::vector<std::string> words_of_tune(std::vector<std::string> words) {
  if (words.empty() || words[0] != "tune") {
    throw UsageError(
        "autotune-mpi knows the verb tune only: mpirun -n 5 autotune-mpi tune --target gemm …; "
        "autotune knows the others");
  }
  words.erase(words.begin());
  return words;
}

/// Processes of this host, but not this one. A stopped process would keep mpirun waiting.
void kill_all(const std::vector<std::string>& processes) {
  for (const std::string& process : processes) {
    const pid_t pid = db::live_process_near(process);
    if (pid > 1 && pid != getpid()) kill(pid, SIGKILL);
  }
}

/// Ends the other ranks if this one fails before it can lead them. None is lost yet.
class OtherRanks {
 public:
  OtherRanks(Transport& transport, EndOfRun& end) : transport_(transport), end_(end) {}
  ~OtherRanks() {
    if (are_led_) return;
    end_.finalize = true;
    for (int to = 1; to < transport_.size(); ++to) transport_.send(to, packed(wire_of(end_)));
  }
  OtherRanks(const OtherRanks&) = delete;
  OtherRanks& operator=(const OtherRanks&) = delete;
  void are_led() { are_led_ = true; }

 private:
  Transport& transport_;
  EndOfRun& end_;
  bool are_led_ = false;
};

void lead_to_end(Lead& lead, Transport& transport) {
  for (lead.tick(steady_seconds()); !lead.is_over(); lead.tick(steady_seconds())) {
    bool is_idle = true;
    while (const auto packet = transport.receive()) {
      is_idle = false;
      lead.take(*packet, steady_seconds());
    }
    if (is_idle) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

int run_lead(const std::vector<std::string>& words, MpiTransport& transport, EndOfRun& end) {
  OtherRanks others(transport, end);
  const cli::Verb& verb = cli::verb_called("tune");
  if (asks_for_help(words)) {
    std::cout << cli::help_of(verb);
    return cli::kDone;
  }
  const cli::Arguments arguments(verb,
                                 cli::words_by_new_name(verb, words_of_tune(words), std::cerr));
  if (transport.size() < 2) {
    throw UsageError(
        "autotune-mpi needs two ranks at least, because rank 0 has the database and no device: "
        "mpirun -n 2 autotune-mpi tune …");
  }
  const double start = steady_seconds();
  cli::TuneCommand command(arguments);
  db::TunedStore store(cli::database_path(arguments));
  const cli::LeftOutWarning warning(store);
  const TuningRequest asked = command.request(cli::kind_asked_for(arguments));
  cli::TuneOutput output(arguments, command.target(), asked, store.path());
  const cli::InterruptGuard guard([] {});
  output.warn_of(command.misplaced_database());
  output.warn_of(command.left_out());

  LeadOptions options;
  options.deadline = deadline_of_lead();
  options.request_for = [&](const DeviceInfo& device) { return command.request(device.kind); };
  options.on_problem = [&](const DeviceInfo& device, const ProblemReport& report) {
    output.show(device, report);
  };
  options.on_progress = [&](const Progress& progress) { output.show(progress); };
  options.on_warning = [&](const std::string& sentence) { output.warn_of(sentence); };
  options.stop_requested = cli::InterruptGuard::requested;
  Lead lead(command.target(), store, transport, options, start);
  others.are_led();
  lead_to_end(lead, transport);
  const std::string process = db::process_text();
  end = lead.end_of_run(process.substr(0, process.find(' ')));
  kill_all(end.lost);
  lead.end();
  std::vector<cli::DeviceReport> reports;
  for (auto& [device, report] : lead.reports(steady_seconds() - start)) {
    reports.push_back({device, std::move(report)});
  }
  return output.end(reports);
}

/// Rank 0 speaks for all: the others say nothing.
int run_as_member(const std::vector<std::string>& words, MpiTransport& transport, EndOfRun& end) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, [](int) {});  // rank 0's affair
  MemberOptions options;
  options.deadline = deadline().value_or(kDeadline);  // rank 0 complains
  options.prepare = [&] {
    std::ostream silent(nullptr);
    const cli::Verb& verb = cli::verb_called("tune");
    return open_own_job({verb, cli::words_by_new_name(verb, words_of_tune(words), silent)},
                        transport.rank(), transport.local_rank(), transport.local_size());
  };
  options.abandon = [](bool is_over) {
    remove_own_folders();
    _exit(is_over ? cli::kDone : cli::kFailed);
  };
  const MemberEnd run = run_member(transport, options);
  end = run.end;
  kill_all(end.lost);
  return run.lead_lost ? cli::kFailed : cli::kDone;
}

/// mpirun that goes on without a rank that died says 0 itself.
void tell_status(int status) {
  if (status == cli::kDone || std::getenv("OMPI_MCA_orte_enable_recovery") == nullptr) return;
  std::cerr << format("exit status {}\n", status);
}

}  // namespace
}  // namespace autotune

int main(int argc, char** argv) {
  using namespace autotune;
  std::optional<StartLimit> limit(std::in_place, kDeadlinesToStart * deadline().value_or(kDeadline),
                                  kDeadlineVariable);
  MpiTransport transport(argc, argv);
  limit.reset();
  const std::vector<std::string> words(argv + 1, argv + argc);
  EndOfRun end;
  const int status = cli::run_program([&] {
    return transport.rank() == 0 ? run_lead(words, transport, end)
                                 : run_as_member(words, transport, end);
  });
  transport.flush();
  if (transport.rank() == 0) tell_status(status);
  std::cout.flush();
  if (end.finalize) {
    transport.finalize([&] {
      kill_all(end.present);
      remove_own_folders();
      _exit(status);
    });
  }
  remove_own_folders();
  _exit(status);
}
