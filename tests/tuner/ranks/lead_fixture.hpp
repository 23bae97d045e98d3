// SPDX-License-Identifier: Apache-2.0
// Rank 0 with a clock of the test's.
#pragma once

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/tuner/ranks/memory_transport.hpp"
#include "tests/tuner/session/toy.hpp"
#include "tuner/ranks/lead.hpp"
#include "tuner/worker/worker_process.hpp"

namespace autotune {

/// The test speaks for the other ranks.
class LeadTest : public StoreTest {
 protected:
  LeadTest() { target_.flops = Expression::parse("N"); }

  void start(int ranks, const std::vector<int>& sizes) {
    office_.emplace(ranks);
    transport_.emplace(*office_, 0);
    for (const int n : sizes) request_.problems.push_back(problem_of(target_, {{"N", n}}, {}));
    LeadOptions options;
    options.deadline = 10;
    options.request_for = [this](const DeviceInfo&) { return request_; };
    options.on_problem = [this](const DeviceInfo&, const ProblemReport& report) {
      reported_.push_back(report.problem.text());
    };
    options.on_warning = [this](const std::string& sentence) { warnings_.push_back(sentence); };
    options.stop_requested = [this] { return stop_; };
    lead_.emplace(target_, store_, *transport_, options, now_);
  }

  void say(int rank, const Json& header, const std::string& bytes = "") {
    lead_->take({rank, packed(header, bytes)}, now_);
    lead_->tick(now_);
  }
  void hello(int rank, const std::string& device = "fake", const std::string& own = "",
             DeviceKind kind = DeviceKind::fake) {
    Hello hello;
    hello.build = worker_version();
    hello.process = "n1 " + std::to_string(rank) + " 1";
    hello.host = "n1";
    hello.device_text = own;
    hello.device.name = device;
    hello.device.kind = kind;
    hello.problems = problems_hash(target_, request_);
    say(rank, wire_of(hello));
  }
  void done(int rank, std::size_t number, const std::string& lesson = "[]") {
    Done done;
    done.number = number;
    done.report.problem = request_.problems.at(number);
    say(rank, wire_of(done), lesson);
  }
  /// The problem that a rank is told to tune; passes over signs of life.
  std::optional<Order> order(int rank) {
    while (const auto packet = office_->take(rank)) {
      const auto message = unpacked(packet->bytes);
      if (message->header["say"] == say::kOrder) return content_of<Order>(message->header);
    }
    return std::nullopt;
  }
  std::optional<std::size_t> number(int rank) {
    const auto one = order(rank);
    return one ? std::optional(one->number) : std::nullopt;
  }
  /// What a rank was told, of one kind of message; passes over the others.
  std::optional<Message> told(int rank, const char* what) {
    while (const auto packet = office_->take(rank)) {
      auto message = unpacked(packet->bytes);
      if (message->header["say"] == what) return message;
    }
    return std::nullopt;
  }
  /// Every rank answers the roll call, if there was one.
  bool is_over_if_all_answer() {
    for (int rank = 1; rank < transport_->size(); ++rank) {
      if (told(rank, say::kRollCall)) say(rank, {{"say", say::kPresent}});
    }
    return lead_->is_over();
  }
  void pass(double seconds) {
    now_ += seconds;
    lead_->tick(now_);
  }

  Target target_ = two_parameters();
  TuningRequest request_;
  db::TunedStore store_ = open_store();
  std::optional<testing::PostOffice> office_;
  std::optional<testing::MemoryTransport> transport_;
  std::optional<Lead> lead_;
  double now_ = 100;
  bool stop_ = false;
  std::vector<std::string> reported_, warnings_;
};

}  // namespace autotune
