// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/counters.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include "tuner/cli/devices.hpp"
#include "tuner/core/counters.hpp"
#include "tuner/core/error.hpp"
#include "tuner/session/counting.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

using Figures = std::map<std::string, double>;

Figures parsed(const std::string& text) {
  Figures figures;
  for (const auto& [name, value] : parse_named_values(text)) {
    const std::string number = value.text();
    double read = 0;
    const auto end = number.data() + number.size();
    if (std::from_chars(number.data(), end, read).ptr == end) figures[name] = read;
  }
  return figures;
}

std::filesystem::path counting_plugin(Plugins& plugins) {
  for (const PluginEntry& entry : plugins.load_all()) {
    if (entry.description && entry.description->counts) return entry.file;
  }
  throw Error(
      "no plugin counts: lib/autotune/plugins/counters.so is built where the CUDA toolkit (12.6 or "
      "later) has CUPTI; name one by --plugin FILE");
}

/// Of several devices, the first.
std::string first_device(const std::string& text) {
  return text == "cuda:all" ? "cuda:0" : text.substr(0, text.find(','));
}

/// Adds `name  text` if all of the figures are known.
class Lines {
 public:
  explicit Lines(const Figures& figures) : figures_(figures) {}

  template <class Text>
  void add(const char* title, std::initializer_list<const char*> names, const Text& text) {
    std::vector<double> values;
    for (const char* const name : names) {
      const auto found = figures_.find(name);
      if (found == figures_.end()) return;
      values.push_back(found->second);
    }
    text_ += format("  {:<14}{}\n", title, text(values));
  }

  std::string text() const { return text_; }

 private:
  const Figures& figures_;
  std::string text_;
};

std::string rate(double bytes, double seconds) {
  return seconds > 0 ? format(", {:.4g} GB/s", bytes / seconds / 1e9) : "";
}

using Values = const std::vector<double>&;

void add_instructions(Lines& lines, double seconds) {
  lines.add("occupancy", {"achieved_occupancy"},
            [](Values v) { return format("{:.1f} % achieved", 100 * v[0]); });
  lines.add("instructions", {"instructions", "instructions_per_cycle"}, [&](Values v) {
    const std::string gips = seconds > 0 ? format(", {:.4g} GIPS", v[0] / seconds / 1e9) : "";
    return format("{:.6g} of warps{}, {:.2f} a cycle and SM", v[0], gips, v[1]);
  });
  lines.add("FLOPs", {"flops_f32", "flops_f64", "flops_f16"}, [](Values v) {
    return format("{:.6g} f32, {:.6g} f64, {:.6g} f16", v[0], v[1], v[2]);
  });
  lines.add("tensor cores", {"tensor_operations"},
            [](Values v) { return format("{:.6g} operations", v[0]); });
}

void add_memory(Lines& lines, double seconds) {
  for (const auto& [title, requests, sectors, efficiency] :
       {std::tuple{"global loads", "load_requests", "load_sectors", "load_efficiency"},
        std::tuple{"global stores", "store_requests", "store_sectors", "store_efficiency"}}) {
    lines.add(title, {requests, sectors, efficiency}, [](Values v) {
      return format("{:.6g} requests, {:.6g} sectors of 32 bytes, {:.1f} % of them used", v[0],
                    v[1], 100 * v[2]);
    });
  }
  lines.add("shared memory", {"shared_wavefronts", "shared_conflicts"}, [](Values v) {
    return format("{:.6g} wavefronts, {:.6g} of them by bank conflicts", v[0], v[1]);
  });
  lines.add("L2", {"l2_bytes", "l2_hit_rate"}, [&](Values v) {
    return format("{}{}, {:.1f} % hits", bytes_text(static_cast<std::int64_t>(v[0])),
                  rate(v[0], seconds), 100 * v[1]);
  });
  lines.add("DRAM", {"dram_read_bytes", "dram_write_bytes"}, [&](Values v) {
    return format("{} read, {} written{}", bytes_text(static_cast<std::int64_t>(v[0])),
                  bytes_text(static_cast<std::int64_t>(v[1])), rate(v[0] + v[1], seconds));
  });
}

/// The largest reasons; `selected` is no stall.
std::string stall_line(const Figures& figures) {
  constexpr std::size_t kShown = 4;
  constexpr std::string_view kPrefix = "stall_";
  std::vector<std::pair<double, std::string>> stalls;
  for (const auto& [name, value] : figures) {
    const bool is_stall = name.starts_with(kPrefix) && name != "stall_selected" && value > 0;
    if (is_stall) stalls.emplace_back(value, name.substr(kPrefix.size()));
  }
  std::ranges::sort(stalls, std::greater{});
  stalls.resize(std::min(stalls.size(), kShown));
  std::string text;
  for (const auto& [value, name] : stalls) {
    text += format("{}{} {:.2f}", text.empty() ? "" : ", ", name, value);
  }
  return text.empty() ? "" : format("  {:<14}{} (warps that wait, per issue)\n", "stalls", text);
}

}  // namespace

const Option kCountersOption{"counters", "",
                             "Count the finalists with hardware counters, apart from all times"};

void count_entries(const std::vector<db::TunedEntry>& entries, const Target& target,
                   Plugins& plugins, db::TunedStore& store, const std::string& device_text,
                   const std::function<void(const std::string&)>& warn) {
  constexpr double kCompileSeconds = 60;
  const auto device = open_device(first_device(device_text), kCompileSeconds);
  require_counters(device->info());
  const auto plugin = counting_plugin(plugins);
  for (const db::TunedEntry& entry : entries) {
    if (entry.device.name != device->info().name) {
      throw Error(format("counters of {} cannot be taken on {}: run it there", entry.device.name,
                         device->info().name));
    }
    count_finalists(store, entry, target, *device, plugin, warn);
  }
}

std::string counters_text(const std::string& text, double seconds) {
  const Figures figures = parsed(text);
  if (figures.empty()) return "";
  Lines lines(figures);
  add_instructions(lines, seconds);
  add_memory(lines, seconds);
  return "\ncounters    of one call, by the hardware\n" + lines.text() + stall_line(figures);
}

Json counters_json(const std::string& text) {
  Json json = Json::object();
  for (const auto& [name, value] : parsed(text)) json[name] = value;
  return json;
}

std::string figures_of(const std::vector<db::CounterRow>& rows, const std::string& configuration) {
  const auto found = std::ranges::find(rows, configuration, &db::CounterRow::configuration);
  return found == rows.end() ? "" : found->figures;
}

}  // namespace autotune::cli
