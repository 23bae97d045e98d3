// SPDX-License-Identifier: Apache-2.0
// libautotune for C++: autotune.h with RAII and exceptions. Header only, C++11.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "autotune.h"

namespace autotune_runtime {

/// A status other than AUTOTUNE_OK, with its message.
class Failure : public std::runtime_error {
 public:
  explicit Failure(autotune_status status)
      : std::runtime_error(autotune_message()), status_(status) {}
  autotune_status status() const noexcept { return status_; }

 private:
  autotune_status status_;
};

inline void check(autotune_status status) {
  if (status != AUTOTUNE_OK) throw Failure(status);
}

/// A compiled configuration. Must not outlive its Lookup.
class Kernel {
 public:
  explicit Kernel(autotune_kernel* kernel) : kernel_(kernel) {}
  const char* configuration() const { return autotune_kernel_configuration(kernel_.get()); }
  const void* binary(std::size_t* bytes = nullptr) const {
    return autotune_kernel_binary(kernel_.get(), bytes);
  }
  std::size_t launches() const { return autotune_kernel_launches(kernel_.get()); }
  autotune_geometry geometry(std::size_t index = 0) const {
    autotune_geometry geometry{};
    geometry.size = sizeof geometry;
    check(autotune_kernel_geometry(kernel_.get(), index, &geometry));
    return geometry;
  }
  /// Launches on `stream`, a cudaStream_t. `buffers` are device addresses in the order of
  /// autotune_kernel_buffer().
  void launch(const std::vector<void*>& buffers, void* stream) const {
    check(autotune_launch(kernel_.get(), buffers.data(), buffers.size(), stream));
  }
  /// The same with one value for each autotune_kernel_scalar().
  void launch(const std::vector<void*>& buffers, const std::vector<double>& scalars,
              void* stream) const {
    check(autotune_launch_with(kernel_.get(), buffers.data(), buffers.size(), scalars.data(),
                               scalars.size(), stream));
  }
  /// Promises that the contents of this buffer stay the same until invalidate(). nullptr ends the
  /// promise.
  void hold_constant(const char* buffer) const {
    check(autotune_hold_constant(kernel_.get(), buffer));
  }
  void invalidate() const { check(autotune_invalidate(kernel_.get())); }
  /// What launch() runs. `text` gets the library's name, or the reason why it cannot be used.
  autotune_engine engine(std::string* text = nullptr) const {
    const char* what = "";
    const autotune_engine engine = autotune_kernel_engine(kernel_.get(), &what);
    if (text) *text = what;
    return engine;
  }
  autotune_kernel* get() const { return kernel_.get(); }

 private:
  struct Release {
    void operator()(autotune_kernel* kernel) const { autotune_release(kernel); }
  };
  std::unique_ptr<autotune_kernel, Release> kernel_;
};

/// One target with fixed settings on one device. Thread-safe.
class Lookup {
 public:
  explicit Lookup(const char* target, const char* settings = nullptr)
      : Lookup([&]() -> autotune_options {
          autotune_options options{};
          options.size = sizeof options;
          options.target = target;
          options.settings = settings;
          return options;
        }()) {}
  explicit Lookup(const autotune_options& options) {
    autotune_handle* handle = nullptr;
    check(autotune_open(&options, &handle));
    handle_.reset(handle);
  }

  const char* device() const { return autotune_device(handle_.get()); }
  const char* warnings() const { return autotune_warnings(handle_.get()); }

  autotune_answer find(const std::int64_t* sizes, std::size_t count) const {
    autotune_answer answer{};
    answer.size = sizeof answer;
    check(autotune_lookup(handle_.get(), sizes, count, &answer));
    return answer;
  }
  autotune_answer find(const std::vector<std::int64_t>& sizes) const {
    return find(sizes.data(), sizes.size());
  }
  std::string explain(const std::vector<std::int64_t>& sizes) const {
    std::string text(2048, '\0');
    check(autotune_explain(handle_.get(), sizes.data(), sizes.size(), &text[0], text.size()));
    text.resize(text.find('\0'));
    return text;
  }
  /// nullptr removes the pin.
  void pin(const std::vector<std::int64_t>& sizes, const char* configuration) {
    check(autotune_pin(handle_.get(), sizes.data(), sizes.size(), configuration));
  }
  void refresh() { check(autotune_refresh(handle_.get())); }
  Kernel prepare(const std::vector<std::int64_t>& sizes) {
    autotune_kernel* kernel = nullptr;
    check(autotune_prepare(handle_.get(), sizes.data(), sizes.size(), &kernel));
    return Kernel(kernel);
  }

 private:
  struct Close {
    void operator()(autotune_handle* handle) const { autotune_close(handle); }
  };
  std::unique_ptr<autotune_handle, Close> handle_;
};

}  // namespace autotune_runtime
