// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/member.hpp"

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "tuner/ranks/lead.hpp"
#include "tuner/ranks/member_tuner.hpp"
#include "tuner/worker/wire_value.hpp"

namespace autotune {
namespace {

constexpr double kFactsPause = 0.5;  // seconds between two looks for new rows
constexpr std::chrono::milliseconds kPause(2);
constexpr double kLongestEnd = 1;  // seconds that a busy device may take to end

double now() {
  using Seconds = std::chrono::duration<double>;
  return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The thread that speaks to rank 0.
class MemberSpeaker {
 public:
  MemberSpeaker(Transport& transport, const MemberOptions& options, MemberTuner& tuner)
      : transport_(transport), options_(options), tuner_(tuner) {}

  MemberEnd run() {
    for (;;) {
      if (const auto end = listen()) return {false, *end};
      if (now() - heard_ > options_.deadline) return {true, {}};
      speak();
      std::this_thread::sleep_for(kPause);
    }
  }

 private:
  std::optional<EndOfRun> listen() {
    while (const std::optional<Packet> packet = transport_.receive()) {
      std::optional<Message> message = unpacked(packet->bytes);
      if (!message) continue;
      heard_ = now();
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
    if (now() - looked_ > kFactsPause) send_facts();
    while (std::optional<std::string> packet = tuner_.poll()) {
      send_facts();
      transport_.send(0, *std::move(packet));
    }
    if (now() - alive_ < alive_pause(options_.deadline)) return;
    alive_ = now();
    transport_.send(0, tuner_.alive());
  }

  void send_facts() {
    looked_ = now();
    std::string facts = tuner_.facts();
    if (!facts.empty()) transport_.send(0, std::move(facts));
  }

  Transport& transport_;
  const MemberOptions& options_;
  MemberTuner& tuner_;
  double heard_ = now(), looked_ = now(), alive_ = now();
};

}  // namespace

MemberEnd run_member(Transport& transport, const MemberOptions& options) {
  MemberTuner tuner(options);
  const std::jthread thread([&] { tuner.run(); });
  const MemberEnd end = MemberSpeaker(transport, options, tuner).run();
  tuner.stop();
  if (options.abandon) {
    const double stopped = now();
    while (tuner.is_busy() && now() - stopped < kLongestEnd) std::this_thread::sleep_for(kPause);
    if (tuner.is_busy()) options.abandon(!end.lead_lost);
  }
  return end;
}

}  // namespace autotune
