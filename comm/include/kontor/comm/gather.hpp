// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/collectives/collective.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

/// The Views of all ranks one after the other, in the order of ranks: at the root, on every rank, from the root to the
/// ranks, or a part from every rank for every rank; see On. A View of doubles (n) gathers into one of (n, ranks) that
/// is LayoutLeft. What is received has room for exactly what is sent. Where ranks give different numbers of elements
/// (gatherv, allgatherv, scatterv, alltoallv) the call blocks, takes two Views, and makes the arrays of `int` that MPI
/// wants.
///
/// Errors: CallError from check level `local` on if the root is not a rank, a View has not the right number of
/// elements, or two Views, or elements of one that is written, share memory; Error if counts or places exceed the
/// 2^31 - 1 that MPI's arrays can hold. Numbers of elements without counts have no such limit.
namespace kontor::comm {
namespace detail {

/// One value of each rank, on the ranks that get them.
template <class T>
std::vector<T> gather_values(const Communicator& comm, const Collective& collective, T value) {
  using Held = std::conditional_t<std::is_same_v<T, bool>, char, T>; // a std::vector<bool> has no elements
  const bool gets = writes(accesses(comm, collective, 2)[1]);
  std::vector<Held> all(gets ? comm.size() : 0);
  const auto in = value_operand<T>(value);
  auto out = in.at(all.data());
  out.count = static_cast<std::int64_t>(all.size());
  collective.kind.perform({comm, collective, in, out});
  return std::vector<T>(all.begin(), all.end());
}

} // namespace detail

/// A call with Views of parts and of the whole: blocking, or one that `begins`. `Root` is an int where there is one.
template <bool begins, class... Root>
struct PartsCall {
  const detail::Kind& kind; ///< which one

  /// Collective.
  template <SentView In, ReceivedView Out>
  auto operator()(On<In, Out> on, const In& in, const Out& out, Root... root) const {
    return detail::call<begins>(on, {.kind = kind, .root = (0 + ... + root)}, in, out);
  }
  /// Collective. In place: whoever has the whole gives it with its own part where it belongs, the others give their
  /// part. MPI_IN_PLACE.
  template <InPlaceView View>
  auto operator()(On<View> on, const View& view, Root... root) const {
    return detail::call<begins>(on, {.kind = kind, .root = (0 + ... + root)}, view);
  }
};

/// One that takes values, too.
template <class... Root>
struct GatherCall : PartsCall<false, Root...> {
  using PartsCall<false, Root...>::operator();
  /// Collective. The values of all ranks, on the ranks that get them; nothing on others.
  template <PlainValue T>
  std::vector<T> operator()(const Communicator& comm, const T& value, Root... root) const {
    return detail::gather_values(comm, {.kind = this->kind, .root = (0 + ... + root)}, value);
  }
};

///@{
/// gather(comm, in, out, root): the root's `out` becomes the `in` of all ranks, of equal sizes; the `out` of other
/// ranks is ignored. MPI_Gather, MPI_Igather.
inline constexpr GatherCall<int> gather{{detail::Kind::gather}};
inline constexpr PartsCall<true, int> igather{detail::Kind::gather};
///@}

///@{
/// allgather(comm, in, out): every rank's `out` becomes the `in` of all ranks, of equal sizes. MPI_Allgather,
/// MPI_Iallgather.
inline constexpr GatherCall<> allgather{{detail::Kind::allgather}};
inline constexpr PartsCall<true> iallgather{detail::Kind::allgather};
///@}

///@{
/// scatter(comm, in, out, root): every rank's `out` becomes its part of the root's `in`, of equal sizes; the `in` of
/// other ranks is ignored. MPI_Scatter, MPI_Iscatter.
inline constexpr PartsCall<false, int> scatter{detail::Kind::scatter};
inline constexpr PartsCall<true, int> iscatter{detail::Kind::scatter};
///@}

///@{
/// alltoall(comm, in, out): part s of rank r's `in` becomes part r of rank s's `out`, of equal sizes. MPI_Alltoall,
/// MPI_Ialltoall.
inline constexpr PartsCall<false> alltoall{detail::Kind::alltoall};
inline constexpr PartsCall<true> ialltoall{detail::Kind::alltoall};
///@}

/// Collective. Like gather(), but rank r gives counts[r] elements; they need be right at the root only. MPI_Gatherv.
template <SentView In, ReceivedView Out>
void gatherv(On<In, Out> on, const In& in, const Out& out, const Counts& counts, int root) {
  detail::call<false>(on, {.kind = detail::Kind::gatherv, .root = root, .counts = &counts}, in, out);
}

/// Collective. Like allgather(), but rank r gives counts[r] elements. MPI_Allgatherv.
template <SentView In, ReceivedView Out>
void allgatherv(On<In, Out> on, const In& in, const Out& out, const Counts& counts) {
  detail::call<false>(on, {.kind = detail::Kind::allgatherv, .counts = &counts}, in, out);
}

/// Collective. Like scatter(), but rank r gets counts[r] elements; they need be right at the root only. MPI_Scatterv.
template <SentView In, ReceivedView Out>
void scatterv(On<In, Out> on, const In& in, const Counts& counts, const Out& out, int root) {
  detail::call<false>(on, {.kind = detail::Kind::scatterv, .root = root, .counts = &counts}, in, out);
}

/// Collective. This rank sends send_counts[r] elements to rank r and gets receive_counts[r] from it. MPI_Alltoallv.
template <SentView In, ReceivedView Out>
void alltoallv(On<In, Out> on, const In& in, const Counts& send_counts, const Out& out, const Counts& receive_counts) {
  detail::call<false>(on, {.kind = detail::Kind::alltoallv, .counts = &receive_counts, .send_counts = &send_counts}, in,
                      out);
}

} // namespace kontor::comm
