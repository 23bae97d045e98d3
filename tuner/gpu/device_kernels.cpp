// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/device_kernels.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tuner/core/error.hpp"
#include "tuner/measure/verification.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr int kThreads = 256;

}  // namespace

DeviceKernels::DeviceKernels(const CubinCompiler& compiler, int multiprocessors)
    : compiler_(compiler), multiprocessors_(multiprocessors) {
  begun(std::nullopt);
}

/// With the lock held, or before anyone else knows this.
DeviceKernels::State& DeviceKernels::begun(Part part) const {
  State& state = parts_[part];
  if (state.loaded || state.compiling.valid()) return state;
  state.compiling = std::async(std::launch::async, [compiler = compiler_, part] {
    return compiler.compile(part ? device_kernels_source(*part) : device_kernels_source());
  });
  return state;
}

const LoadedCubin& DeviceKernels::of(Part part) const {
  const std::lock_guard lock(mutex_);
  State& state = begun(part);
  if (state.loaded) return *state.loaded;
  const CompiledKernel compiled = state.compiling.get();
  if (compiled.outcome != Outcome::ok) {
    throw Error("the kernels that fill buffers and check results do not compile with this NVRTC: " +
                compiled.log);
  }
  state.loaded = std::make_unique<LoadedCubin>(*compiled.binary);
  return *state.loaded;
}

void DeviceKernels::begin(std::span<const BufferSpec> buffers) const {
  const std::lock_guard lock(mutex_);
  for (const BufferSpec& buffer : buffers) {
    begun(buffer.type);
    if (buffer.role != Role::input) begun(bits_type(buffer.type));
  }
}

void DeviceKernels::finish(std::span<const BufferSpec> buffers) const {
  for (const BufferSpec& buffer : buffers) {
    if (buffer.role == Role::input) continue;
    of(buffer.type);
    of(bits_type(buffer.type));
  }
}

template <class... Values>
void DeviceKernels::launch(const LoadedCubin& cubin, const std::string& kernel, cudaStream_t stream,
                           std::int64_t threads, Values... values) const {
  if (threads == 0) return;
  const std::int64_t blocks = (threads + kThreads - 1) / kThreads;
  cudaLaunchConfig_t config{};
  config.gridDim.x = static_cast<unsigned>(std::min<std::int64_t>(blocks, multiprocessors_ * 8));
  config.blockDim.x = kThreads;
  config.stream = stream;
  void* arguments[] = {&values...};
  check_cuda(cudaLaunchKernelExC(&config, cubin.kernel(kernel), arguments),
             "run a kernel of the tuner's own");
}

void DeviceKernels::fill(cudaStream_t stream, ElementType type, const ElementRule& rule,
                         std::byte* to, std::int64_t count) const {
  launch(of(type), "fill", stream, count, to, count, rule);
}

void DeviceKernels::compare(cudaStream_t stream, const BufferSpec& buffer, const std::byte* got,
                            const SealedAnswer& right, Finding* finding) const {
  launch(of(buffer.type), right.type == buffer.type ? "compare" : "compare_f64", stream,
         buffer.length, got, right.values.get(), right.magnitudes.get(), buffer.length,
         allowance(buffer, right.type, right.exact), finding);
}

void DeviceKernels::compare_bits(cudaStream_t stream, const BufferSpec& buffer,
                                 const std::byte* one, const std::byte* other,
                                 Finding* finding) const {
  const std::byte* const no_magnitudes = nullptr;
  launch(of(bits_type(buffer.type)), "compare", stream, buffer.length, one, other, no_magnitudes,
         buffer.length, Allowance{}, finding);
}

void DeviceKernels::count_other(cudaStream_t stream, const std::byte* start, std::int64_t bytes,
                                std::byte value, std::uint64_t* others) const {
  launch(of(std::nullopt), "count_other", stream, bytes, start, bytes, value, others);
}

void DeviceKernels::scatter(cudaStream_t stream, std::byte* to, const std::byte* from,
                            const std::int64_t* positions, std::int64_t count,
                            std::int64_t element_bytes) const {
  launch(of(std::nullopt), "scatter", stream, count * element_bytes, to, from, positions, count,
         element_bytes);
}

void DeviceKernels::hash(cudaStream_t stream, const std::byte* start, std::int64_t bytes,
                         std::uint64_t* sum) const {
  launch(of(std::nullopt), "hash", stream, (bytes + 3) / 4, start, bytes, sum);
}

void DeviceKernels::count_inexact(cudaStream_t stream, ElementType type, const std::byte* values,
                                  std::int64_t count, double limit, std::uint64_t* others) const {
  launch(of(type), "count_inexact", stream, count, values, count, limit, others);
}

void DeviceKernels::stamp(cudaStream_t stream, Stamp* stamps) const {
  cudaLaunchConfig_t config{};
  config.gridDim.x = static_cast<unsigned>(multiprocessors_);
  config.stream = stream;
  void* arguments[] = {&stamps};
  check_cuda(cudaLaunchKernelExC(&config, of(std::nullopt).kernel("stamp"), arguments),
             "read its clock");
}

void DeviceKernels::copy(cudaStream_t stream, std::byte* to, const std::byte* from,
                         std::int64_t bytes) const {
  launch(of(std::nullopt), "copy", stream, (bytes + 15) / 16, to, from, bytes);
}

void DeviceKernels::neighbour(cudaStream_t stream, float* values, std::int64_t count) const {
  launch(of(std::nullopt), "neighbour", stream, count, values, count);
}

void DeviceKernels::empty(cudaStream_t stream) const {
  cudaLaunchConfig_t config{};
  config.stream = stream;
  check_cuda(cudaLaunchKernelExC(&config, of(std::nullopt).kernel("empty"), nullptr),
             "launch a kernel");
}

namespace {

SourceUnit source_of(std::string prelude, std::vector<std::string> entries) {
  SourceUnit unit;
  unit.name = "elements.hpp";
  unit.prelude = std::move(prelude);
  unit.text = device_kernels_text();
  unit.options = {"-fmad=false"};  // products and sums are rounded apart, as on the host
  unit.entries = std::move(entries);
  return unit;
}

}  // namespace

SourceUnit device_kernels_source() {
  return source_of(format("#define MOST_STAMPS {}\n", kMostStamps),
                   {"count_other", "scatter", "hash", "stamp", "copy", "empty", "neighbour"});
}

SourceUnit device_kernels_source(ElementType type) {
  SourceUnit unit = source_of(format("#define ELEMENT {}\n", name_of(type)), {"fill", "compare"});
  if (!is_floating(type)) return unit;
  unit.prelude += "#define IS_FLOATING\n";
  unit.entries.insert(unit.entries.end(), {"compare_f64", "count_inexact"});
  return unit;
}

namespace {

constexpr std::size_t kSlots = 256;  // of each kind, between two finish()

class CudaMemory : public Memory {
 public:
  CudaMemory(cudaStream_t stream, const DeviceKernels& kernels)
      : stream_(stream),
        kernels_(kernels),
        findings_(kSlots * sizeof(Finding)),
        counts_(kSlots * sizeof(std::uint64_t)) {
    clear_slots(kSlots, kSlots);
  }

  std::shared_ptr<std::byte> allocate(std::int64_t bytes) override {
    const auto memory = std::make_shared<DeviceMemory>(bytes);
    return {memory, memory->get()};
  }

  void set(std::byte* to, std::byte value, std::int64_t bytes) override {
    check_cuda(
        cudaMemsetAsync(to, static_cast<int>(value), static_cast<std::size_t>(bytes), stream_),
        "set memory");
  }

  void set_columns(std::byte* to, std::byte value, std::int64_t width, std::int64_t pitch,
                   std::int64_t rows) override {
    check_cuda(
        cudaMemset2DAsync(to, static_cast<std::size_t>(pitch), static_cast<int>(value),
                          static_cast<std::size_t>(width), static_cast<std::size_t>(rows), stream_),
        "set memory");
  }

  void copy(std::byte* to, const std::byte* from, std::int64_t bytes) override {
    check_cuda(
        cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, stream_),
        "copy memory");
  }

  void write(std::byte* to, std::span<const std::byte> from) override {
    copy(to, from.data(), std::ssize(from));
    check_cuda(cudaStreamSynchronize(stream_), "copy memory");
  }

  std::vector<std::byte> read(const std::byte* from, std::int64_t bytes) override {
    std::vector<std::byte> to(static_cast<std::size_t>(bytes));
    copy(to.data(), from, bytes);
    check_cuda(cudaStreamSynchronize(stream_), "copy memory");
    return to;
  }

  void draw(std::byte* to, ElementType type, const ElementRule& rule, std::int64_t count) override {
    kernels_.fill(stream_, type, rule, to, count);
  }

  void scatter(std::byte* to, const std::byte* from, const std::int64_t* positions,
               std::int64_t count, std::int64_t element_bytes) override {
    kernels_.scatter(stream_, to, from, positions, count, element_bytes);
  }

  Sealed seal(std::byte* from, std::int64_t bytes) override {
    auto sealed = allocate(bytes);
    copy(sealed.get(), from, bytes);
    set(from, std::byte{0}, bytes);
    check_cuda(cudaStreamSynchronize(stream_), "copy memory");
    return sealed;
  }

  std::vector<std::byte> unsealed(const Sealed& sealed, std::int64_t offset,
                                  std::int64_t bytes) override {
    return read(static_cast<const std::byte*>(sealed.get()) + offset, bytes);
  }

  void compare(const BufferSpec& buffer, const std::byte* got, const SealedAnswer& right,
               Finding* to) override {
    kernels_.compare(stream_, buffer, got, right, slot_of(to));
  }

  void compare_bits(const BufferSpec& buffer, const std::byte* one, const std::byte* other,
                    Finding* to) override {
    kernels_.compare_bits(stream_, buffer, one, other, slot_of(to));
  }

  void count_other(const std::byte* start, std::int64_t bytes, std::byte value,
                   std::uint64_t* to) override {
    kernels_.count_other(stream_, start, bytes, value, slot_of(to));
  }

  void hash(const std::byte* start, std::int64_t bytes, std::uint64_t* to) override {
    kernels_.hash(stream_, start, bytes, slot_of(to));
  }

  void count_inexact(ElementType type, const std::byte* values, std::int64_t count, double limit,
                     std::uint64_t* to) override {
    kernels_.count_inexact(stream_, type, values, count, limit, slot_of(to));
  }

  void finish() override {
    // A failure leaves nothing behind that would be added later, to what may be gone by then.
    const std::vector<Finding*> findings_to = std::exchange(findings_to_, {});
    const std::vector<std::uint64_t*> counts_to = std::exchange(counts_to_, {});
    std::vector<Finding> findings(findings_to.size());
    std::vector<std::uint64_t> counts(counts_to.size());
    copy(reinterpret_cast<std::byte*>(findings.data()), findings_.get(),
         static_cast<std::int64_t>(findings.size() * sizeof(Finding)));
    copy(reinterpret_cast<std::byte*>(counts.data()), counts_.get(),
         static_cast<std::int64_t>(counts.size() * sizeof(std::uint64_t)));
    check_kernel(cudaStreamSynchronize(stream_), "running it");
    clear_slots(findings.size(), counts.size());
    for (std::size_t i = 0; i < findings.size(); ++i) add(*findings_to[i], findings[i]);
    for (std::size_t i = 0; i < counts.size(); ++i) *counts_to[i] += counts[i];
  }

 private:
  /// Where a kernel leaves what is added to `to` at the end.

  Finding* slot_of(Finding* to) {
    if (findings_to_.size() == kSlots) finish();
    findings_to_.push_back(to);
    return findings_.as<Finding>() + findings_to_.size() - 1;
  }

  std::uint64_t* slot_of(std::uint64_t* to) {
    if (counts_to_.size() == kSlots) finish();
    counts_to_.push_back(to);
    return counts_.as<std::uint64_t>() + counts_to_.size() - 1;
  }

  /// The first of each kind.

  void clear_slots(std::size_t findings, std::size_t counts) {
    static const std::vector<Finding> nothing(kSlots);
    copy(findings_.get(), reinterpret_cast<const std::byte*>(nothing.data()),
         static_cast<std::int64_t>(findings * sizeof(Finding)));
    set(counts_.get(), std::byte{0}, static_cast<std::int64_t>(counts * sizeof(std::uint64_t)));
  }

  cudaStream_t stream_;
  const DeviceKernels& kernels_;
  DeviceMemory findings_, counts_;
  std::vector<Finding*> findings_to_;
  std::vector<std::uint64_t*> counts_to_;
};

}  // namespace

std::unique_ptr<Memory> make_cuda_memory(cudaStream_t stream, const DeviceKernels& kernels) {
  return std::make_unique<CudaMemory>(stream, kernels);
}

double CudaCall::run() {
  check_cuda(cudaEventRecord(begin_.get(), stream_), "record an event");
  start();
  check_cuda(cudaEventRecord(end_.get(), stream_), "record an event");
  check_kernel(cudaStreamSynchronize(stream_), "running it");
  float milliseconds = 0;
  check_kernel(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()), "running it");
  return static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace autotune
