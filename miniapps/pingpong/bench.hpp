// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "pingpong/findings.hpp"
#include "pingpong/memory.hpp"
#include "pingpong/options.hpp"
#include "pingpong/timing.hpp"
#include "run/mini_app.hpp"

#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>

#include <span>
#include <type_traits>

/// What the measures share.
namespace kontor::pingpong {

/// Where a measure works and what it fills in.
struct Bench {
  const Options& options;
  const miniapp::RunContext& context;
  std::span<const Case> cases;
  Findings& findings;

  std::int64_t sizes_done = 0;

  const comm::Communicator& comm() const { return context.comm; }

  /// Collective. Times the ways at one size (see interleave()), and adds a point for each.
  Samples time(const Subject&, std::span<const Way>, const Payload&, bool clocked = true);

  /// Adds how `way` compares with `baseline`, both numbers of ways.
  void compare(const Subject&, std::span<const Way>, const Samples&, std::size_t way, std::size_t baseline);

  /// time() and compare() of the second way, the typed one, with the first one, the raw one.
  void time_typed_and_raw(const Subject&, std::span<const Way>, const Payload&, bool clocked = true);
};

/// The rank that this one plays with, or no_rank for an idle one; ranks of the lower half begin.
int partner_of(const Options&, const comm::Communicator&);
bool begins(const comm::Communicator&, int partner);

namespace detail {
template <class T, int rank>
struct Pointers {
  using type = typename Pointers<T, rank - 1>::type*;
};
template <class T>
struct Pointers<T, 0> {
  using type = T;
};
} // namespace detail

/// A View of 1 to 3 dimensions in host memory, the last one fastest.
template <class T, int rank>
using HostView =
    Kokkos::View<typename detail::Pointers<T, rank>::type, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// One in the memory that kernels work on.
template <class T, int rank>
using KernelView = Kokkos::View<typename detail::Pointers<T, rank>::type, Kokkos::LayoutRight>;

/// Waits for what the default instance of the View's space has been given: received data among it.
template <class View>
void complete() {
  device::fence(typename View::execution_space(), "pingpong/complete");
}

template <class View>
View make_cube(const char* label, std::int64_t edge) {
  const auto n = static_cast<std::size_t>(edge);
  const auto with = Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing);
  if constexpr (View::rank == 1)
    return View(with, n);
  else if constexpr (View::rank == 2)
    return View(with, n, n);
  else
    return View(with, n, n, n);
}

/// Calls work(T()) with the type of the name.
template <class Work>
void with_scalar(ScalarName name, const Work& work) {
  name == ScalarName::of_int ? work(int()) : work(double());
}

/// Calls work(std::integral_constant<int, dimensions>()).
template <class Work>
void with_dimensions(int dimensions, const Work& work) {
  if (dimensions == 1)
    work(std::integral_constant<int, 1>());
  else if (dimensions == 2)
    work(std::integral_constant<int, 2>());
  else
    work(std::integral_constant<int, 3>());
}

/// Calls work(T(), std::integral_constant<int, dimensions>(), size, the case) for every size of every case.
template <class Work>
void each_size(Bench& bench, const Work& work) {
  std::int64_t total = 0;
  for (const auto& c : bench.cases) total += static_cast<std::int64_t>(c.sizes.size());
  for (const auto& c : bench.cases)
    with_scalar(c.scalar, [&](auto scalar) {
      with_dimensions(c.dimensions, [&](auto dimensions) {
        for (const auto size : c.sizes) {
          if (bench.context.end && bench.context.end->ask()) throw miniapp::EndedEarly();
          work(scalar, dimensions, size, c);
          bench.context.progress.update({++bench.sizes_done, total});
        }
      });
    });
}

/// What hand-written MPI calls name the scalar.
template <class T>
MPI_Datatype mpi_type() {
  return std::is_same_v<T, int> ? MPI_INT : MPI_DOUBLE;
}

} // namespace kontor::pingpong
