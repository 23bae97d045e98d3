// SPDX-License-Identifier: Apache-2.0
#include "tuner/mpi/own_job.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <utility>

#include "db/store.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/cli/tune_command.hpp"
#include "tuner/gpu/cuda_device.hpp"
#include "tuner/mpi/share_of_host.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

std::string visible_devices() {
  const char* const text = std::getenv("CUDA_VISIBLE_DEVICES");
  return text ? text : "";
}

std::string own_device(const std::string& text, int local_rank) {
  const bool may_be_gpu = text == "auto" || text == "cuda" || text == "cuda:all";
  const VisibleGpus gpus{may_be_gpu ? static_cast<int>(cuda_devices().size()) : 0,
                         !visible_devices().empty()};
  return device_of_rank(text, local_rank, gpus);
}

class OwnJob final : public MemberJob {
 public:
  OwnJob(cli::Arguments given, int rank, int local_rank, int local_size)
      : arguments_(std::move(given)),
        command_(arguments_),
        name_(own_device(arguments_.text("device"), local_rank)),
        device_(cli::open_device(name_, cli::compile_limit_of(arguments_))),
        request_(command_.request(device_->info().kind)) {
    const auto cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    if (!arguments_.has("jobs")) {
      request_.compile_threads = threads_of_rank(allowed_cores(), cores, local_size);
      most_threads_ = threads_of_rank(allowed_cores(), cores, 1);
    }
    const std::string process = db::process_text();
    request_.command += format(" (rank {} on {})", rank, process.substr(0, process.find(' ')));
  }

  const Target& target() const override { return command_.target(); }
  Device& device() override { return *device_; }
  const TuningRequest& request() const override { return request_; }
  std::string device_text() const override {
    return name_.starts_with("cuda") ? name_ + " of " + visible_devices() : "";
  }

  int most_threads() const override { return std::max(most_threads_, request_.compile_threads); }

 private:
  const cli::Arguments arguments_;
  cli::TuneCommand command_;
  const std::string name_;
  const std::unique_ptr<Device> device_;
  TuningRequest request_;
  int most_threads_ = 0;
};

}  // namespace

std::unique_ptr<MemberJob> open_own_job(cli::Arguments arguments, int rank, int local_rank,
                                        int local_size) {
  return std::make_unique<OwnJob>(std::move(arguments), rank, local_rank, local_size);
}

}  // namespace autotune
