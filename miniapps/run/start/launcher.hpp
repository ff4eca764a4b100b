// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/start/command_line.hpp"

/// What `kontor run` wants to know of the ranks that it has started: it gives them a folder by the environment's
/// KONTOR_RUN_FOLDER. Nothing happens without one, such as on other hosts.
namespace kontor::miniapp {

/// Local. The ranks have found each other: whatever ends the program from now on, it could be started.
void tell_started() noexcept;

/// Local. This rank is about to end all of them. They are gone soon, but a launcher that waits for a host that has
/// vanished is not.
void tell_failed() noexcept;

/// Local. All is written, and this rank is about to end by itself. A launcher may not: Open MPI's (4.1.4) can wait for
/// itself when a rank is killed now.
void tell_done() noexcept;

/// Local. Whether no launcher, or each that has started this process, has given it rank 0.
bool first_of_launcher();

// Ranks that never find each other: MPI waits for ever for one that cannot be reached, or whose first messages are
// lost, as Open MPI (4.1.4) loses some where it gets no shared memory.

/// Local, before MPI_Init; asks for no memory. From now on the start may take as many seconds as the environment's
/// KONTOR_START_SECONDS says, 300 without it, any time if it is 0; then this process says so on stderr and ends, exit
/// code 3. Simulated ranks have no limit.
void limit_start() noexcept;

/// Local. What is wrong with KONTOR_START_SECONDS, which then counts as if it were not there; empty: nothing.
std::string problem_with_start_limit();

/// Local. MPI_Init has returned.
void mpi_has_started() noexcept;

/// Local. The ranks have heard of each other.
void end_start_limit() noexcept;

// Whether the ranks were started as one run. Every function is collective over MPI_COMM_WORLD, and has a result on
// every rank if they were not.

/// There are not as many ranks as the environment says, by KONTOR_RANKS of `kontor run` or by variables of launchers: a
/// launcher that does not speak this MPI's protocol starts so many programs, each of which takes itself for the only
/// one. The text is empty but on the first of those.
std::optional<EarlyExit> unexpected_ranks();

/// Not all ranks run the same app with the same arguments, as where one launch line has several programs. The text
/// names two of them and what they run.
std::optional<EarlyExit> different_arguments(std::string_view app, int argc, char** argv);

} // namespace kontor::miniapp
