// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/wire.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>

namespace autotune {

void refuse_value(const Json& value, const char* wanted) {
  constexpr std::size_t kMost = 40;
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kMost) text = text.substr(0, kMost) + "…";
  throw WireError(format("its process sent a malformed answer: {} is not {}", text, wanted));
}

CompiledKernel compiled_kernel_of(const Json& json, std::string binary) {
  auto kernel = from_wire<CompiledKernel>(json);
  kernel.binary = std::make_shared<const std::string>(std::move(binary));
  kernel.cached = true;
  return kernel;
}

TimedBatch timed_batch_of(const Json& json) {
  const auto batch = from_wire<TimedBatch>(json);
  const bool is_time = std::isfinite(batch.seconds) && batch.seconds >= 0;
  if (!is_time) throw WireError(format("{} s is not a time", batch.seconds));
  return batch;
}

Energy energy_of(const Json& json) {
  const auto energy = from_wire<Energy>(json);
  const bool is_energy = std::isfinite(energy.joules) && energy.joules >= 0;
  if (!is_energy) throw WireError(format("{} J is not an energy", energy.joules));
  return energy;
}

Json wire_of(const Counters& counters) { return {{"counters", to_wire(counters)}}; }

Counters counters_in(const Json& json) {
  auto counters = from_wire<Counters>(json.at("counters"));
  for (const Counter& one : counters) {
    if (!std::isfinite(one.value)) throw WireError(format("{} is {}", one.name, one.value));
  }
  return counters;
}

Json wire_of(const KernelFailure& failure) {
  return {{"failure", to_wire(failure.outcome())}, {"what", failure.what()}};
}

void throw_failure_in(const Json& answer) {
  if (const auto error = answer.find("error"); error != answer.end()) {
    throw Error(error->get<std::string>());
  }
  if (const auto failure = answer.find("failure"); failure != answer.end()) {
    throw KernelFailure(from_wire<Outcome>(*failure), answer.at("what").get<std::string>());
  }
}

CompileTask compile_task_of(const Json& json, std::string source) {
  auto task = from_wire<CompileTask>(json);
  task.source = std::move(source);
  return task;
}

Json wire_of(const Build& build) {
  Json json = to_wire(build);
  json["compiled"] = build.binary != nullptr;
  return json;
}

Build build_of(const Json& json, std::string binary) {
  auto build = from_wire<Build>(json);
  const bool compiled = field(json, "compiled");
  if (compiled) build.binary = std::make_shared<const std::string>(std::move(binary));
  return build;
}

namespace {

template <class T>
void append(std::string& bytes, const std::vector<T>& values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

}  // namespace

Json wire_of(const SearchTask& task) {
  Json json = to_wire(task);
  json["levels"] = task.levels.size();
  json["predicted"] = task.predicted.size();
  return json;
}

std::string bytes_of(const SearchTask& task) {
  std::string bytes;
  append(bytes, task.levels);
  append(bytes, task.predicted);
  return bytes;
}

SearchTask search_task_of(const Json& json, const std::string& bytes) {
  auto task = from_wire<SearchTask>(json);
  const std::size_t levels = field(json, "levels"), predicted = field(json, "predicted");
  const std::size_t split = levels * sizeof task.levels[0];
  const bool whole = std::max(levels, predicted) <= bytes.size() &&
                     bytes.size() == split + predicted * sizeof task.predicted[0];
  if (!whole) throw WireError("a search task is not followed by its levels and times");
  task.levels.resize(levels);
  task.predicted.resize(predicted);
  std::copy_n(bytes.data(), split, reinterpret_cast<char*>(task.levels.data()));
  std::copy_n(bytes.data() + split, bytes.size() - split,
              reinterpret_cast<char*>(task.predicted.data()));
  return task;
}

std::optional<std::vector<std::size_t>> question_of(const Json& said, std::size_t size) {
  if (!said.contains("ask")) return std::nullopt;
  const Json& ask = said.at("ask");
  if (!ask.is_array()) refuse_value(ask, "a list");
  std::vector<std::size_t> indices;
  for (const Json& asked : ask) {
    if (!asked.is_number_unsigned())
      throw WireError("it requested a configuration whose index is not a number");
    indices.push_back(asked.get<std::size_t>());
    if (indices.back() < size) continue;
    throw WireError(format("it requested configuration {} of {}", indices.back(), size));
  }
  return indices;
}

namespace {

using Clock = std::chrono::steady_clock;

/// Waits are cut into slices, because an Extension may change during a wait.
constexpr double kSliceMilliseconds = 100;

/// Limits of a message. A longer one is invalid.
constexpr std::uint64_t kMostHeader = std::uint64_t{64} << 20, kMostBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostAtOnce = std::uint64_t{4} << 20;

struct Sizes {
  std::uint64_t header = 0, bytes = 0;
};

class TimeLimit {
 public:
  explicit TimeLimit(double seconds, Extension more = {})
      : forever_(seconds < 0),
        more_(std::move(more)),
        end_(Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}

  /// For poll(). Rounded up, so that it is 0 only when no time is left.
  int milliseconds_to_wait() const {
    if (forever_) return -1;
    const std::chrono::duration<double, std::milli> left = end_ - Clock::now();
    const double milliseconds = left.count() + (more_ ? 1e3 * more_() : 0);
    if (milliseconds <= 0) return 0;
    return static_cast<int>(more_ ? std::min(milliseconds, kSliceMilliseconds) : milliseconds) + 1;
  }

 private:
  bool forever_;
  Extension more_;
  Clock::time_point end_;
};

/// Waits until the socket can be read or written.
Silence wait_for(int socket, short event, const TimeLimit& deadline) {
  for (;;) {
    pollfd ready{socket, event, 0};
    const int count = poll(&ready, 1, deadline.milliseconds_to_wait());
    if (count > 0) return Silence::none;
    if (count == 0 && deadline.milliseconds_to_wait() == 0) return Silence::timeout;
    if (count < 0 && errno != EINTR) return Silence::closed;
  }
}

Silence write_all(int socket, std::string_view bytes, const TimeLimit& deadline) {
  while (!bytes.empty()) {
    if (const Silence silence = wait_for(socket, POLLOUT, deadline); silence != Silence::none) {
      return silence;
    }
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent < 0) return Silence::closed;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return Silence::none;
}

Silence read_all(int socket, char* to, std::size_t count, const TimeLimit& deadline) {
  while (count > 0) {
    if (const Silence silence = wait_for(socket, POLLIN, deadline); silence != Silence::none) {
      return silence;
    }
    const ssize_t got = recv(socket, to, count, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return Silence::closed;
    to += got;
    count -= static_cast<std::size_t>(got);
  }
  return Silence::none;
}

/// Allocates memory as bytes arrive, because the announced size may be wrong.
Silence read_text(int socket, std::string& to, std::uint64_t count, const TimeLimit& deadline) {
  Silence silence = Silence::none;
  while (to.size() < count && silence == Silence::none) {
    const std::size_t before = to.size();
    to.resize(static_cast<std::size_t>(std::min(count, before + kMostAtOnce)));
    silence = read_all(socket, to.data() + before, to.size() - before, deadline);
  }
  return silence;
}

}  // namespace

Channel::~Channel() { close(socket_); }

Silence Channel::send(const Json& header, std::string_view bytes, double limit_seconds) {
  const std::vector<std::uint8_t> cbor = Json::to_cbor(header);
  const Sizes sizes{cbor.size(), bytes.size()};
  std::string front(sizeof sizes + cbor.size(), '\0');
  std::memcpy(front.data(), &sizes, sizeof sizes);
  std::memcpy(front.data() + sizeof sizes, cbor.data(), cbor.size());
  const TimeLimit deadline(limit_seconds);
  silence_ = write_all(socket_, front, deadline);
  if (silence_ == Silence::none) silence_ = write_all(socket_, bytes, deadline);
  return silence_;
}

std::optional<Message> Channel::receive(double limit_seconds, const Extension& more) {
  const TimeLimit deadline(limit_seconds, more);
  Sizes sizes;
  silence_ = read_all(socket_, reinterpret_cast<char*>(&sizes), sizeof sizes, deadline);
  if (silence_ != Silence::none) return std::nullopt;
  if (sizes.header > kMostHeader || sizes.bytes > kMostBytes) {
    silence_ = Silence::closed;
    return std::nullopt;
  }
  std::string cbor, bytes;
  silence_ = read_text(socket_, cbor, sizes.header, deadline);
  if (silence_ == Silence::none) silence_ = read_text(socket_, bytes, sizes.bytes, deadline);
  if (silence_ != Silence::none) return std::nullopt;
  std::optional<Json> header = parse_cbor(cbor);
  if (!header || !header->is_object()) {
    silence_ = Silence::closed;
    return std::nullopt;
  }
  return Message{*std::move(header), std::move(bytes)};
}

}  // namespace autotune
