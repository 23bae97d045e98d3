// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/first_requests.hpp"

namespace autotune {
namespace {

/// Answers nothing: its budget ends with the first request.
class FirstRequests final : public Evaluator {
 public:
  FirstRequests(const ParameterSpace& space, std::span<const double> predicted,
                std::size_t default_index, int batch)
      : space_(space), predicted_(predicted), batch_(batch) {
    const bool is_predicted = default_index < predicted.size();
    known_.index = default_index;
    known_.seconds = is_predicted ? predicted[default_index] : 1;
  }

  const std::vector<std::size_t>& indices() const { return indices_; }

  const ParameterSpace& space() const override { return space_; }
  std::vector<Evaluation> evaluate(std::span<const std::size_t> indices) override {
    prefetch(indices);
    has_ended_ = true;
    return {};
  }
  std::vector<Evaluation> evaluate_some(std::span<const std::size_t> indices,
                                        std::size_t) override {
    return evaluate(indices);
  }
  int batch() const override { return batch_; }
  std::size_t remaining() const override { return has_ended_ ? 0 : space_.size(); }
  void prefetch(std::span<const std::size_t> indices) override {
    if (!has_ended_) indices_.insert(indices_.end(), indices.begin(), indices.end());
  }
  std::span<const double> predicted() const override { return predicted_; }
  std::span<const Evaluation> known() const override { return {&known_, 1}; }

 private:
  const ParameterSpace& space_;
  const std::span<const double> predicted_;
  const int batch_;
  Evaluation known_;
  std::vector<std::size_t> indices_;
  bool has_ended_ = false;
};

}  // namespace

std::vector<std::size_t> first_requests(SearchStrategy& strategy, const ParameterSpace& space,
                                        std::span<const double> predicted,
                                        std::size_t default_index, int batch, std::uint64_t seed) {
  FirstRequests evaluator(space, predicted, default_index, batch);
  strategy.search(evaluator, seed);
  return evaluator.indices();
}

}  // namespace autotune
