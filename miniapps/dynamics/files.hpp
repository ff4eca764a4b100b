// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dynamics/body.hpp"
#include "run/mini_app.hpp"

#include <cstdint>
#include <string>

/// Fields of a body in files, by the numbers of nodes and elements, whichever ranks have them.
namespace kontor::dynamics {

/// Collective. Displacement, velocity, stress and rank; the mesh with the group "/fields".
template <class T>
miniapp::FieldOutput write_fields(output::File&, const std::string& group, const Body<T>&, const comm::Communicator&,
                                  std::int64_t steps);

/// Collective. All that a run needs to go on after so many steps.
template <class T>
void write_state(output::File&, const Body<T>&, const comm::Communicator&, std::int64_t steps);

/// Collective. What write_state() wrote; returns the steps.
template <class T>
std::int64_t read_state(const output::Reader&, Body<T>&, const comm::Communicator&);

} // namespace kontor::dynamics
