// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What the ranks and their launcher know of each other.
namespace kontor::miniapp {

// What `kontor run` wants to know: it gives the ranks a folder by the environment's KONTOR_RUN_FOLDER. Nothing happens
// without one, such as on other hosts.

/// Local. The ranks have found each other: whatever ends the program from now on, it could be started.
void tell_started() noexcept;

/// Local. This rank is about to end all of them. They are gone soon, but a launcher that waits for a host that has
/// vanished is not.
void tell_failed() noexcept;

/// Local. All is written, and this rank is about to end by itself. A launcher may not: Open MPI's (4.1.4) can wait for
/// itself when a rank is killed now.
void tell_done() noexcept;

/// Local, before MPI_Init; asks for no memory. The ranks have as many seconds to find each other as the environment's
/// KONTOR_START_SECONDS says, 300 without it, any time if it is 0; then this process says so on stderr and ends, exit
/// code 3. MPI waits for ever for a rank that cannot be reached, or whose first messages are lost, as Open MPI (4.1.4)
/// loses some where it gets no shared memory.
void limit_start() noexcept;

/// Collective over MPI_COMM_WORLD. Throws comm::AgreedError if there are not as many ranks as the environment says, by
/// KONTOR_RANKS of `kontor run` or by variables of launchers: a launcher that does not speak this MPI's protocol starts
/// so many programs, each of which takes itself for the only one.
void require_ranks();

/// Collective over MPI_COMM_WORLD. Throws config::Error unless all ranks run the same app with the same arguments, as
/// where one launch line has several programs.
void require_same_arguments(const char* app, int argc, char** argv);

} // namespace kontor::miniapp
