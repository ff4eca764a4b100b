// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heat/kernels/pass_shape.hpp"
#include "heat/kernels/rows.hpp"
#include "heat/names.hpp"
#include "heat/problem/stencil.hpp"

#include <Kokkos_Core.hpp>

namespace kontor::heat {

/// Room of the threads for what is between the sweeps of a pass; grows when a pass needs more.
template <class T>
using PassRoom = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// Local. On a CPU: `shape.sweeps` sweeps of `box` while its cells are in cache, more than one. Its ghost cells must be
/// valid: as many layers of them as sweeps, edges and corners included.
template <class T>
void pass_rows(const typename FieldView<T>::execution_space&, const SweepInput<T>&, const FieldView<T>& out, const Box&,
               const PassShape& shape, PassRoom<T>& room);

/// The same, or one sweep, whose part of the norm it returns.
template <class T>
double sweep_in_rows(const typename FieldView<T>::execution_space& instance, const SweepInput<T>& in,
                     const FieldView<T>& out, const Box& box, Norm norm, const PassShape& shape, PassRoom<T>& room) {
  if (shape.sweeps == 1) return sweep_rows(instance, in, out, box, norm, shape);
  pass_rows(instance, in, out, box, shape, room);
  return 0;
}

} // namespace kontor::heat
