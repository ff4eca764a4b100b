// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>

namespace kontor::miniapp {

/// Exit codes of every mini-app.
enum ExitCode : int {
  exit_verified = 0,
  exit_verification_failed = 1,
  exit_user_error = 2, ///< bad deck or usage
  exit_failed = 3,     ///< failed at run time: MPI, I/O, memory
  exit_ended_early = 4 ///< ended early; what it has measured so far is in its record
};

/// Collective over MPI_COMM_WORLD. Returns what work() returns. An error that all ranks throw is told once, by rank 0,
/// and becomes their exit code; one that this rank may be alone with is told where it is thrown, and ends the whole run
/// by MPI_Abort, because the others may be waiting for it. So does std::terminate() from then on, and an error of a
/// class that all ranks throw where the others do not within `timeout` seconds.
int guarded(const std::function<int()>& work, double timeout = 30);

/// Local; asks for no memory. Unless it is called again, the program writes `words` to stderr and ends with `code`
/// after so many seconds, whatever it waits for; 0: it goes on. No effect on simulated ranks.
void end_after(unsigned seconds, int code, const char* words) noexcept;

/// Local, where nothing is left to do: the program ends with `code` within 5 s, even if a library never comes to an
/// end. OpenBLAS's exit handler (0.3.21) waits for its threads, and they may wait for memory.
inline void limit_exit(int code) noexcept { end_after(5, code, ""); }

} // namespace kontor::miniapp
