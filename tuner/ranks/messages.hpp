// SPDX-License-Identifier: Apache-2.0
// What rank 0 and the other ranks say to each other.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/search/transfer.hpp"
#include "tuner/session/tuning_request.hpp"
#include "tuner/worker/wire.hpp"

namespace autotune {

/// The kinds of messages: `say` of a header.
namespace say {
// From a rank to rank 0.
inline constexpr const char* kHello = "hello";      // Hello
inline constexpr const char* kFacts = "facts";      // rows, as JSON lines
inline constexpr const char* kDone = "done";        // Done, and what it teaches (learned_text)
inline constexpr const char* kFailed = "failed";    // Failed
inline constexpr const char* kWarning = "warning";  // `text`
inline constexpr const char* kPresent = "present";  // the answer to the roll call
// From rank 0 to a rank.
inline constexpr const char* kOrder = "order";         // Order, and rows about it
inline constexpr const char* kStop = "stop";           // end what you do, and report it
inline constexpr const char* kRollCall = "roll call";  // the work is over: do you still answer?
inline constexpr const char* kEnd = "end";             // EndOfRun
// Both ways.
inline constexpr const char* kAlive = "alive";  // `progress` where a problem is tuned
}  // namespace say

/// A rank is ready for orders.
struct Hello {
  std::string build;    // of the program
  std::string process;  // db::process_text()
  std::string host;
  std::string device_text;  // what tells two devices of a host apart; empty if they are shared
  DeviceInfo device;
  std::string problems;  // problems_hash()
  int threads = 1;       // its share of the host's cores, to compile on
  int most_threads = 1;  // what it may use while the host's other ranks have no work
};

/// A problem to tune.
struct Order {
  std::size_t number = 0;
  std::vector<std::size_t> ahead;  // those that this rank will probably get next
  bool retune = false;
  int threads = 1;                   // to compile on
  std::optional<double> seconds;     // its share of a budget of time
  std::vector<std::string> learned;  // learned_text() of near problems
};

struct Done {
  std::size_t number = 0;
  ProblemReport report;
  CompileStatistics compile;  // since the start
  double busy_seconds = 0;    // of the device, since the start
};

/// The rank tunes no more.
struct Failed {
  std::string what;
  bool fatal = false;  // for every rank: the target or the request is wrong
  bool usage = false;  // fatal, as UsageError
};

struct EndOfRun {
  bool finalize = false;  // no rank was lost: MPI may be shut down in order
  // Processes of this host: those that no longer answer are to be killed, because they may be
  // stopped; the others only if they do not join in shutting down MPI.
  std::vector<std::string> lost, present;
};

Json wire_of(const Hello& hello);
Json wire_of(const Order& order);
Json wire_of(const Done& done);
Json wire_of(const Failed& failed);
Json wire_of(const EndOfRun& end);
Json wire_of(const Progress& progress);

/// Throws WireError or Json::exception.
template <class Content>
Content content_of(const Json& header);

/// What a problem teaches others, and back.
std::string learned_text(const std::vector<PastTrial>& trials);
std::vector<PastTrial> learned_of(const std::string& text);

/// Header and bytes as one text. nullopt: it is not such a text.
std::string packed(const Json& header, std::string_view bytes = {});
std::optional<Message> unpacked(std::string_view text);

/// Equal on all ranks that were given the same command and have the same target.
std::string problems_hash(const Target& target, const TuningRequest& request);

// How the processes of a run reach each other. MPI is one implementation, a test's memory another.

/// Bytes from a rank, or to one.
struct Packet {
  int from = 0;
  std::string bytes;
};

/// For one thread. Packets from one rank arrive in the order sent.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  /// The number of processes.
  virtual int size() const = 0;
  /// Never blocks. What is sent to a dead rank is dropped without an error.
  virtual void send(int to, std::string bytes) = 0;
  /// The next packet, if one has arrived. Never blocks.
  virtual std::optional<Packet> receive() = 0;
};

}  // namespace autotune
