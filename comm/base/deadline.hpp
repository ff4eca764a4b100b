// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "base/ranks.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/options.hpp>
#include <kontor/device/clock.hpp>

#include <fmt/format.h>
#include <mpi.h>

#include <thread>

namespace kontor::comm::mpi {

/// How long a wait may last at this check level, in seconds; 0: any time.
inline double timeout(const Options& options) { return options.check == CheckLevel::cross_rank ? options.timeout : 0; }

/// An end to waiting, so many seconds from now. 0: there is none.
class Deadline {
 public:
  explicit Deadline(double after) : limited_(after > 0), end_(limited_ ? device::seconds() + after : 0) {}

  bool passed() const { return limited_ && device::seconds() > end_; }

  /// Asks again and again whether something is done, and lets others run in between. False if the time has passed, of
  /// which a suspension is no part: then no turn has been made for long.
  template <class Done>
  bool wait(const Done& done) const {
    Deadline left = *this;
    double last = limited_ ? device::seconds() : 0;
    for (unsigned turn = 1; !done(); ++turn) { // begins again at 0
      if (turn % spins != 0) continue;
      if (limited_) {
        const double now = device::seconds();
        if (now - last > longest_turn) left.end_ += now - last;
        last = now;
      }
      if (left.passed()) return false;
      std::this_thread::yield();
    }
    return true;
  }

 private:
  static constexpr unsigned spins = 100;    ///< before the core is given to others: a turn may bring data
  static constexpr double longest_turn = 1; ///< seconds of so many turns of a rank that runs
  bool limited_;
  double end_;
};

/// Waits until done(), at most so many seconds (0: any time). Throws Error at the timeout, with what awaited() says:
/// the other ranks may be gone.
template <class Done, class Awaited>
void wait_within(double timeout, MPI_Comm comm, const std::string& subject, const Done& done, const Awaited& awaited) {
  if (!Deadline(timeout).wait(done)) [[unlikely]]
    throw Error(fmt::format("{}: rank {} has waited {} s for {}", subject, rank_of(comm), timeout, awaited()),
                "E-COMM-TIMEOUT");
}

/// Local. Whether the operation is complete. Throws MpiError.
inline bool test(MPI_Request& request, MPI_Status* status = MPI_STATUS_IGNORE) {
  int done = 0;
  check(MPI_Test(&request, &done, status), "MPI_Test");
  return done != 0;
}

/// Local. Waits until the operation is complete, but at most so many seconds (0: any time); whether it is complete. An
/// operation that is not goes on, and stays the caller's. Throws MpiError. MPI_Test.
inline bool wait_at_most(MPI_Request& request, double seconds, MPI_Status* status = MPI_STATUS_IGNORE) {
  return Deadline(seconds).wait([&] { return test(request, status); });
}

} // namespace kontor::comm::mpi
