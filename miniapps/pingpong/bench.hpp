// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "pingpong/memory.hpp"
#include "pingpong/options.hpp"
#include "run/mini_app.hpp"
#include "timing/findings.hpp"
#include "timing/interleave.hpp"

#include <kontor/comm/exchange.hpp>
#include <kontor/device/compat.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include <array>
#include <span>
#include <type_traits>
#include <utility>

/// What the measures share.
namespace kontor::pingpong {

/// The same work in two ways, which own their Views.
struct Operation {
  std::string name; ///< of its curves, without the scalar
  std::array<Way, 2> ways;
  Payload payload;
  bool clocked = true; ///< whether the time of this rank counts
};

/// The one by hand, and typed: each call executes the work once.
template <class Raw, class Typed>
Operation raw_and_typed(std::string name, const Raw& raw, const Typed& typed, Payload payload) {
  const auto repeated = [](const auto& once) {
    return [once](int n) {
      for (int i = 0; i < n; ++i) once();
    };
  };
  return {std::move(name), {Way{"raw", repeated(raw)}, Way{"typed", repeated(typed)}}, std::move(payload)};
}

/// Where a measure works and what it fills in.
struct Bench {
  const Options& options;
  const miniapp::RunContext& context;
  std::span<const Case> cases;
  Findings& findings;

  std::int64_t sizes_done = 0;

  const comm::Communicator& comm() const { return context.comm; }

  /// Collective. Times the ways at one size (see interleave()), and adds a point for each.
  Samples time(const Subject& subject, std::span<const Way> ways, const Payload& payload, bool clocked = true) {
    const auto samples = interleave(comm(), ways, payload, options.sampling, context.end, clocked);
    findings.wrong += samples.wrong;
    findings.verified = findings.verified || samples.verified;
    for (std::size_t w = 0; w < ways.size(); ++w)
      findings.points.push_back({subject, ways[w].name, summarise(samples.seconds[w]), samples.phases[w]});
    return samples;
  }

  /// Adds how `way` compares with `baseline`, both numbers of ways.
  void compare(const Subject& subject, std::span<const Way> ways, const Samples& samples, std::size_t way,
               std::size_t baseline) {
    findings.ratios.push_back(
        {subject, ways[way].name, ways[baseline].name, paired_ratio(samples.seconds[way], samples.seconds[baseline])});
  }

  /// Collective. Both of them for an operation's two ways.
  Samples time(const Subject& subject, const Operation& operation) {
    auto samples = time(subject, operation.ways, operation.payload, operation.clocked);
    compare(subject, operation.ways, samples, 1, 0);
    return samples;
  }
};

/// What typed bindings cost: the median and the largest of all comparisons with raw.
std::vector<miniapp::FigureOfMerit> typed_over_raw(const Findings&);

/// The two ranks that one plays with another; begins() is that of the lower half.
struct Players {
  int me = comm::no_rank;
  int partner = comm::no_rank; ///< of an idle rank none

  Players(const Options& options, const comm::Communicator& comm) : me(comm.rank()) {
    const int half = options.pairs == Pairs::one ? 1 : comm.size() / 2;
    if (me < 2 * half) partner = me < half ? me + half : me - half;
  }
  bool play() const { return partner != comm::no_rank; }
  bool begins() const { return play() && me < partner; }
  int first() const { return begins() ? me : partner; }
};

/// What a View of 1 to 3 dimensions is declared with.
template <class T, int rank>
using Pointers = std::conditional_t<rank == 1, T*, std::conditional_t<rank == 2, T**, T***>>;

/// A View of 1 to 3 dimensions in host memory, the last one fastest.
template <class T, int rank>
using HostView = Kokkos::View<Pointers<T, rank>, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// One in the memory that kernels work on.
template <class T, int rank>
using KernelView = Kokkos::View<Pointers<T, rank>, Kokkos::LayoutRight>;

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

/// Calls work(T(), std::integral_constant<int, dimensions>(), size), or work(T(), size), for every size of every case.
template <class Work>
void each_size(Bench& bench, const Work& work) {
  std::int64_t total = 0;
  for (const auto& c : bench.cases) total += static_cast<std::int64_t>(c.sizes.size());
  for (const auto& c : bench.cases)
    with_scalar(c.scalar, [&](auto scalar) {
      const auto at_sizes = [&](auto... dimensions) {
        for (const auto size : c.sizes) {
          if (bench.context.end && bench.context.end->ask()) throw miniapp::EndedEarly();
          work(scalar, dimensions..., size);
          bench.context.progress.update({++bench.sizes_done, total});
        }
      };
      if constexpr (std::is_invocable_v<Work, decltype(scalar), std::int64_t>)
        at_sizes();
      else
        with_dimensions(c.dimensions, at_sizes);
    });
}

/// What hand-written MPI calls name the scalar.
template <class T>
MPI_Datatype mpi_type() {
  return std::is_same_v<T, int> ? MPI_INT : MPI_DOUBLE;
}

/// Views of so many elements of T; the curve is called "<name> <scalar>".
template <class T>
Subject subject_of(std::string_view name, std::int64_t size, std::int64_t elements) {
  const auto scalar = name_of(std::is_same_v<T, int> ? ScalarName::of_int : ScalarName::of_double);
  return {fmt::format("{} {}", name, scalar), size, elements, elements * static_cast<std::int64_t>(sizeof(T))};
}

/// Steps of an exchange, which outlives them, and their phases.
template <class View>
Way steps_of(std::string name, comm::Exchange<View>& exchange, bool verified = true) {
  const auto steps = [&exchange](int n) {
    for (int i = 0; i < n; ++i) {
      exchange.start();
      exchange.finish();
    }
    complete<View>();
  };
  return {std::move(name), steps, phases_of(exchange), verified};
}

} // namespace kontor::pingpong
