// SPDX-License-Identifier: Apache-2.0
#include "tuner/plugin/target_hooks.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <exception>
#include <fstream>
#include <optional>
#include <string_view>

#include "tuner/measure/inputs.hpp"
#include "tuner/measure/verification.hpp"
#include "tuner/plugin/plugin_library.hpp"

namespace autotune {
namespace {

const char* role_text(Role role) {
  static constexpr const char* kTexts[] = {"input", "output", "inout", "workspace"};
  return kTexts[static_cast<std::size_t>(role)];
}

/// The name of a type: a literal, so it is zero-terminated and never freed.
const char* type_text(ElementType type) { return name_of(type).data(); }

}  // namespace

PlainScalars::PlainScalars(std::span<const Scalar> scalars) {
  for (const Scalar& scalar : scalars) memory_.push_back(memory_of(scalar));
}

PlainBuffers::PlainBuffers(std::span<const BufferSpec> specs, std::span<void* const> addresses) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const char* const type = specs[i].members.empty() ? type_text(specs[i].type) : "struct";
    plain_.push_back({specs[i].name.c_str(), type, role_text(specs[i].role), specs[i].length,
                      addresses.empty() ? nullptr : addresses[i]});
  }
}

void PlainBuffers::add(std::span<const Scalar> scalars, const PlainScalars& values) {
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    plain_.push_back(
        {scalars[i].name.c_str(), type_text(scalars[i].type), "scalar", 1, values.address(i)});
  }
}

namespace {

namespace fs = std::filesystem;

bool is_filled(const BufferSpec& spec) {
  return spec.role == Role::input || spec.role == Role::inout;
}

/// The buffers of a problem in host memory, for a plugin.
class HookBuffers {
 public:
  explicit HookBuffers(const Workload& workload) : specs_(workload.buffers) {
    for (const BufferSpec& spec : specs_) {
      auto& bytes = contents_.emplace_back(static_cast<std::size_t>(spec.bytes()));
      if (is_filled(spec)) {
        fill(bytes, spec, InputSet::uniform, workload.seed);
      } else {
        poison(bytes, spec.type);
      }
    }
    std::vector<void*> addresses;
    for (auto& bytes : contents_) addresses.push_back(bytes.data());
    plain_.emplace(specs_, addresses);
  }

  std::uint32_t count() const { return plain_->count(); }
  const autotune_buffer_v1* plain() const { return plain_->data(); }
  std::span<const std::byte> contents(std::size_t i) const { return contents_[i]; }
  bool untouched(std::size_t i) const {
    std::vector<std::byte> poisoned(contents_[i].size());
    poison(poisoned, specs_[i].type);
    return poisoned == contents_[i];
  }

 private:
  const std::vector<BufferSpec>& specs_;
  std::vector<std::vector<std::byte>> contents_;
  std::optional<PlainBuffers> plain_;
};

void append(std::ofstream& file, std::span<const std::byte> bytes) {
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

void finish(std::ofstream& file, const fs::path& path) {
  if (!file.flush()) throw Error(format("{}: it cannot be written", path.string()));
}

void write_inputs(Workload& workload, const HookBuffers& buffers, const fs::path& folder) {
  for (std::size_t i = 0; i < workload.buffers.size(); ++i) {
    BufferSpec& spec = workload.buffers[i];
    if (!is_filled(spec)) continue;
    spec.file = folder / format("{}.input", spec.name);
    spec.file_offset = 0;
    std::ofstream file(spec.file, std::ios::binary);
    append(file, buffers.contents(i));
    finish(file, spec.file);
  }
}

void write_answers(Workload& workload, const HookBuffers& buffers, const fs::path& folder) {
  workload.expected_file = folder / "expected";
  std::ofstream file(workload.expected_file, std::ios::binary);
  for (std::size_t i = 0; i < workload.buffers.size(); ++i) {
    const BufferSpec& spec = workload.buffers[i];
    if (!is_compared(spec.role)) continue;
    if (spec.role == Role::output && spec.length > 0 && buffers.untouched(i)) {
      throw Error(format("reference(): it wrote nothing to {}", spec.name));
    }
    append(file, buffers.contents(i));
  }
  finish(file, workload.expected_file);
}

/// Throws Error for a prepared input: kernels write it later, on the device.
void require_no_prepared(const Workload& workload) {
  for (const BufferSpec& spec : workload.buffers) {
    if (spec.fill != Fill::prepared) continue;
    throw Error(
        format("{} is prepared by a kernel: a plugin with fill() or reference() must fill "
               "it itself",
               spec.name));
  }
}

}  // namespace

Workload with_hooks(const autotune_target_v1& target, Workload workload, const fs::path& folder) {
  require_no_prepared(workload);
  const Workload asked = workload;
  const HookBuffers buffers(asked);
  const char* const problem = asked.problem.c_str();
  if (target.fill != nullptr) {
    call_plugin("fill()",
                [&] { return target.fill(problem, asked.seed, buffers.count(), buffers.plain()); });
    write_inputs(workload, buffers, folder);
  }
  if (target.reference != nullptr) {
    call_plugin("reference()",
                [&] { return target.reference(problem, buffers.count(), buffers.plain()); });
    write_answers(workload, buffers, folder);
  }
  return workload;
}

namespace {

constexpr std::uint32_t kMostCandidates = 100;

/// The arguments must outlive it.
struct WholeProblem {
  WholeProblem(const std::string& target, const Workload& workload,
               std::span<void* const> addresses)
      : buffers(workload.buffers, addresses), scalars(workload.scalars) {
    buffers.add(workload.scalars, scalars);
    value = {target.c_str(), workload.problem.c_str(), buffers.count(), buffers.data()};
  }
  WholeProblem(const WholeProblem&) = delete;
  WholeProblem& operator=(const WholeProblem&) = delete;

  PlainBuffers buffers;
  const PlainScalars scalars;
  autotune_baseline_problem_v1 value{};
};

class PluginBaseline final : public Baseline {
 public:
  PluginBaseline(const autotune_baseline_v1& facet, void* instance)
      : facet_(facet), instance_(instance) {
    if (instance_ == nullptr) return;
    const std::uint32_t count = facet_.candidates(instance_);
    for (std::uint32_t i = 0; i < count && i < kMostCandidates; ++i) {
      const char* const name = facet_.name(instance_, i);
      names_.emplace_back(name == nullptr ? "" : name);
    }
  }
  ~PluginBaseline() override {
    if (instance_ != nullptr) facet_.close(instance_);
  }

  std::vector<std::string> names() const override { return names_; }

  void launch(std::size_t number, std::span<void* const> addresses, std::span<const Scalar> scalars,
              void* stream) override try {
    const PlainScalars values(scalars);
    std::vector<void*> all(addresses.begin(), addresses.end());
    for (std::size_t i = 0; i < scalars.size(); ++i) all.push_back(values.address(i));
    call_plugin("launch()", [&] {
      return facet_.launch(instance_, static_cast<std::uint32_t>(number), all.data(), stream);
    });
  } catch (const Error& error) {
    throw KernelFailure(Outcome::launch_error, error.what());
  }

 private:
  const autotune_baseline_v1& facet_;
  void* const instance_;
  std::vector<std::string> names_;
};

std::unique_ptr<Baseline> open_baseline(DeviceKind kind, const BaselineSource& source,
                                        const Workload& workload,
                                        std::span<void* const> addresses) {
  const autotune_baseline_v1& facet = loaded_plugin(source.plugin).baseline(kind);
  if (facet.supports(source.target.c_str()) == 0) {
    return std::make_unique<PluginBaseline>(facet, nullptr);
  }
  const WholeProblem problem(source.target, workload, addresses);
  void* instance = nullptr;
  call_plugin("open()", [&] { return facet.open(&problem.value, &instance); });
  return std::make_unique<PluginBaseline>(facet, instance);
}

}  // namespace

std::string library_offering(std::span<const std::filesystem::path> plugins,
                             const std::string& target, const Workload& workload,
                             bool has_free_sizes) {
  const auto offers = [&](const std::filesystem::path& file) {
    try {
      const PluginLibrary& plugin = loaded_plugin(file);
      if (!plugin.description().is_baseline || plugin.baseline().supports(target.c_str()) == 0) {
        return false;
      }
      if (has_free_sizes && !plugin.reads_free_sizes(target)) return false;
      const autotune_offers_v1* const facet = plugin.offers();
      if (facet == nullptr) return true;
      const WholeProblem problem(target, workload, {});
      return facet->refuses(&problem.value) == nullptr;
    } catch (const std::exception&) {
      return false;
    }
  };
  const auto found = std::ranges::find_if(plugins, offers);
  return found == plugins.end() ? "" : found->stem().string();
}

std::unique_ptr<Baseline> open_plugin_baseline(const BaselineSource& source,
                                               const Workload& workload,
                                               std::span<void* const> addresses) {
  return open_baseline(DeviceKind::cuda, source, workload, addresses);
}

std::unique_ptr<Baseline> open_host_baseline(const BaselineSource& source, const Workload& workload,
                                             std::span<void* const> addresses) {
  return open_baseline(DeviceKind::host, source, workload, addresses);
}

namespace {

constexpr std::uint32_t kMostCounters = 1000;

/// The callback for a plugin. No exception may pass through the plugin.
struct Call {
  const std::function<void()>& make;
  std::exception_ptr failure = nullptr;

  static int from(void* host) {
    Call& call = *static_cast<Call*>(host);
    try {
      call.make();
      return 0;
    } catch (...) {
      call.failure = std::current_exception();
      return 1;
    }
  }
};

bool is_counter_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_';
  });
}

Counter checked(const autotune_counter_v1& one) {
  Counter counter{one.name == nullptr ? "" : one.name, one.unit == nullptr ? "" : one.unit,
                  one.value};
  if (!is_counter_name(counter.name)) {
    throw Error(format("counters/1: \"{}\" may have only letters, digits and _", counter.name));
  }
  if (!std::isfinite(counter.value)) {
    throw Error(format("counters/1: {} is {}", counter.name, counter.value));
  }
  return counter;
}

}  // namespace

Counters count_with_plugin(const std::filesystem::path& plugin, const std::function<void()>& make) {
  const autotune_counters_v1& facet = loaded_plugin(plugin).counters();
  Call call{make};
  std::uint32_t number = 0;
  const autotune_counter_v1* found = nullptr;
  try {
    call_plugin("count()", [&] { return facet.count(&Call::from, &call, &number, &found); });
  } catch (const Error&) {
    if (call.failure) std::rethrow_exception(call.failure);
    throw;
  }
  if (call.failure) std::rethrow_exception(call.failure);
  if (number > kMostCounters || (number > 0 && found == nullptr)) {
    throw Error(format("counters/1: there cannot be {} counters", number));
  }
  Counters counters;
  for (std::uint32_t i = 0; i < number; ++i) counters.push_back(checked(found[i]));
  return counters;
}

}  // namespace autotune
