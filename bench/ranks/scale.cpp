// SPDX-License-Identifier: Apache-2.0
// How many devices rank 0 can keep busy: the real rank 0 (Lead, with its database), and simulated
// ranks that only send the messages of tuning. A virtual clock advances by rank 0's processor time.
// usage: ranks_bench [PROBLEMS [DEVICES…]]
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <queue>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "db/exchange.hpp"
#include "db/store.hpp"
#include "tuner/host/process.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/ranks/lead.hpp"
#include "tuner/records/records.hpp"
#include "tuner/worker/worker_process.hpp"

namespace {

using namespace autotune;

constexpr int kTrials = 100;  // of a problem
constexpr int kCompileThreads = 8;
constexpr double kCompileSeconds = 1, kMeasureSeconds = 5e-3, kNoise = 0.02;
constexpr double kTrialSeconds = kCompileSeconds / kCompileThreads + kMeasureSeconds;
constexpr int kParts = 12;  // messages with rows, about two a second

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Target toy() {
  Target target;
  target.name = "toy";
  target.sizes = {"N"};
  target.flops = Expression::parse("N");
  target.fingerprint = "toy-1";
  return target;
}

/// A packet to rank 0, and its time of arrival.
struct Event {
  double time = 0;
  std::size_t number = 0;  // earlier ones first
  Packet packet;
};
struct Later {
  bool operator()(const Event& a, const Event& b) const {
    return a.time != b.time ? a.time > b.time : a.number > b.number;
  }
};

/// The ranks with devices: an order becomes the packets of a whole problem.
class Ranks final : public Transport {
 public:
  Ranks(const Target& target, const TuningRequest& request, int devices,
        const std::filesystem::path& folder)
      : target_(target), request_(request), devices_(devices), store_(folder / "ranks.db") {
    DeviceInfo device;
    device.name = "simulated";
    key_ = {store_.add_device(device_row(device)), store_.add_kernel(kernel_row(target_)), "",
            key_text(request_.policy)};
    db::SessionRow session;
    session.started_at = db::now_text();
    session_ = store_.begin_session(session);
    Hello hello;
    hello.build = worker_version();
    hello.device = device;
    hello.problems = problems_hash(target_, request_);
    for (int rank = 1; rank <= devices; ++rank) post(0, rank, packed(wire_of(hello)));
    post(0, 1, packed({{"say", say::kFacts}}, fresh_rows()));
  }

  int rank() const override { return 0; }
  int size() const override { return devices_ + 1; }
  std::optional<Packet> receive() override { return std::nullopt; }
  void send(int to, std::string bytes) override {
    ++sent;
    const double before = processor_seconds();
    const auto message = unpacked(bytes);
    if (message && message->header["say"] == say::kOrder) {
      tune(to, content_of<Order>(message->header).number);
    }
    if (message && message->header["say"] == say::kRollCall) {
      post(now, to, packed({{"say", say::kPresent}}));
    }
    theirs += processor_seconds() - before;
  }

  bool has_packet() const { return !events_.empty(); }
  Event next() {
    Event event = events_.top();
    events_.pop();
    return event;
  }

  double now = 0;     // when rank 0 sends
  double theirs = 0;  // processor time spent in the simulation of the ranks
  double work = 0;    // device seconds
  std::size_t sent = 0;

 private:
  void post(double time, int rank, std::string bytes) {
    events_.push({time, count_++, {rank, std::move(bytes)}});
  }

  std::string fresh_rows() {
    std::ostringstream lines;
    db::export_facts_after(store_, end_, lines);
    return std::move(lines).str();
  }

  void tune(int rank, std::size_t number) {
    std::normal_distribution<double> noise(1, kNoise);
    key_.problem = request_.problems[number].text();
    std::vector<PastTrial> lesson;
    double time = now;
    for (int part = 0; part < kParts; ++part) {
      std::vector<db::TrialRow> rows;
      for (int i = part * kTrials / kParts; i < (part + 1) * kTrials / kParts; ++i) {
        const double seconds = 1e-5 * (1 + i % 10) * noise(random_);
        rows.push_back(row_of(i, seconds));
        lesson.push_back({request_.problems[number].values, {{"X", i}}, seconds, 1e-5});
        time += kTrialSeconds * noise(random_);
      }
      store_.append(rows);
      post(time, rank, packed({{"say", say::kFacts}}, fresh_rows()));
      if (part % 2 == 1) post(time, rank, packed({{"say", say::kAlive}}));
    }
    Done done;
    done.number = number;
    done.report.problem = request_.problems[number];
    post(time, rank, packed(wire_of(done), learned_text(lesson)));
    work += time - now;
  }

  db::TrialRow row_of(int i, double seconds) const {
    db::TrialRow row;
    row.session = session_;
    row.key = key_;
    row.configuration = "X=" + std::to_string(i);
    row.median_ns = row.low_ns = row.high_ns = seconds * 1e9;
    row.samples = 12;
    row.verified = true;
    row.created_at = db::now_text();
    return row;
  }

  const Target& target_;
  const TuningRequest& request_;
  const int devices_;
  db::TunedStore store_;
  db::FactsEnd end_ = db::FactsEnd(16);
  db::ProblemKey key_;
  std::string session_;
  std::mt19937_64 random_{1};
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  std::size_t count_ = 0;
};

void simulate(int problems, int devices) {
  const TemporaryFolder folder;
  const Target target = toy();
  TuningRequest request;
  for (int i = 1; i <= problems; ++i)
    request.problems.push_back(problem_of(target, {{"N", 64 * i}}, {}));
  db::TunedStore store(folder.path() / "tuned.db");
  Ranks ranks(target, request, devices, folder.path());
  LeadOptions options;
  options.deadline = 1e9;
  options.request_for = [&](const DeviceInfo&) { return request; };
  Lead lead(target, store, ranks, options, 0);

  double clock = 0, busy = 0, last = 0;
  std::size_t packets = 0;
  while (ranks.has_packet() && !lead.is_over()) {
    const Event event = ranks.next();
    clock = ranks.now = std::max(clock, event.time);
    const double before = processor_seconds() - ranks.theirs;
    lead.take(event.packet, clock);
    lead.tick(clock);
    const double used = processor_seconds() - ranks.theirs - before;
    clock += used;
    busy += used;
    last = std::max(last, event.time);
    ++packets;
  }
  lead.end();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double length = std::max(clock, last);
  std::printf("| %d | %.0f s | %.3f | %.1f %% | %.0f | %ld MiB |\n", devices, length,
              ranks.work / (devices * length), 100 * busy / length,
              static_cast<double>(packets + ranks.sent) / length, usage.ru_maxrss / 1024);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int problems = argc > 1 ? std::atoi(argv[1]) : 2000;
  std::vector<int> devices;
  for (int i = 2; i < argc; ++i) devices.push_back(std::atoi(argv[i]));
  if (devices.empty()) devices = {1, 4, 16, 64, 512};
  std::puts(
      "| devices | time | efficiency | rank 0 | messages a second | memory "
      "|\n|---|---|---|---|---|---|");
  for (const int count : devices) simulate(problems, count);
}
