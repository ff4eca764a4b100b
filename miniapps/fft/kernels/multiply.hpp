// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fft/problem/pencil.hpp"

namespace kontor::fft {

/// Of each axis a number for each coefficient that a rank has.
template <class T>
using PerAxis = Kokkos::Array<Kokkos::View<Complex<T>*>, 3>;

namespace detail {
using Lines = Kokkos::TeamPolicy<Space>;
using Team = Lines::member_type;

template <class Work>
void for_lines(const char* label, const Space& instance, std::int64_t lines, const Work& work) {
  if (lines > 0) Kokkos::parallel_for(label, Lines(instance, static_cast<int>(lines), Kokkos::AUTO), work);
}
} // namespace detail

/// Local; queued on `instance`. Each coefficient (x, y, z), z fastest, of a range of x times scale f_x f_y f_z.
template <class T>
void multiply(const Space& instance, const Pencil& pencil, const AxisRange& x, Complex<T>* data, const PerAxis<T>& f,
              T scale) {
  const auto ny = pencil.extent(1), nz = pencil.extent(2), first = x.begin * ny;
  detail::for_lines(
      "fft/multiply", instance, x.size() * ny, KOKKOS_LAMBDA(const detail::Team& team) {
        const std::int64_t line = first + team.league_rank();
        const Complex<T> factor = scale * f[0](line / ny) * f[1](line % ny);
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, nz),
                             [&](std::int64_t z) { data[line * nz + z] *= factor * f[2](z); });
      });
}

/// Local; queued on `instance`. Each coefficient of a range of x divided by k_x^2 + k_y^2 + k_z^2, the squares given
/// (real), times scale; that of wave numbers 0 becomes 0.
template <class T>
void divide_by_squares(const Space& instance, const Pencil& pencil, const AxisRange& x, Complex<T>* data,
                       const PerAxis<T>& squares, T scale) {
  const auto ny = pencil.extent(1), nz = pencil.extent(2), first = x.begin * ny;
  detail::for_lines(
      "fft/divide", instance, x.size() * ny, KOKKOS_LAMBDA(const detail::Team& team) {
        const std::int64_t line = first + team.league_rank();
        const T square = squares[0](line / ny).real() + squares[1](line % ny).real();
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, nz), [&](std::int64_t z) {
          const T sum = square + squares[2](z).real();
          data[line * nz + z] *= sum == 0 ? T(0) : scale / sum;
        });
      });
}

} // namespace kontor::fft
