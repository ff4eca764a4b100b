// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/start/guard.hpp"

#include "machine/memory.hpp"
#include "machine/simulation.hpp"
#include "run/start/launcher.hpp"
#include "run/start/messages.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/config/error.hpp>
#include <kontor/config/text.hpp>
#include <kontor/mpi/world.hpp>
#include <kontor/output/error.hpp>

#include <fmt/format.h>
#include <mpi.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <unistd.h>

namespace kontor::miniapp {
namespace {

using mpi::world_rank; // throws nothing, which would end in terminate()

volatile std::sig_atomic_t leaves_with = exit_failed;
const char* volatile last_words = "";

extern "C" void leave_now(int /*signal*/) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, last_words, std::strlen(last_words));
  if (leaves_with == exit_failed) tell_failed();
  ::_exit(leaves_with);
}

/// The others may be waiting for this rank in a message.
int abort_all() {
  tell_failed();
  limit_exit(exit_failed); // MPI_Abort may wait for a host that has vanished
  MPI_Abort(MPI_COMM_WORLD, exit_failed);
  return exit_failed;
}

/// What std::terminate() does: called for an error that nobody catches, which this rank may have alone, and for one in
/// a destructor.
[[noreturn]] void tell_and_leave() {
  const auto tell = [](const char* what) { std::fprintf(stderr, "rank %d: %s\n", world_rank(), what); };
  try {
    if (const auto error = std::current_exception()) std::rethrow_exception(error);
    tell("std::terminate was called [E-INTERNAL]");
  } catch (const std::exception& known) {
    try {
      const auto memory = out_of_memory(known);
      const auto text =
          memory.empty() ? errors::with_id(known.what(), "E-INTERNAL") : errors::with_id(memory, "E-MEMORY");
      tell(config::printable(text, '\n').c_str());
    } catch (...) { // no memory is left for these words
      tell(dynamic_cast<const std::bad_alloc*>(&known) ? "out of memory, also for more words [E-MEMORY]"
                                                       : known.what());
    }
  } catch (...) {
    tell("an exception of unknown class [E-INTERNAL]");
  }
  ::_exit(abort_all());
}

/// Where ranks meet that leave with an error of all. Of their own: others may wait in any other communicator.
struct Leaving {
  MPI_Comm comm = MPI_COMM_NULL;
  double timeout;

  explicit Leaving(double seconds) : timeout(seconds) {
    for (const MPI_Comm of_all : {MPI_COMM_WORLD, MPI_COMM_SELF})
      comm::mpi::check(MPI_Comm_set_errhandler(of_all, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    comm::mpi::check(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup");
  }
  bool all_come() const {
    if (simulated) return true; // MPI_Test takes no time on SMPI's clock, so that the wait below would not end
    MPI_Request barrier = MPI_REQUEST_NULL;
    int done = 0;
    if (MPI_Ibarrier(comm, &barrier) != MPI_SUCCESS) return false;
    const double begun = MPI_Wtime();
    while (MPI_Test(&barrier, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
      if (MPI_Wtime() - begun > timeout) return false;
      ::usleep(1000);
    }
    return done != 0;
  }
  /// An error that every rank has: rank 0 tells it, and all leave in good order.
  int together(const char* what, int code) const {
    const bool all = all_come();
    const auto text = errors::with_id(config::printable(what, '\n'), "E-INTERNAL");
    if (all && world_rank() == 0) to_stderr(fmt::format("{}\n", text));
    if (all) return code;
    to_stderr(fmt::format("rank {}: {}\nrank {}: other ranks do not have this error; the run is aborted\n",
                          world_rank(), text, world_rank()));
    ::_exit(abort_all());
  }
};

} // namespace

void end_after(unsigned seconds, int code, const char* words) noexcept {
  if (simulated) return; // one process for all ranks
  leaves_with = code;
  last_words = words;
  std::signal(SIGALRM, leave_now);
  ::alarm(seconds);
}

int guarded(const std::function<int()>& work, double timeout) {
  std::set_terminate(tell_and_leave);
  const Leaving leave(timeout);
  try {
    return work();
  } catch (const config::Error& error) {
    return leave.together(error.what(), exit_user_error);
  } catch (const comm::UsageError& error) {
    return leave.together(error.what(), exit_user_error);
  } catch (const comm::AgreedError& error) {
    return leave.together(error.what(), exit_failed);
  } catch (const output::Error& error) {
    return leave.together(error.what(), exit_failed);
  } // Others nobody catches, so (g++, clang) no destructor runs: it might wait for other ranks or a device.
}

} // namespace kontor::miniapp
