// SPDX-License-Identifier: Apache-2.0
#include "tuner/plugin/target_hooks.hpp"

#include <fstream>
#include <optional>

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

}  // namespace autotune
