// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string_view>

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

/// Local. The rank that the launcher has given this process, which MPI may not know yet, or not know of.
std::optional<std::string_view> rank_by_launcher() noexcept;

/// Local. Whether no launcher, or each that has started this process, has given it rank 0.
bool first_of_launcher();

} // namespace kontor::miniapp
