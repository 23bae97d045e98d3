// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/help_messages.hpp"

#include <memory>
#include <utility>

#include "tuner/ranks/wire_measurement.hpp"
#include "tuner/worker/wire.hpp"
#include "tuner/worker/wire_codec.hpp"

namespace autotune {

/// The rest of a trial is the owner's: resources, predictions.
WIRE_MEMBERS(Trial, outcome, message, measurement, verified, of_machine)

namespace {

std::string packed_with(Json header, const Loadable& configuration) {
  header["kernel"] = wire_of(*configuration.kernel);
  header["plan"] = wire_of(configuration.plan);
  const auto& binary = configuration.kernel->binary;
  return packed(header, binary ? std::string_view(*binary) : std::string_view());
}

}  // namespace

std::string help_begin(std::size_t number, const Loadable& default_configuration) {
  return packed_with({{"say", say::kHelpBegin}, {"number", number}}, default_configuration);
}

std::string help_measure(const Loadable& configuration, double best_seconds) {
  return packed_with({{"say", say::kHelpMeasure}, {"best_seconds", best_seconds}}, configuration);
}

std::string help_end(int owner) { return packed({{"say", say::kHelpEnd}, {"owner", owner}}); }

Loadable loadable_in(const Message& message) {
  return {std::make_shared<const CompiledKernel>(
              compiled_kernel_of(message.header.at("kernel"), message.bytes)),
          launch_plan_of(message.header.at("plan"))};
}

std::string help_trial(const Trial& measured) {
  return packed({{"say", say::kHelpTrial}, {"trial", to_wire(measured)}});
}

void note_measured(Trial& trial, const Message& message) {
  auto measured = from_wire<Trial>(message.header.at("trial"));
  trial.outcome = measured.outcome;
  trial.message = std::move(measured.message);
  trial.measurement = measured.measurement;
  trial.verified = measured.verified;
  trial.of_machine = measured.of_machine;
}

}  // namespace autotune
