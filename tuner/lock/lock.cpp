// SPDX-License-Identifier: Apache-2.0
#include "tuner/lock/lock.hpp"

#include <algorithm>
#include <bit>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>

#include "db/json.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/expression.hpp"
#include "tuner/core/problem.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/json/json.hpp"
#include "tuner/text/file_text.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::string_view kMark = "autotune lock ";
constexpr std::string_view kFormat = "1";
constexpr std::string_view kAgain = "make it again with autotune lock";

[[noreturn]] void refuse(const std::filesystem::path& file, std::string_view what) {
  throw Error(format("{}: {}", file.string(), what));
}

Json json_of(const LockedAnswer& answer) {
  Json json{{"sizes", answer.sizes}};
  if (answer.last != answer.sizes.front()) json["last"] = answer.last;
  const auto text = [&](const char* name, const std::string& value) {
    if (!value.empty()) json[name] = value;
  };
  const auto number = [&](const char* name, double value) {
    if (value != 0) json[name] = value;
  };
  text("configuration", answer.configuration);
  if (!answer.configuration.empty()) json["kernel"] = answer.kernel;
  text("library", answer.library);
  text("provenance", answer.provenance);
  text("bits", answer.bits);
  json["origin"] = static_cast<int>(answer.origin);
  number("median_ns", answer.median_ns);
  number("default_ns", answer.default_ns);
  number("expected_ns", answer.expected_ns);
  number("library_ns", answer.library_ns);
  number("distance", answer.distance);
  if (answer.early_start) json["early_start"] = true;
  if (answer.library_is_expected) json["library_is_expected"] = true;
  return json;
}

LockedAnswer answer_of(const Json& json) {
  LockedAnswer answer;
  json.at("sizes").get_to(answer.sizes);
  if (answer.sizes.empty()) throw Error("an answer has no sizes");
  answer.last = json.value("last", answer.sizes.front());
  answer.configuration = json.value("configuration", "");
  answer.kernel = json.value("kernel", std::size_t{0});
  answer.library = json.value("library", "");
  answer.provenance = json.value("provenance", "");
  answer.bits = json.value("bits", "");
  const int origin = json.at("origin");
  if (origin < 0 || origin > static_cast<int>(db::Origin::default_configuration)) {
    throw Error(format("{} is the origin of no answer", origin));
  }
  answer.origin = static_cast<db::Origin>(origin);
  answer.median_ns = json.value("median_ns", 0.0);
  answer.default_ns = json.value("default_ns", 0.0);
  answer.expected_ns = json.value("expected_ns", 0.0);
  answer.library_ns = json.value("library_ns", 0.0);
  answer.distance = json.value("distance", 0.0);
  answer.early_start = json.value("early_start", false);
  answer.library_is_expected = json.value("library_is_expected", false);
  return answer;
}

Json index_of(const Lock& lock) {
  Json device = Json::object();
  db::Table<db::DeviceRow>::columns(
      lock.device, [&](const char* name, const auto& value) { device[name] = value; });
  Json json{{"tool_version", lock.tool_version}, {"created_at", lock.created_at},
            {"command", lock.command},           {"device", device},
            {"environment", lock.environment},   {"fallback", name_of(lock.fallback)},
            {"kernels", Json::array()},          {"targets", Json::array()}};
  for (const LockedKernel& kernel : lock.kernels) {
    json["kernels"].push_back({{"key", kernel.key}, {"bytes", kernel.binary->size()}});
  }
  for (const LockedTarget& target : lock.targets) {
    Json answers = Json::array();
    for (const LockedAnswer& answer : target.answers) answers.push_back(json_of(answer));
    json["targets"].push_back({{"target", target.target},
                               {"fingerprint", target.fingerprint},
                               {"sizes", target.sizes},
                               {"key_sizes", target.key_sizes},
                               {"settings", target.settings},
                               {"policy", target.policy},
                               {"answers", std::move(answers)}});
  }
  return json;
}

/// Whether each answer has all sizes and a kernel, and no two hold for the same sizes.
void check(const LockedTarget& target, std::size_t kernels) {
  if (target.key_sizes == 0 || target.key_sizes > target.sizes.size()) {
    throw Error(format("{} has no sizes", target.target));
  }
  for (const LockedAnswer& answer : target.answers) {
    if (answer.sizes.size() != target.sizes.size() || answer.last < answer.sizes.front()) {
      throw Error(format("an answer for {} has other sizes than the target", target.target));
    }
    const bool has_kernel = !answer.configuration.empty();
    if (has_kernel == !answer.library.empty() || (has_kernel && answer.kernel >= kernels)) {
      throw Error(format("an answer for {} has neither a kernel nor a library", target.target));
    }
  }
}

/// Cuts the binaries off the end of the body.
std::vector<LockedKernel> kernels_of(const Json& list, std::string_view body) {
  std::vector<LockedKernel> kernels;
  for (const Json& each : list) {
    const std::size_t bytes = each.at("bytes");
    if (bytes > body.size()) throw Error("a kernel is longer than the file");
    kernels.push_back({each.at("key"), std::make_shared<const std::string>(body.substr(0, bytes))});
    body.remove_prefix(bytes);
  }
  if (!body.empty()) throw Error("bytes follow the last kernel");
  return kernels;
}

Lock lock_of(const Json& json, std::string_view binaries) {
  Lock lock;
  lock.tool_version = json.at("tool_version");
  lock.created_at = json.at("created_at");
  lock.command = json.at("command");
  db::Table<db::DeviceRow>::columns(lock.device, [&](const char* name, auto& value) {
    json.at("device").at(name).get_to(value);
  });
  lock.environment = json.at("environment");
  const std::string fallback = json.at("fallback");
  lock.fallback =
      fallback == name_of(LockFallback::error) ? LockFallback::error : LockFallback::vendor;
  if (fallback != name_of(lock.fallback)) {
    throw Error(format("\"{}\" is no fallback of a lock", fallback));
  }
  lock.kernels = kernels_of(json.at("kernels"), binaries);
  for (const Json& each : json.at("targets")) {
    LockedTarget& target = lock.targets.emplace_back();
    target.target = each.at("target");
    target.fingerprint = each.at("fingerprint");
    each.at("sizes").get_to(target.sizes);
    target.key_sizes = each.at("key_sizes");
    target.settings = each.at("settings");
    target.policy = each.at("policy");
    for (const Json& answer : each.at("answers")) target.answers.push_back(answer_of(answer));
    check(target, lock.kernels.size());
  }
  return lock;
}

/// The part of the text up to the next `end`, which is removed with it.
std::string_view taken(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

std::uint64_t number_of(std::string_view digits) {
  std::uint64_t number = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9' || number > std::numeric_limits<std::uint64_t>::max() / 16) {
      return std::numeric_limits<std::uint64_t>::max();
    }
    number = number * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return number;
}

}  // namespace

std::string_view name_of(LockFallback fallback) {
  return fallback == LockFallback::vendor ? "vendor" : "error";
}

const LockedTarget* Lock::find(std::string_view target, std::string_view settings,
                               std::string_view policy) const {
  const auto found = std::ranges::find_if(targets, [&](const LockedTarget& one) {
    return one.target == target && one.settings == settings && one.policy == policy;
  });
  return found == targets.end() ? nullptr : &*found;
}

bool is_lock(const std::filesystem::path& file) {
  if (file.extension() == ".lock") return true;
  if (!why_unreadable(file, std::numeric_limits<std::uint64_t>::max()).empty()) return false;
  std::string start(kMark.size(), '\0');
  std::ifstream stream(file, std::ios::binary);
  return stream.read(start.data(), static_cast<std::streamsize>(start.size())) && start == kMark;
}

void merge_ranges(std::vector<LockedAnswer>& answers) {
  const auto order = [](const LockedAnswer& answer) {
    std::vector<std::int64_t> sizes(answer.sizes.begin() + 1, answer.sizes.end());
    sizes.push_back(answer.sizes.front());
    return sizes;
  };
  std::ranges::stable_sort(answers, {}, order);
  std::vector<LockedAnswer> merged;
  for (LockedAnswer& next : answers) {
    if (!merged.empty() && merged.back().last + 1 == next.sizes.front()) {
      LockedAnswer as_before = next;  // with what a range may differ in
      const LockedAnswer& before = merged.back();
      as_before.sizes.front() = before.sizes.front();
      as_before.last = before.last;
      as_before.median_ns = before.median_ns;
      as_before.default_ns = before.default_ns;
      as_before.expected_ns = before.expected_ns;
      as_before.library_ns = before.library_ns;
      as_before.distance = before.distance;
      if (as_before == before) {
        next.sizes.front() = before.sizes.front();
        merged.back() = std::move(next);
        continue;
      }
    }
    merged.push_back(std::move(next));
  }
  answers = std::move(merged);
}

std::string lock_text(const Lock& lock) {
  const std::string index =
      index_of(lock).dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
  std::string body = index;
  for (const LockedKernel& kernel : lock.kernels) body += *kernel.binary;
  return format("{}{}\n{} {} {}\n", kMark, kFormat, index.size(), body.size() - index.size(),
                hash128(body)) +
         body;
}

Lock parse_lock(std::string_view bytes, const std::filesystem::path& file) {
  std::string_view body = bytes;
  const std::string_view first = taken(body, '\n');
  if (!first.starts_with(kMark)) refuse(file, format("is not a lock: {}", kAgain));
  if (const auto number = first.substr(kMark.size()); number != kFormat) {
    refuse(file, format("is a lock of format \"{}\", and this version reads format {}: {} of this "
                        "version",
                        number, kFormat, kAgain));
  }
  std::string_view line = taken(body, '\n');
  const std::uint64_t index = number_of(taken(line, ' '));
  const std::uint64_t kernels = number_of(taken(line, ' '));
  const std::uint64_t whole = index + kernels;
  if (index > whole || whole > body.size()) {
    refuse(file, format("is cut off or damaged after {} bytes: copy it again, or {}", bytes.size(),
                        kAgain));
  }
  if (whole < body.size() || hash128(body) != line) {
    refuse(file, format("is damaged, its checksum does not match: copy it again, or {}", kAgain));
  }
  try {
    Lock lock = lock_of(parse_json(body.substr(0, index), file.string()), body.substr(index));
    lock.path = file;
    return lock;
  } catch (const Json::exception& error) {
    refuse(file, format("has an index that no lock has ({}): {}", error.what(), kAgain));
  } catch (const Error& error) {
    refuse(file, format("has an index that no lock has ({}): {}", error.what(), kAgain));
  }
}

Lock read_lock(const std::filesystem::path& file) {
  const FileText read = read_text_file(file, std::numeric_limits<std::uint64_t>::max());
  if (!read.refusal.empty()) refuse(file, format("cannot be read: {}", read.refusal));
  return parse_lock(read.text, file);
}

std::shared_ptr<const Lock> opened_lock(const std::filesystem::path& file) {
  struct Opened {
    std::mutex mutex;
    std::map<std::filesystem::path, std::weak_ptr<const Lock>> locks;
  };
  static Opened& opened = *new Opened;  // used until the process ends
  const std::lock_guard guard(opened.mutex);
  std::weak_ptr<const Lock>& known = opened.locks[file];
  std::shared_ptr<const Lock> lock = known.lock();
  if (!lock) known = lock = std::make_shared<const Lock>(read_lock(file));
  return lock;
}

namespace {

bool has_free_sizes(const LockedTarget& target, const LockedAnswer& answer) {
  const auto free = std::span(answer.sizes).subspan(target.key_sizes);
  return std::ranges::any_of(free, [](std::int64_t size) { return size != kDefaultSize; });
}

/// Those with or without free sizes, sorted by all sizes but the first, then by the first.
std::vector<const LockedAnswer*> sorted_part(const LockedTarget& target, bool with_free) {
  std::vector<const LockedAnswer*> part;
  for (const LockedAnswer& answer : target.answers) {
    if (has_free_sizes(target, answer) == with_free) part.push_back(&answer);
  }
  std::ranges::sort(part, {}, [](const LockedAnswer* answer) {
    std::vector<std::int64_t> order(answer->sizes.begin() + 1, answer->sizes.end());
    order.push_back(answer->sizes.front());
    return order;
  });
  return part;
}

}  // namespace

inline std::size_t LockTable::Part::slot_of(const std::int64_t* sizes) const noexcept {
  const std::size_t others = size_count_ - 1;
  // A sum of products, which a processor computes side by side.
  std::uint64_t hash = 0, factor = 0x9E3779B97F4A7C15u;
  for (std::size_t i = 0; i < others; ++i, factor += 0x3C6EF372FE94F82Au) {
    hash += static_cast<std::uint64_t>(sizes[i]) * factor;
  }
  for (std::size_t at = hash ^ hash >> 32 ^ hash >> 47;; ++at) {
    const std::size_t slot = (at & mask_) * (others + 2);
    const std::int64_t* const held = &slots_[slot];
    std::int64_t different = 0;  // a call of memcmp would take as long as all the rest
    for (std::size_t i = 0; i < others; ++i) different |= sizes[i] ^ held[i];
    if (different == 0 || held[others + 1] == 0) return slot;
  }
}

LockTable::Part::Part(std::size_t size_count, std::vector<const LockedAnswer*> sorted)
    : size_count_(size_count), mask_(std::bit_ceil(sorted.size() * 2 + 1) - 1) {
  const std::size_t others = size_count - 1;
  slots_.resize((mask_ + 1) * (others + 2));
  for (const LockedAnswer* each : sorted) {
    const std::size_t slot = slot_of(each->sizes.data() + 1);
    if (slots_[slot + others + 1] == 0) {
      std::ranges::copy(std::span(each->sizes).subspan(1, others), &slots_[slot]);
      slots_[slot + others] = std::ssize(ranges_);
    }
    ranges_.push_back({each->sizes[0], each->last, each});
    slots_[slot + others + 1] = std::ssize(ranges_);
  }
}

const LockedAnswer* LockTable::Part::find(std::span<const std::int64_t> sizes) const noexcept {
  const std::int64_t* const slot = &slots_[slot_of(sizes.data() + 1)] + size_count_ - 1;
  const Range* range = ranges_.data() + slot[0];
  const Range* const end = ranges_.data() + slot[1];
  if (slot[1] == 0) return nullptr;
  if (end - range > 1) {
    range = std::lower_bound(range, end, sizes.front(),
                             [](const Range& one, std::int64_t size) { return one.last < size; });
  }
  const bool holds = range != end && range->first <= sizes.front() && sizes.front() <= range->last;
  return holds ? range->answer : nullptr;
}

LockTable::LockTable(const LockedTarget& target)
    : plain_(target.key_sizes, sorted_part(target, false)),
      with_free_sizes_(target.sizes.size(), sorted_part(target, true)) {}

const LockedAnswer* LockTable::find(std::span<const std::int64_t> sizes) const noexcept {
  if (sizes.size() == plain_.size_count()) return plain_.find(sizes);
  return sizes.size() == with_free_sizes_.size_count() ? with_free_sizes_.find(sizes) : nullptr;
}

}  // namespace autotune
