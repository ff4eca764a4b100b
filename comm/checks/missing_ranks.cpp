// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/deadline.hpp"
#include "checks/agreement_check.hpp"
#include "communicator/internals.hpp"

#include <kontor/comm/mpi_check.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kontor::comm::detail {

using mpi::check;

namespace {

/// Message: the number of a call that its sender has come to and that has timed out.
constexpr int timed_out_tag = 1;

/// "0-2, 5"
std::string ranks_in_words(const std::vector<bool>& chosen) {
  std::string text;
  for (std::size_t first = 0; first < chosen.size(); ++first) {
    if (!chosen[first]) continue;
    auto last = first;
    while (last + 1 < chosen.size() && chosen[last + 1]) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", first);
    if (last > first) text += fmt::format("-{}", last);
    first = last;
  }
  return text;
}

} // namespace

bool another_rank_timed_out(const Communicator& comm) {
  int found = 0;
  check(MPI_Iprobe(MPI_ANY_SOURCE, timed_out_tag, detail::internals(comm).checking_calls(), &found, MPI_STATUS_IGNORE),
        "MPI_Iprobe");
  return found != 0;
}

std::string who_is_missing(const Communicator& comm, std::int64_t number) {
  const auto note = std::make_shared<std::int64_t>(number);
  auto& internals = detail::internals(comm);
  for (int r = 0; r < comm.size(); ++r) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Isend(note.get(), 1, MPI_INT64_T, r, timed_out_tag, internals.checking_calls(), &request), "MPI_Isend");
    internals.detach(request, note);
  }
  std::vector<bool> came(comm.size(), false);
  const double timeout = comm.options().timeout;
  const auto listen = [&] {
    if (!another_rank_timed_out(comm)) return false;
    std::int64_t theirs = 0;
    MPI_Status status;
    check(MPI_Recv(&theirs, 1, MPI_INT64_T, MPI_ANY_SOURCE, timed_out_tag, internals.checking_calls(), &status),
          "MPI_Recv");
    if (theirs >= number) came[status.MPI_SOURCE] = true;
    return std::count(came.begin(), came.end(), false) == 0;
  };
  mpi::Deadline(std::clamp(timeout, 0.5, 2.0)).wait(listen);
  auto missing = came;
  missing.flip();
  if (std::count(came.begin(), came.end(), false) == 0)
    return fmt::format("the ranks came more than {} s apart, and some have given up", timeout);
  return fmt::format("waited {} s for all ranks; ranks that called it: {}; missing: {}", timeout, ranks_in_words(came),
                     ranks_in_words(missing));
}

} // namespace kontor::comm::detail
