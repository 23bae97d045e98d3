// SPDX-License-Identifier: Apache-2.0
// Messages between a worker and its parent, as JSON, and the channel that they go through.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tuner/cache/build_cache.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/error.hpp"
#include "tuner/json/json.hpp"
#include "tuner/plugin/plugin_library.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

// Values of a message from another process, read strictly: a float is not an integer, and no value
// is truncated.

/// An invalid message. Workers run foreign code, which may overwrite their memory or their socket.
class WireError : public Error {
 public:
  using Error::Error;
};

/// Reads a message with `read`. Throws WireError if it is invalid; the functions below throw that
/// or Json::exception.
template <class Read>
auto read_message(const Json& header, const Read& read) try {
  return read(header);
} catch (const Json::exception&) {
  throw WireError("its process sent a malformed answer");
}

/// Throws WireError.
[[noreturn]] void refuse_value(const Json& value, const char* wanted);

template <class T>
concept WireInteger = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

/// Converts to the assigned type, or throws WireError.
class WireValue {
 public:
  explicit WireValue(const Json& json) : json_(json) {}

  template <WireInteger T>
  operator T() const {
    if (!json_.is_number_integer()) refuse_value(json_, "a whole number");
    const bool fits = json_.is_number_unsigned() ? std::in_range<T>(json_.get<std::uint64_t>())
                                                 : std::in_range<T>(json_.get<std::int64_t>());
    if (!fits) refuse_value(json_, "a number of this range");
    return json_.get<T>();
  }

  template <std::same_as<bool> T>
  operator T() const {
    if (!json_.is_boolean()) refuse_value(json_, "a truth value");
    return json_.get<bool>();
  }

  template <std::same_as<double> T>
  operator T() const {
    if (!json_.is_number()) refuse_value(json_, "a number");
    return json_.get<double>();
  }

  template <std::same_as<std::string> T>
  operator T() const {
    if (!json_.is_string()) refuse_value(json_, "a text");
    return json_.get<std::string>();
  }

  template <class T>
  operator std::vector<T>() const {
    if (!json_.is_array()) refuse_value(json_, "a list");
    std::vector<T> values;
    for (const Json& element : json_) values.push_back(WireValue(element));
    return values;
  }

 private:
  const Json& json_;
};

/// Throws Json::exception if there is none.
inline WireValue field(const Json& json, const char* name) { return WireValue(json.at(name)); }
inline WireValue field(const Json& json, int index) {
  return WireValue(json.at(static_cast<std::size_t>(index)));
}

/// Members<T>::visit(value, each) calls each("name", value.name) for every member that is sent.
template <class Struct>
struct Members;

#define WIRE_MEMBER(member) each(#member, value.member);
/// Outside of functions, in namespace autotune; up to 63 members.
#define WIRE_MEMBERS(Struct, ...)                                         \
  template <>                                                             \
  struct Members<Struct> {                                                \
    static void visit(auto& value, auto each) {                           \
      NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(WIRE_MEMBER, __VA_ARGS__)) \
    }                                                                     \
  };

template <class T>
concept HasMembers = requires {
  sizeof(Members<T>);
};
template <class T>
constexpr bool kIsVector = false;
template <class T>
constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
constexpr bool kIsOptional = false;
template <class T>
constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
constexpr bool kIsVariant = false;
template <class... Ts>
constexpr bool kIsVariant<std::variant<Ts...>> = true;

constexpr ElementType last_of(ElementType) { return kLastElementType; }
constexpr Role last_of(Role) { return Role::checked; }
constexpr Fill last_of(Fill) { return Fill::integers; }
constexpr LaunchForm last_of(LaunchForm) { return LaunchForm::stream; }
constexpr TextureFilter last_of(TextureFilter) { return TextureFilter::linear; }
constexpr TextureAddress last_of(TextureAddress) { return TextureAddress::mirror; }
constexpr L2State last_of(L2State) { return L2State::cold; }
constexpr Outcome last_of(Outcome) { return Outcome::killed; }

template <class T>
Json to_wire(const T& value) {
  if constexpr (HasMembers<T>) {
    Json json = Json::object();
    Members<T>::visit(value,
                      [&](const char* name, const auto& member) { json[name] = to_wire(member); });
    return json;
  } else if constexpr (kIsVector<T>) {
    Json json = Json::array();
    for (const auto& element : value) json.push_back(to_wire(element));
    return json;
  } else if constexpr (kIsOptional<T>) {
    return value ? to_wire(*value) : Json();
  } else if constexpr (kIsVariant<T>) {
    const auto alternative = [](const auto& held) { return to_wire(held); };
    return {{"kind", value.index()}, {"value", std::visit(alternative, value)}};
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<int>(value);
  } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
    return value.string();
  } else {
    return value;
  }
}

template <class T>
T from_wire(const Json& json);

template <class Variant, std::size_t... kKinds>
Variant variant_from_wire(std::size_t kind, const Json& value, std::index_sequence<kKinds...>) {
  std::optional<Variant> read;
  const auto try_kind = [&]<std::size_t kKind>() {
    using Alternative = std::variant_alternative_t<kKind, Variant>;
    if (kind == kKind) read = from_wire<Alternative>(value);
  };
  (try_kind.template operator()<kKinds>(), ...);
  if (!read) throw WireError(format("{} is not a kind of value", kind));
  return *std::move(read);
}

/// Throws WireError or Json::exception.
template <class T>
T from_wire(const Json& json) {
  if constexpr (HasMembers<T>) {
    T value;
    Members<T>::visit(value, [&](const char* name, auto& member) {
      member = from_wire<std::remove_cvref_t<decltype(member)>>(json.at(name));
    });
    return value;
  } else if constexpr (kIsVector<T>) {
    if (!json.is_array()) refuse_value(json, "a list");
    T values;
    for (const Json& element : json) {
      values.push_back(from_wire<typename T::value_type>(element));
    }
    return values;
  } else if constexpr (kIsOptional<T>) {
    return json.is_null() ? T() : T(from_wire<typename T::value_type>(json));
  } else if constexpr (kIsVariant<T>) {
    constexpr auto kKinds = std::make_index_sequence<std::variant_size_v<T>>();
    return variant_from_wire<T>(WireValue(json.at("kind")), json.at("value"), kKinds);
  } else if constexpr (std::is_enum_v<T>) {
    const int value = WireValue(json);
    if (value < 0 || value > static_cast<int>(last_of(T{}))) {
      throw WireError(format("{} numbers nothing", value));
    }
    return static_cast<T>(value);
  } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
    return std::string(WireValue(json));
  } else {
    return WireValue(json);
  }
}

WIRE_MEMBERS(Dim3, x, y, z)
WIRE_MEMBERS(Member, name, type, offset, alignment)
WIRE_MEMBERS(BufferSpec, name, type, length, role, fill, tolerance, file, file_offset, fill_values,
             seed, absolute, repeatable, streams, members, alignment, dims, strides, shift)
WIRE_MEMBERS(Scalar, type, integer, real, name)
WIRE_MEMBERS(Record::Field, value, offset)
WIRE_MEMBERS(Record, name, fields, bytes)
WIRE_MEMBERS(BufferRef, index)
WIRE_MEMBERS(TensorMap, buffer, dims, strides, box, swizzle_bytes, tf32)
WIRE_MEMBERS(Texture, buffer, dims, channels, filter, address, normalized)
WIRE_MEMBERS(ConstantGrid, buffer, grid)
WIRE_MEMBERS(Command, words, folder, time, limit_seconds)
WIRE_MEMBERS(Launch, entry, grid, block, cluster, dynamic_shared_bytes, arguments, starts_early,
             with_constant, cooperative, command)
WIRE_MEMBERS(ConstantCopy, buffer, symbol, optional)
WIRE_MEMBERS(LaunchPlan, workspace, launches, constants, checks)
WIRE_MEMBERS(SourceUnit, name, prelude, text, include_folders, options, entries, data_files,
             cooperative, build)
WIRE_MEMBERS(Workload, problem, buffers, scalars, reference_source, preparation, reference,
             expected_file, float64_outputs, seed, form, runs_commands)
WIRE_MEMBERS(KernelResources, entry, registers, shared_bytes, local_bytes, max_threads,
             parameter_bytes, parameter_types)
WIRE_MEMBERS(CompiledKernel, key, resources)
WIRE_MEMBERS(Verdict, outcome, message, worst_error, seconds, repeats, unwritten, is_undefined)
WIRE_MEMBERS(UnseenCalls, unseen, again, timed)
WIRE_MEMBERS(TimedBatch, seconds, clock_hz, l2, overhead)
WIRE_MEMBERS(RowBits, first, different)
WIRE_MEMBERS(Energy, joules, watts, seconds, resolution)
WIRE_MEMBERS(Counter, name, unit, value)
WIRE_MEMBERS(CompileTask, program, name, options, kernels, cooperative, folder)
WIRE_MEMBERS(Build, log, keep, read)

// What a message has in another form, or what is not every value of its type.

/// The binary of a kernel follows the message as raw bytes.
CompiledKernel compiled_kernel_of(const Json& json, std::string binary);

TimedBatch timed_batch_of(const Json& json);
Energy energy_of(const Json& json);

Json wire_of(const Counters& counters);
Counters counters_in(const Json& json);

/// An exception of the worker's device as an answer.
Json wire_of(const KernelFailure& failure);
/// Rethrows the exception or Error of an answer; returns if there is none.
void throw_failure_in(const Json& answer);

/// The source follows the message as raw bytes.
CompileTask compile_task_of(const Json& json, std::string source);

/// Without the binary, which follows as raw bytes.
Json wire_of(const Build& build);
Build build_of(const Json& json, std::string binary);

// Messages between a plugin's process and its parent, as JSON.

WIRE_MEMBERS(PluginDescription::Strategy, name, description)
WIRE_MEMBERS(PluginDescription::Target, manifest, folder, has_hooks)
WIRE_MEMBERS(PluginDescription, file, name, version, description, strategies, targets, is_baseline,
             is_host_baseline, counts)
WIRE_MEMBERS(SearchTask::Parameter, name, values)
WIRE_MEMBERS(CompiledResources, registers, shared_bytes, local_bytes, occupancy)
WIRE_MEMBERS(Evaluation, index, outcome, seconds, reason, resources, compile_seconds)
WIRE_MEMBERS(SearchTask, parameters, configurations, known, seed, budget, batch)

/// The levels and predictions follow the message as raw bytes.
Json wire_of(const SearchTask& task);
std::string bytes_of(const SearchTask& task);
SearchTask search_task_of(const Json& json, const std::string& bytes);

/// The configurations that a plugin requests, below `size`; nullopt when its search has ended.
/// Throws Error.
std::optional<std::vector<std::size_t>> question_of(const Json& said, std::size_t size);

// Messages over a socket between two processes: a JSON header as CBOR, then raw bytes.

struct Message {
  Json header;
  std::string bytes;
};

/// Why receiving ended without a message.
enum class Silence { none, closed, timeout };

/// Seconds by which to extend a limit.
using Extension = std::function<double()>;

class Channel {
 public:
  /// Takes ownership of the descriptor.
  explicit Channel(int socket) : socket_(socket) {}
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  int socket() const { return socket_; }

  /// Sends a message; waits at most the limit for a stuck reader. Returns `none` on success.
  Silence send(const Json& header, std::string_view bytes, double limit_seconds);

  /// Waits for a whole message; a negative limit means forever. nullopt: see silence(). Invalid
  /// data closes the channel.
  std::optional<Message> receive(double limit_seconds, const Extension& more = {});
  Silence silence() const { return silence_; }

 private:
  int socket_;
  Silence silence_ = Silence::none;
};

}  // namespace autotune
