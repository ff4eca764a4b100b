// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/alltoall.hpp>
#include <kontor/comm/gather.hpp>
#include <kontor/comm/received.hpp>
#include <kontor/comm/two_phases.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// Collective operations whose ranks tell each other how much they send. Two suffixes mean that what a call
/// needs to know travels with it: `_with_counts`, the number of elements each rank sends, and `_with_extents`
/// (with_extents.hpp), the extents of a View of any rank.
///
/// Each operation gives a Received, and has a form that begins with `i` and does not block, whose wait()
/// gives it. `into` is a Received that is filled again, without an allocation where its memory is large
/// enough: `all = allgatherv_with_counts(comm, in, std::move(all))`. What is received lies in its memory
/// space, or in that of `in`. Orders and errors as in gather.hpp; counts that are wrong on one rank are its
/// CallError.
namespace kontor::comm {

/// What a non-blocking form gives.
template <class In, class Out>
using RequestWithCounts =
    TwoPhases<Received<Out>, Request<Kokkos::View<std::int64_t*, Kokkos::HostSpace>>, Request<In, Out>>;

namespace detail {

using Numbers = Kokkos::View<std::int64_t*, Kokkos::HostSpace>;
using CountList = std::vector<std::int64_t>;

/// A number for each rank: `mine` at this rank's place.
inline CountList numbers_of_all(const Communicator& comm, std::size_t mine) {
  CountList numbers(static_cast<std::size_t>(comm.size()), 0);
  numbers[static_cast<std::size_t>(comm.rank())] = static_cast<std::int64_t>(mine);
  return numbers;
}
/// The same at the root; its own number alone on other ranks.
inline CountList numbers_at_root(const Communicator& comm, int root, std::size_t mine) {
  return comm.rank() == root ? numbers_of_all(comm, mine) : CountList{static_cast<std::int64_t>(mine)};
}
inline CountList numbers_of(const Communicator& comm, const Counts& counts) {
  auto numbers = counts.values();
  numbers.resize(static_cast<std::size_t>(comm.size()), 0);
  return numbers;
}
/// What the root scatters; room for one number on other ranks.
inline CountList numbers_to_scatter(const Communicator& comm, int root, const Counts& counts) {
  return comm.rank() == root ? numbers_of(comm, counts) : CountList{0};
}
/// What this rank gets of the root's counts.
inline Counts scattered_count(const Communicator& comm, int root, const CountList& numbers) {
  return {numbers[static_cast<std::size_t>(comm.rank() == root ? root : 0)]};
}
inline Counts gathered_counts(const Communicator& comm, int root, const CountList& numbers) {
  return comm.rank() == root ? Counts(numbers) : Counts();
}

/// The numbers, for a call that blocks.
inline auto view_of(CountList& numbers) {
  return Kokkos::View<std::int64_t*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
      numbers.data(), numbers.size());
}
/// A copy of them, for one that does not.
inline Numbers kept(const CountList& numbers) {
  const Numbers copy(Kokkos::view_alloc(std::string("comm/counts"), Kokkos::WithoutInitializing),
                     numbers.size());
  std::ranges::copy(numbers, copy.data());
  return copy;
}

/// `learned(comm, numbers)` gives the counts of what comes, `begin(on, out, counts)` the second phase.
template <class In, class Out, class Learned, class Begin>
RequestWithCounts<In, Out> in_two_phases(On<In, Out> on, const In& in, Received<Out> into,
                                         Request<Numbers> numbers, Learned learned, Begin begin) {
  struct State {
    LaterOn<typename SpaceOf<In, Out>::type> on;
    Received<Out> received;
  };
  using Later = decltype(State::on);
  const std::shared_ptr<State> state(new State{Later(on), std::move(into)});
  return {std::move(numbers),
          [=](const Numbers& found) {
            const auto later = state->on.get();
            const Counts counts = learned(later.comm, CountList(found.data(), found.data() + found.size()));
            state->received.resize(in.label(), counts);
            return begin(later, state->received.data, counts);
          },
          [state](const auto&) { return std::move(state->received); }};
}

} // namespace detail

/// Collective. At the root: the elements of all ranks' Views, of any sizes; on other ranks
/// nothing. MPI_Gather of the counts, then MPI_Gatherv.
template <SentView In, ReceivedView Out = ReceivedOf<In>>
[[nodiscard]] Received<Out> gatherv_with_counts(On<In, Out> on, const In& in, int root,
                                                Received<Out> into = {}) {
  auto numbers = detail::numbers_at_root(on.comm, root, in.size());
  gather(on.comm, detail::view_of(numbers), root);
  const auto counts = detail::gathered_counts(on.comm, root, numbers);
  into.resize(in.label(), counts);
  gatherv(on, in, into.data, counts, root);
  return into;
}
/// Collective, non-blocking, in two phases.
template <SentView In, ReceivedView Out = ReceivedOf<In>>
RequestWithCounts<In, Out> igatherv_with_counts(On<In, Out> on, const In& in, int root,
                                                Received<Out> into = {}) {
  return detail::in_two_phases<In, Out>(
      on, in, std::move(into),
      igather(on.comm, detail::kept(detail::numbers_at_root(on.comm, root, in.size())), root),
      [root](const Communicator& comm, const detail::CountList& found) {
        return detail::gathered_counts(comm, root, found);
      },
      [in, root](On<In, Out> later, const Out& out, const Counts& counts) {
        return igatherv(later, in, out, counts, root);
      });
}

/// Collective. The elements of all ranks' Views, of any sizes. MPI_Allgather of the counts,
/// then MPI_Allgatherv.
template <SentView In, ReceivedView Out = ReceivedOf<In>>
[[nodiscard]] Received<Out> allgatherv_with_counts(On<In, Out> on, const In& in, Received<Out> into = {}) {
  auto numbers = detail::numbers_of_all(on.comm, in.size());
  allgather(on.comm, detail::view_of(numbers));
  const Counts counts(numbers);
  into.resize(in.label(), counts);
  allgatherv(on, in, into.data, counts);
  return into;
}
/// Collective, non-blocking, in two phases.
template <SentView In, ReceivedView Out = ReceivedOf<In>>
RequestWithCounts<In, Out> iallgatherv_with_counts(On<In, Out> on, const In& in, Received<Out> into = {}) {
  return detail::in_two_phases<In, Out>(
      on, in, std::move(into), iallgather(on.comm, detail::kept(detail::numbers_of_all(on.comm, in.size()))),
      [](const Communicator&, const detail::CountList& found) { return Counts(found); },
      [in](On<In, Out> later, const Out& out, const Counts& counts) {
        return iallgatherv(later, in, out, counts);
      });
}

/// Collective. Rank r gets counts[r] elements of the root's `in`; neither is looked at on other ranks. The
/// Received has one part. MPI_Scatter of the counts, then MPI_Scatterv.
template <SentView In, ReceivedView Out = ReceivedOf<In>>
[[nodiscard]] Received<Out> scatterv_with_counts(On<In, Out> on, const In& in, const Counts& counts, int root,
                                                 Received<Out> into = {}) {
  auto numbers = detail::numbers_to_scatter(on.comm, root, counts);
  scatter(on.comm, detail::view_of(numbers), root);
  into.resize(in.label(), detail::scattered_count(on.comm, root, numbers));
  scatterv(on, in, counts, into.data, root);
  return into;
}
/// Collective, non-blocking, in two phases.
template <SentView In, ReceivedView Out = ReceivedOf<In>>
RequestWithCounts<In, Out> iscatterv_with_counts(On<In, Out> on, const In& in, const Counts& counts, int root,
                                                 Received<Out> into = {}) {
  const auto numbers = detail::numbers_to_scatter(on.comm, root, counts);
  return detail::in_two_phases<In, Out>(
      on, in, std::move(into), iscatter(on.comm, detail::kept(numbers), root),
      [root](const Communicator& comm, const detail::CountList& found) {
        return detail::scattered_count(comm, root, found);
      },
      [in, counts, root](On<In, Out> later, const Out& out, const Counts&) {
        return iscatterv(later, in, counts, out, root);
      });
}

/// Collective. This rank sends send_counts[r] elements to rank r, and gets what comes from all ranks.
/// MPI_Alltoall of the counts, then MPI_Alltoallv. alltoall_grid.hpp has the same for many ranks.
template <SentView In, ReceivedView Out = ReceivedOf<In>>
[[nodiscard]] Received<Out> alltoallv_with_counts(On<In, Out> on, const In& in, const Counts& send_counts,
                                                  Received<Out> into = {}) {
  auto sent = detail::numbers_of(on.comm, send_counts);
  detail::CountList numbers(sent.size());
  alltoall(on.comm, detail::view_of(sent), detail::view_of(numbers));
  const Counts counts(numbers);
  into.resize(in.label(), counts);
  alltoallv(on, in, send_counts, into.data, counts);
  return into;
}
/// Collective, non-blocking, in two phases.
template <SentView In, ReceivedView Out = ReceivedOf<In>>
RequestWithCounts<In, Out> ialltoallv_with_counts(On<In, Out> on, const In& in, const Counts& send_counts,
                                                  Received<Out> into = {}) {
  return detail::in_two_phases<In, Out>(
      on, in, std::move(into), ialltoall(on.comm, detail::kept(detail::numbers_of(on.comm, send_counts))),
      [](const Communicator&, const detail::CountList& found) { return Counts(found); },
      [in, send_counts](On<In, Out> later, const Out& out, const Counts& counts) {
        return ialltoallv(later, in, send_counts, out, counts);
      });
}

} // namespace kontor::comm
