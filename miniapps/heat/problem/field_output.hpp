// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/problem/domain.hpp"
#include "run/mini_app.hpp"

#include <string>

/// Fields of a domain into the output file.
namespace kontor::heat {

/// Collective over the domain's communicator. The current field as the dataset `group`/temperature, and on
/// `described` (the group or the dataset) when it is: after how many sweeps, at what time. Waits for kernels
/// that are running.
template <class T>
output::Snapshot write_field(const Domain<T>&, output::File&, const std::string& group,
                             const std::string& described);

/// Collective over the domain's communicator. Field 0 = what write_field() has written to that group, on any
/// ranks. Returns the sweeps that had been made, which the domain does not know yet.
template <class T>
std::int64_t read_field(const Domain<T>&, const output::Reader&, const std::string& group);

/// Local. The grid as output formats describe it, without snapshots.
template <class T>
miniapp::FieldOutput describe_grid(const Domain<T>&);

} // namespace kontor::heat
