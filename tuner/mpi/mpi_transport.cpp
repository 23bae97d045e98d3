// SPDX-License-Identifier: Apache-2.0
#include "tuner/mpi/mpi_transport.hpp"

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::chrono::seconds kFlushLimit(2);
constexpr std::chrono::seconds kFinalizeLimit(5);
constexpr int kTag = 1;

enum class TransferState : std::uint8_t { under_way, done, failed };

TransferState progress_of(MPI_Request& request) {
  int done = 0;
  if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return TransferState::failed;
  return done != 0 ? TransferState::done : TransferState::under_way;
}

}  // namespace

/// A packet on its way.
struct MpiTransport::Transfer {
  Packet packet;
  MPI_Request request = MPI_REQUEST_NULL;
};

MpiTransport::MpiTransport(int& argc, char**& argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  find_neighbours();
}

/// Rank 0 has no device. These are the last collective calls.
void MpiTransport::find_neighbours() {
  MPI_Comm members = MPI_COMM_NULL, local = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank_ == 0 ? MPI_UNDEFINED : 0, rank_, &members);
  if (members == MPI_COMM_NULL) return;
  MPI_Comm_split_type(members, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &local);
  MPI_Comm_rank(local, &local_rank_);
  MPI_Comm_size(local, &local_size_);
}

MpiTransport::~MpiTransport() = default;

void MpiTransport::send(int to, std::string bytes) {
  drop_sent();
  if (cut_off_.contains(to)) return;
  if (!std::in_range<int>(bytes.size())) {
    throw Error(
        format("a message to rank {} has {}, more than MPI takes; tune fewer problems in a "
               "run",
               to, bytes_text(static_cast<std::int64_t>(bytes.size()))));
  }
  auto transfer = std::make_unique<Transfer>();
  transfer->packet = {to, std::move(bytes)};
  const std::string& text = transfer->packet.bytes;
  const int failed = MPI_Isend(text.data(), static_cast<int>(text.size()), MPI_BYTE, to, kTag,
                               MPI_COMM_WORLD, &transfer->request);
  if (failed == MPI_SUCCESS) {
    sending_.push_back(std::move(transfer));
  } else {
    cut_off_.insert(to);
  }
}

void MpiTransport::drop_sent() {
  sending_.remove_if([this](const auto& transfer) {
    const TransferState progress = progress_of(transfer->request);
    if (progress == TransferState::failed) cut_off_.insert(transfer->packet.from);
    return progress != TransferState::under_way;
  });
}

std::optional<Packet> MpiTransport::receive() {
  drop_sent();
  accept_arrivals();
  std::set<int> unfinished;  // a later packet of these ranks waits for the earlier
  for (auto one = receiving_.begin(); one != receiving_.end(); ++one) {
    const int from = (*one)->packet.from;
    if (unfinished.contains(from) || cut_off_.contains(from)) continue;
    const TransferState progress = progress_of((*one)->request);
    if (progress == TransferState::done) {
      Packet packet = std::move((*one)->packet);
      receiving_.erase(one);
      return packet;
    }
    (progress == TransferState::failed ? cut_off_ : unfinished).insert(from);
  }
  return std::nullopt;
}

void MpiTransport::accept_arrivals() {
  for (;;) {
    int arrived = 0, size = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status{};
    const int failed =
        MPI_Improbe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &arrived, &message, &status);
    if (failed != MPI_SUCCESS || arrived == 0) return;
    if (MPI_Get_count(&status, MPI_BYTE, &size) != MPI_SUCCESS || size < 0) {
      cut_off_.insert(status.MPI_SOURCE);
      continue;
    }
    auto transfer = std::make_unique<Transfer>();
    transfer->packet = {status.MPI_SOURCE, std::string(static_cast<std::size_t>(size), '\0')};
    const int received =
        MPI_Imrecv(transfer->packet.bytes.data(), size, MPI_BYTE, &message, &transfer->request);
    if (received != MPI_SUCCESS) cut_off_.insert(status.MPI_SOURCE);
    if (received == MPI_SUCCESS) receiving_.push_back(std::move(transfer));
  }
}

void MpiTransport::flush() {
  const auto end = std::chrono::steady_clock::now() + kFlushLimit;
  for (drop_sent(); !sending_.empty(); drop_sent()) {
    if (std::chrono::steady_clock::now() > end) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void MpiTransport::finalize(std::function<void()> at_limit) {
  std::thread([at_limit = std::move(at_limit)] {
    std::this_thread::sleep_for(kFinalizeLimit);
    at_limit();
  }).detach();
  MPI_Finalize();
}

}  // namespace autotune
