// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/worker_client.hpp"

#include <utility>

#include "tuner/core/device.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/stopwatch.hpp"

namespace autotune {

Json WorkerClient::ask(Json request, std::string_view bytes, double limit_seconds,
                       std::string_view doing) {
  const Stopwatch watch(busy_seconds_);
  if (!process_) start();
  request["drop"] = std::exchange(dropped_, {});
  std::optional<Message> answer = process_->ask(request, bytes, limit_seconds);
  if (!answer) fail_silent(process_->silence(), limit_seconds, doing);
  return std::move(answer->header);
}

void WorkerClient::start() {
  process_ = std::make_unique<WorkerProcess>(argv_);
  dropped_.clear();
  ++started_;
}

void WorkerClient::fail_silent(Silence silence, double limit_seconds, std::string_view doing) {
  const WorkerEnd end = process_->end();
  process_.reset();
  if (silence == Silence::timeout) {
    fail(Outcome::timeout,
         format("no answer within {:.3g} s while {}: the worker was killed", limit_seconds, doing));
  }
  if (end.is_killed()) {
    fail(Outcome::killed,
         format("the worker was killed from outside while {}, perhaps by the system for want of "
                "memory: {}",
                doing, end.text));
  }
  fail(Outcome::crash, format("the worker ended by {} while {}", end.text, doing));
}

void WorkerClient::fail(Outcome outcome, const std::string& what) {
  if (++failures_ >= kMostFailures) {
    throw Error(
        format("device unhealthy: {} workers in a row ended without an answer; the last: {}",
               failures_, what));
  }
  throw KernelFailure(outcome, what);
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
