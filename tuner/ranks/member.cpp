// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/member.hpp"

#include <chrono>
#include <sstream>
#include <thread>

#include "tuner/core/deadline.hpp"
#include "tuner/core/error.hpp"
#include "tuner/ranks/lead.hpp"
#include "tuner/session/explanation.hpp"
#include "tuner/worker/wire.hpp"
#include "tuner/worker/worker_process.hpp"

namespace autotune {
namespace {

std::string host_of(const std::string& process) { return process.substr(0, process.find(' ')); }

Failed failure_of(const std::exception& error) {
  const bool usage = dynamic_cast<const UsageError*>(&error) != nullptr;
  const bool fatal = usage || dynamic_cast<const TargetError*>(&error) != nullptr;
  return {error.what(), fatal, usage};
}

}  // namespace

Scratch::Scratch() : store_(path()), end_(db::facts_end(store_)) {}

std::string Scratch::fresh() {
  const std::lock_guard lock(mutex_);
  std::ostringstream lines;
  db::export_facts_after(store_, end_, lines);
  return std::move(lines).str();
}

void Scratch::add(const std::string& lines) {
  std::istringstream in(lines);
  const std::lock_guard lock(mutex_);
  db::import_json_lines(store_, in, "rank 0's database");
  end_ = db::facts_end(store_);
}

/// What stays from problem to problem.
struct MemberTuner::Tuning {
  Tuning(MemberJob& job, const std::filesystem::path& path, TuningCallbacks calls)
      : store(path),
        callbacks(std::move(calls)),
        calibration(calibration_of(&store, job.device())),
        problems(job.target(), job.request().problems, job.device().info(), calibration),
        queue(0, 1),
        pool(job.device(), job.request().compile_threads),
        tuner({job.target(), job.request(), problems, queue, pool}, job.device(), &store,
              callbacks) {}

  db::TunedStore store;
  const TuningCallbacks callbacks;
  const Calibration calibration;
  PreparedProblems problems;
  WorkQueue queue;
  CompilePool pool;
  ProblemTuner tuner;
  std::vector<PastTrial> lesson;  // of the problem at hand
};

MemberTuner::MemberTuner(const MemberOptions& options) : options_(options) {}
MemberTuner::~MemberTuner() = default;

void MemberTuner::run() {
  try {
    serve();
  } catch (const std::exception& error) {
    post(packed(wire_of(failure_of(error))));
  }
  is_busy_ = false;
}

void MemberTuner::serve() {
  job_ = options_.prepare();
  say_hello();
  while (const std::optional<Message> order = orders_.wait()) {
    is_busy_ = true;
    tune(*order);
    is_busy_ = false;
  }
}

void MemberTuner::say_hello() {
  Hello hello;
  hello.build = worker_version();
  hello.process = db::process_text();
  hello.host = host_of(hello.process);
  hello.device_text = job_->device_text();
  hello.device = job_->device().info();
  hello.problems = problems_hash(job_->target(), job_->request());
  hello.threads = job_->request().compile_threads;
  hello.most_threads = job_->most_threads();
  is_busy_ = false;
  post(packed(wire_of(hello)));
}

void MemberTuner::take(Message message) {
  const std::string what = WireValue(message.header.at("say"));
  if (what == say::kStop) {
    stop_ = true;
  } else if (what == say::kOrder) {
    orders_.put(std::move(message));
  }
}

void MemberTuner::stop() {
  stop_ = true;
  orders_.close();
}

void MemberTuner::tune(const Message& message) {
  const auto order = content_of<Order>(message.header);
  scratch_.add(message.bytes);
  if (!tuning_) tuning_ = std::make_unique<Tuning>(*job_, scratch_.path(), callbacks());
  for (const std::string& lesson : order.learned) tuning_->problems.remember(learned_of(lesson));
  tuning_->queue.expect(order.ahead);

  tuning_->pool.set_threads(order.threads);
  TuningOrder own{0, order.number, order.ahead, {}, order.threads, order.retune};
  if (order.seconds) own.deadline = Deadline::in(*order.seconds);
  Done done{order.number, tuning_->tuner.tune(own), tuning_->pool.statistics(),
            job_->device().busy_seconds()};
  post(packed(wire_of(done), learned_text(std::exchange(tuning_->lesson, {}))));
}

TuningCallbacks MemberTuner::callbacks() {
  TuningCallbacks calls;
  calls.stop_requested = [this] { return stopped(); };
  calls.on_warning = [this](const std::string& sentence) {
    post(packed({{"say", say::kWarning}, {"text", sentence}}));
  };
  calls.on_progress = [this](Progress progress) {
    progress.problems = job_->request().problems.size();
    const std::lock_guard lock(progress_mutex_);
    progress_ = std::move(progress);
  };
  calls.on_lesson = [this](const std::vector<PastTrial>& trials) { tuning_->lesson = trials; };
  return calls;
}

std::string MemberTuner::facts() {
  const std::string lines = scratch_.fresh();
  return lines.empty() ? lines : packed({{"say", say::kFacts}}, lines);
}

std::string MemberTuner::alive() {
  const std::lock_guard lock(progress_mutex_);
  const std::optional<Progress> progress = std::exchange(progress_, {});
  return packed(progress ? wire_of(*progress) : Json{{"say", say::kAlive}});
}

namespace {

constexpr double kFactsPause = 0.5;  // seconds between two looks for new rows
constexpr std::chrono::milliseconds kPause(2);
constexpr double kLongestEnd = 1;  // seconds that a busy device may take to end

/// The thread that speaks to rank 0.
class MemberSpeaker {
 public:
  MemberSpeaker(Transport& transport, const MemberOptions& options, MemberTuner& tuner)
      : transport_(transport), options_(options), tuner_(tuner) {}

  MemberEnd run() {
    for (;;) {
      if (const auto end = listen()) return {false, *end};
      if (steady_seconds() - heard_ > options_.deadline) return {true, {}};
      speak();
      std::this_thread::sleep_for(kPause);
    }
  }

 private:
  std::optional<EndOfRun> listen() {
    while (const std::optional<Packet> packet = transport_.receive()) {
      std::optional<Message> message = unpacked(packet->bytes);
      if (!message) continue;
      heard_ = steady_seconds();
      if (message->header.at("say") == say::kEnd) return content_of<EndOfRun>(message->header);
      if (message->header.at("say") == say::kRollCall) {
        transport_.send(0, packed({{"say", say::kPresent}}));
        continue;
      }
      tuner_.take(*std::move(message));
    }
    return std::nullopt;
  }

  void speak() {
    if (steady_seconds() - looked_ > kFactsPause) send_facts();
    while (std::optional<std::string> packet = tuner_.poll()) {
      send_facts();
      transport_.send(0, *std::move(packet));
    }
    if (steady_seconds() - alive_ < alive_pause(options_.deadline)) return;
    alive_ = steady_seconds();
    transport_.send(0, tuner_.alive());
  }

  void send_facts() {
    looked_ = steady_seconds();
    std::string facts = tuner_.facts();
    if (!facts.empty()) transport_.send(0, std::move(facts));
  }

  Transport& transport_;
  const MemberOptions& options_;
  MemberTuner& tuner_;
  double heard_ = steady_seconds(), looked_ = steady_seconds(), alive_ = steady_seconds();
};

}  // namespace

MemberEnd run_member(Transport& transport, const MemberOptions& options) {
  MemberTuner tuner(options);
  const std::jthread thread([&] { tuner.run(); });
  const MemberEnd end = MemberSpeaker(transport, options, tuner).run();
  tuner.stop();
  if (options.abandon) {
    const double stopped = steady_seconds();
    while (tuner.is_busy() && steady_seconds() - stopped < kLongestEnd)
      std::this_thread::sleep_for(kPause);
    if (tuner.is_busy()) options.abandon(!end.lead_lost);
  }
  return end;
}

}  // namespace autotune
