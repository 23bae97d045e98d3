// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/member_tuner.hpp"

#include <sstream>
#include <utility>

#include "db/exchange.hpp"
#include "tuner/core/error.hpp"
#include "tuner/session/calibrated.hpp"
#include "tuner/worker/wire_value.hpp"
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
  // Of the problem at hand:
  std::size_t number = 0;
  std::vector<PastTrial> lesson;
};

MemberTuner::MemberTuner(const MemberOptions& options, int rank)
    : options_(options),
      helpers_(rank, [this](int to, std::string bytes) { post(to, std::move(bytes)); }) {}
MemberTuner::~MemberTuner() = default;

void MemberTuner::run() {
  try {
    serve();
  } catch (const std::exception& error) {
    post(0, packed(wire_of(failure_of(error))));
  }
  is_busy_ = false;
}

void MemberTuner::serve() {
  job_ = options_.prepare();
  HelpServer help(*job_, [this](int to, std::string bytes) { post(to, std::move(bytes)); });
  say_hello();
  while (const std::optional<Task> task = tasks_.wait()) {
    is_busy_ = true;
    if (task->message.header.at("say") == say::kOrder) {
      help.close();
      tune(task->message);
    } else {
      help.take(task->from, task->message);
    }
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
  post(0, packed(wire_of(hello)));
}

void MemberTuner::take(int from, Message message) {
  const std::string what = WireValue(message.header.at("say"));
  const bool is_answer =
      what == say::kHelpTime || what == say::kHelpTrial || what == say::kHelpGone;
  if (what == say::kStop) {
    stop_ = true;
  } else if (what == say::kHelper) {
    helpers_.add(WireValue(message.header.at("rank")));
  } else if (what == say::kHelperLost) {
    helpers_.lose(WireValue(message.header.at("rank")));
  } else if (is_answer) {
    helpers_.take(from, std::move(message));
  } else if (what != say::kAlive) {
    tasks_.put({from, std::move(message)});
  }
}

void MemberTuner::stop() {
  stop_ = true;
  helpers_.lose_all();
  tasks_.close();
}

void MemberTuner::tune(const Message& message) {
  const auto order = content_of<Order>(message.header);
  scratch_.add(message.bytes);
  if (!tuning_) tuning_ = std::make_unique<Tuning>(*job_, scratch_.path(), callbacks());
  for (const std::string& lesson : order.learned) tuning_->problems.remember(learned_of(lesson));
  tuning_->queue.expect(order.ahead);

  tuning_->number = order.number;
  tuning_->pool.set_threads(order.threads);
  TuningOrder own{0, order.number, order.ahead, {}, order.threads, order.retune};
  if (order.seconds) own.deadline = Deadline::in(*order.seconds);
  Done done{order.number, tuning_->tuner.tune(own), tuning_->pool.statistics(),
            job_->device().busy_seconds()};
  post(0, packed(wire_of(done), learned_text(std::exchange(tuning_->lesson, {}))));
}

TuningCallbacks MemberTuner::callbacks() {
  TuningCallbacks calls;
  calls.stop_requested = [this] { return stopped(); };
  calls.on_warning = [this](const std::string& sentence) {
    post(0, packed({{"say", say::kWarning}, {"text", sentence}}));
  };
  calls.on_progress = [this](Progress progress) {
    progress.problems = job_->request().problems.size();
    const std::lock_guard lock(progress_mutex_);
    progress_ = std::move(progress);
  };
  calls.on_search = [this](TrialEvaluator* search) {
    if (search) {
      helpers_.open(*search, tuning_->number);
    } else {
      helpers_.close();
    }
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

}  // namespace autotune
