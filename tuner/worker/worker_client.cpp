// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/worker_client.hpp"

#include <utility>

#include "tuner/core/device.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/stopwatch.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

Json WorkerClient::call(Json request, std::string_view bytes, double limit_seconds,
                        std::string_view doing) {
  const std::lock_guard lock(mutex_);
  const Stopwatch watch(busy_seconds_);
  if (!process_) start();
  request["drop"] = std::exchange(dropped_, {});
  const std::optional<Message> answer = process_->ask(request, bytes, limit_seconds);
  if (!answer) fail(process_->silence(), limit_seconds, doing);
  const Json& header = answer->header;
  if (const auto error = header.find("error"); error != header.end()) {
    throw Error(error->get<std::string>());
  }
  if (const auto failure = header.find("failure"); failure != header.end()) {
    const auto outcome = static_cast<Outcome>(failure->get<int>());
    // A device that has crashed is of no more use to its process.
    if (outcome == Outcome::crash || outcome == Outcome::timeout) process_.reset();
    throw KernelFailure(outcome, header.at("what").get<std::string>());
  }
  failures_ = 0;
  return header;
}

void WorkerClient::start() {
  process_ = std::make_unique<WorkerProcess>(argv_);
  dropped_.clear();
  ++started_;
}

void WorkerClient::fail(Silence silence, double limit_seconds, std::string_view doing) {
  const bool late = silence == Silence::timeout;
  const std::string how = process_->end().text;
  process_.reset();
  const std::string what = late
                               ? format("no answer within {:.3g} s while {}: the worker was killed",
                                        limit_seconds, doing)
                               : format("the worker ended by {} while {}", how, doing);
  if (++failures_ >= kMostFailures) {
    throw Error(
        format("device unhealthy: {} workers in a row ended without an answer; the last: {}",
               failures_, what));
  }
  throw KernelFailure(late ? Outcome::timeout : Outcome::crash, what);
}

void WorkerClient::drop(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  dropped_.push_back(id);
}

std::uint64_t WorkerClient::new_id() {
  const std::lock_guard lock(mutex_);
  return next_id_++;
}

int WorkerClient::generation() {
  const std::lock_guard lock(mutex_);
  return process_ ? started_ : 0;
}

double WorkerClient::busy_seconds() {
  const std::lock_guard lock(mutex_);
  return busy_seconds_;
}

pid_t WorkerClient::pid() {
  const std::lock_guard lock(mutex_);
  return process_ ? process_->pid() : 0;
}

}  // namespace autotune
