// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/guard.hpp"

#include "machine/memory.hpp"
#include "run/launcher.hpp"
#include "run/to_stderr.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/config/error.hpp>
#include <kontor/config/text.hpp>
#include <kontor/mpi/world.hpp>
#include <kontor/output/error.hpp>

#include <fmt/format.h>
#include <mpi.h>

#include <csignal>
#include <exception>
#include <unistd.h>

namespace kontor::miniapp {
namespace {

using mpi::world_rank; // throws nothing, which would end in terminate()

/// An error that every rank has: rank 0 tells it, and all leave in good order.
int leave_together(const char* what, int code) {
  if (world_rank() == 0) to_stderr(fmt::format("{}\n", config::printable(what, '\n')));
  return code;
}

constexpr int abort_seconds = 5;

extern "C" void leave_now(int /*signal*/) {
  ::_exit(exit_failed);
}

/// An error that this rank may have alone: the others may be waiting for it in a message.
int abort_rank(const char* what) {
  to_stderr(fmt::format("rank {}: {}\n", world_rank(), config::printable(what, '\n')));
  tell_failed();
  std::signal(SIGALRM, leave_now); // MPI_Abort may wait for a host that has vanished
  ::alarm(abort_seconds);
  MPI_Abort(MPI_COMM_WORLD, exit_failed);
  return exit_failed;
}

} // namespace

int guarded(const std::function<int()>& work) {
  try {
    return work();
  } catch (const config::Error& error) {
    return leave_together(error.what(), exit_user_error);
  } catch (const comm::UsageError& error) {
    return leave_together(error.what(), exit_user_error);
  } catch (const comm::AgreedError& error) {
    return leave_together(error.what(), exit_failed);
  } catch (const output::Error& error) {
    return leave_together(error.what(), exit_failed);
  } catch (const std::exception& error) {
    const auto memory = out_of_memory(error);
    return abort_rank(memory.empty() ? error.what() : memory.c_str());
  }
}

} // namespace kontor::miniapp
