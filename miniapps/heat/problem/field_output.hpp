// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/problem/domain.hpp"
#include "run/mini_app.hpp"

#include <string>

/// Fields of a domain into the output file.
namespace kontor::heat {

/// Collective over the domain's communicator. The current field as the dataset `group`/temperature, and on
/// the group when it is: after how many sweeps, at what time. Waits for kernels that are running.
template <class T>
miniapp::FieldOutput write_field(const Domain<T>&, output::File&, const std::string& group);

/// Collective over the domain's communicator. Field 0 = what write_field() has written to that group, on any
/// ranks. Returns the sweeps that had been made, which the domain does not know yet.
template <class T>
std::int64_t read_field(const Domain<T>&, const output::Reader&, const std::string& group);

} // namespace kontor::heat
