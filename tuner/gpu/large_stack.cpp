// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/large_stack.hpp"

#include <pthread.h>

#include <cstddef>
#include <exception>

namespace autotune {
namespace {

/// Reserves address space only; memory is committed as it is used.
constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kStacks[] = {256 * kMiB, 64 * kMiB, 16 * kMiB};

struct Job {
  const std::function<void()>& work;
  std::exception_ptr thrown = nullptr;
};

void* run(void* argument) {
  auto& job = *static_cast<Job*>(argument);
  try {
    job.work();
  } catch (...) {
    job.thrown = std::current_exception();
  }
  return nullptr;
}

bool runs_with(std::size_t stack_bytes, Job& job) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, &run, &job) == 0;
  pthread_attr_destroy(&attributes);
  return started && pthread_join(thread, nullptr) == 0;
}

}  // namespace

void on_large_stack(const std::function<void()>& work) {
  Job job{work};
  bool done = false;
  for (const std::size_t bytes : kStacks) {
    done = done || runs_with(bytes, job);
  }
  if (!done) run(&job);
  if (job.thrown) std::rethrow_exception(job.thrown);
}

}  // namespace autotune
