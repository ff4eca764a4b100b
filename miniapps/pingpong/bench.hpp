// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "pingpong/options.hpp"
#include "pingpong/payload.hpp"
#include "run/mini_app.hpp"
#include "timing/findings.hpp"
#include "timing/interleave.hpp"

#include <kontor/comm/exchange.hpp>

#include <Kokkos_Core.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

/// What the measures share.
namespace kontor::pingpong {

/// One operation by two methods.
struct Operation {
  std::string name;    ///< of its curve, without the scalar
  bool clocked = true; ///< whether the time of this rank counts
  int calls = 1;       ///< typed calls in one execution, without those that overlap others
  std::array<std::string, 2> methods{"raw", "typed"};
};

/// Times methods, and collects what a measure finds.
struct Bench {
  Options options;
  miniapp::RunContext context;
  std::vector<std::string> notes = {}; ///< of all repeats
  std::vector<Case> cases = {};
  Findings findings = {};
  std::map<std::string, std::vector<double>> added = {}; ///< of each operation: seconds that a typed call takes more

  const comm::Communicator& comm() const { return context.comm; }

  /// Collective. Times the methods.
  Samples sample(std::span<const Way>, const Payload&, const Sampling&, bool clocked);
  /// Collective. Adds a point for each as well.
  Samples time(const Subject&, std::span<const Way>, const Payload&, bool clocked = true);
  /// Collective. Compares both methods of an operation, too. raw(i) and typed(i) make execution i of a sample.
  template <class T, class Raw, class Typed>
  void time(const Operation&, std::int64_t size, std::int64_t elements, const Payload&, const Raw&, const Typed&);
  /// Adds how `way` compares with `baseline`, both numbers of the methods that were timed last.
  void compare(const Samples&, std::size_t way, std::size_t baseline);
  /// Collective. Calls work(T(), dimensions, size) for all cases. Throws EndedEarly if the run is to end.
  template <class Work>
  void each_size(const Work&) const;
};

/// A measure is collective over the communicator of its bench.
using Measurement = void(Bench&);
Measurement measure_roundtrip, measure_halo, measure_collectives, measure_model, measure_exchange, measure_calls;

/// The overhead of typed calls: the median and the largest of all comparisons with raw.
std::vector<miniapp::FigureOfMerit> typed_over_raw(const Findings&);

/// Collective over the context's communicator. Options are resolved. Throws config::Error if a size does not fit in
/// memory.
std::unique_ptr<miniapp::MiniApp> make_pingpong(const Options&, const miniapp::RunContext&);

/// A View of 1 to 3 dimensions in host memory, the last one fastest.
template <class T, int rank>
using HostView = Kokkos::View<std::conditional_t<rank == 1, T*, std::conditional_t<rank == 2, T**, T***>>,
                              Kokkos::LayoutRight, Kokkos::HostSpace>;
template <class T>
using Row = HostView<T, 1>;

/// A View with the same extent in all dimensions.
template <class View>
View make_cube(std::int64_t edge) {
  Kokkos::LayoutRight layout;
  std::fill_n(layout.dimension, static_cast<int>(View::rank), static_cast<std::size_t>(edge));
  return View(Kokkos::view_alloc(std::string("pingpong/view"), Kokkos::WithoutInitializing), layout);
}

/// Views that ranks exchange.
template <class View>
struct Traffic {
  /// One View goes to a rank, and another is received. Senders are those of the payload.
  struct Slot {
    View out;
    int to, sender;
    View in;
    int from, source;
    std::int64_t place = 0; ///< the number of the first value
  };
  std::string label;
  std::vector<Slot> there, back = {}; ///< what goes back has arrived by the first exchange

  Payload payload() const {
    std::vector<Cells<View>> sent, received;
    for (const auto& s : there)
      if (s.to != comm::no_rank) sent.push_back({s.out, s.sender, 1, s.place});
    for (const auto* slots : {&there, &back})
      for (const auto& s : *slots)
        if (s.from != comm::no_rank) received.push_back({s.in, s.source, 1, s.place});
    return payload_of(sent, [received] { return received; });
  }
  /// Collective. Throws comm::UsageError on all ranks.
  std::vector<comm::Exchange<View>> exchanges(const comm::Communicator& comm) const {
    std::vector<comm::Exchange<View>> all;
    for (const auto* slots : {&there, &back}) {
      if (slots->empty()) continue;
      auto& exchange = all.emplace_back(comm, label);
      for (const auto& s : *slots) exchange.add(s.out, s.to, s.in, s.from);
      exchange.commit();
    }
    return all;
  }
};

/// Steps of exchanges that follow each other, and the phases of a single one. They outlive the method.
template <class View>
Way steps_of(std::string name, std::vector<comm::Exchange<View>>& exchanges, bool verified) {
  const auto steps = [&exchanges](int n) {
    for (int i = 0; i < n; ++i)
      for (auto& exchange : exchanges) {
        exchange.start();
        exchange.finish();
      }
    device::fence(typename View::execution_space(), "pingpong/complete"); // once a sample
  };
  return {std::move(name), steps, exchanges.size() == 1 ? phases_of(exchanges.front()) : Phases{}, verified};
}

/// The Views of two ranks that exchange them. The rank of the lower half begins. Idle ranks have no partner.
template <class View>
struct Pair {
  int me, partner = comm::no_rank;
  View out, in;
  bool echo = false; ///< the second rank returns what has arrived: its `out` is its `in`

  /// With Views of make(size). An idle rank has them, too.
  template <class Make>
  Pair(const Bench& bench, bool is_echo, std::int64_t size, const Make& make)
      : me(bench.comm().rank()), out(make(size)), in(make(size)), echo(is_echo) {
    const int half = bench.options.pairs == Pairs::one ? 1 : bench.comm().size() / 2;
    if (me < 2 * half) partner = me < half ? me + half : me - half;
    if (echo && !begins()) out = in;
  }

  bool play() const { return partner != comm::no_rank; }
  bool begins() const { return play() && me < partner; }
  bool clocked() const { return echo ? begins() : play(); }
  Traffic<View> traffic() const {
    if (!echo) return {"pingpong/swap", {{out, partner, me, in, partner, partner}}};
    const int second = begins() ? partner : comm::no_rank, first = begins() ? comm::no_rank : partner;
    return {"pingpong/echo", {{out, second, me, in, first, partner}}, {{out, first, me, in, second, me}}};
  }
};

/// The datatype of hand-written MPI calls.
template <class T>
MPI_Datatype mpi_type() {
  return std::is_same_v<T, int> ? MPI_INT : MPI_DOUBLE;
}

/// Views of so many elements of T. The curve is called "<name> <scalar>".
template <class T>
Subject subject_of(std::string_view name, std::int64_t size, std::int64_t elements) {
  const auto scalar = name_of(std::is_same_v<T, int> ? ScalarName::of_int : ScalarName::of_double);
  return {fmt::format("{} {}", name, scalar), size, elements, elements * static_cast<std::int64_t>(sizeof(T))};
}

template <class T, class Raw, class Typed>
void Bench::time(const Operation& operation, std::int64_t size, std::int64_t elements, const Payload& payload,
                 const Raw& raw, const Typed& typed) {
  const auto repeat = [](const auto& once) {
    return [&once](int n) {
      for (int i = 0; i < n; ++i) once(i);
    };
  };
  const Way ways[] = {{operation.methods[0], repeat(raw)}, {operation.methods[1], repeat(typed)}};
  const auto samples = time(subject_of<T>(operation.name, size, elements), ways, payload, operation.clocked);
  compare(samples, 1, 0);
  auto more = samples.seconds[1];
  std::ranges::transform(more, samples.seconds[0], more.begin(), std::minus<>());
  added[operation.name].push_back(miniapp::median(more) / operation.calls);
}

template <class Work>
void Bench::each_size(const Work& work) const {
  std::int64_t done = 0, total = 0;
  for (const auto& c : cases) total += static_cast<std::int64_t>(c.sizes.size());
  for (const auto& c : cases)
    for (const auto size : c.sizes) {
      if (context.end && context.end->ask()) throw miniapp::EndedEarly();
      c.scalar == ScalarName::of_int ? work(int(), c.dimensions, size) : work(double(), c.dimensions, size);
      context.progress.update({++done, total});
    }
}

/// Collective. Times the sum of a View over all ranks.
template <class T>
void time_allreduce(Bench&, std::int64_t size);

} // namespace kontor::pingpong
