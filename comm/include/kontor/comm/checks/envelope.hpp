// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/views/layout.hpp>
#include <kontor/comm/views/view_buffer.hpp>

#include <mpi.h>

#include <string>
#include <type_traits>

namespace kontor::comm {

/// Where a tag is asked for: whatever tag the message has.
inline constexpr int any_tag = -1;

namespace detail {

inline int mpi_rank(int peer) { return peer == no_rank ? MPI_PROC_NULL : peer == any_source ? MPI_ANY_SOURCE : peer; }
inline int mpi_tag(int tag) { return tag == any_tag ? MPI_ANY_TAG : tag; }

enum class Direction { to, from, among };

/// What an operation is to the people who read its errors, and to whom it goes.
struct Envelope {
  const char* operation = ""; ///< "irecv"
  Direction direction = Direction::among;
  int peer = no_rank; ///< and the tag: nothing among all ranks
  int tag = 0;
};

/// What is said of a View without memory.
inline constexpr const char* no_memory = "has elements but no memory (its data pointer is null)";

/// "irecv from rank 3 (tag 0)"
std::string to_string(const Envelope&);
/// "View 'in', (4, 5) double"
std::string to_string(const Buffer&);

/// Whether the peer and the tag are there. The wildcards are negative, so a range covers them.
inline bool is_valid(const CachedProperties& cached, const Envelope& envelope) {
  const auto [operation, direction, peer, tag] = envelope;
  return peer >= (direction == Direction::to ? no_rank : any_source) && peer < cached.size &&
         tag >= (direction == Direction::to ? 0 : any_tag) && tag <= cached.tag_limit;
}
std::string why_not_valid(const Communicator&, const Envelope&);

/// Check level `local` for what has no View.
void check_envelope(const Communicator&, const Envelope&);

// These are seldom called: envelopes by value, so that the callers need not have them in memory.

/// Throws CallError in words: what one rank alone can see that MPI would not take.
[[noreturn]] void refuse_message(const Communicator&, Envelope, const Buffer&);
/// Throws CallError: an operation writes into elements that share memory.
[[noreturn]] void refuse_shared_elements(const char* operation, const Buffer&);
/// Both throw MpiError with MPI's text.
[[noreturn]] void fail_message(int code, const char* mpi_function, Envelope, const Buffer&);
[[noreturn]] void fail_sendrecv(int code, const char* mpi_function, const Envelope& to, const Buffer& sent,
                                const Envelope& from, const Buffer& received);

/// Whether messages are of check level `cross_rank`: described to the receiver, and waited for with a timeout.
inline bool verified(const Communicator& comm) { return detail::cached(comm).check == CheckLevel::cross_rank; }

/// Whether strides may have been given by which elements share memory.
template <ViewType View>
inline constexpr bool may_share_elements =
    static_cast<int>(View::rank) > 0 && std::is_same_v<typename View::array_layout, Kokkos::LayoutStride>;

/// Of its own, so that checks are short enough to be inlined.
template <ViewType View>
[[noreturn, gnu::noinline, gnu::cold]] void refuse_view(const Communicator& comm, Envelope envelope, const View& view) {
  refuse_message(comm, envelope, to_buffer(view));
}

/// Whether it has elements by its extents: without memory its size() is 0 in Kokkos 5.
template <ViewType View>
[[gnu::noinline, gnu::cold]] bool has_extents(const View& view) {
  return element_count(shape_of(view)) > 0;
}

/// Check level `local`. Gives what the call looks up next.
template <ViewType View>
const CachedProperties& check_message(const Communicator& comm, const Envelope& envelope, const View& view) {
  const auto& cached = detail::cached(comm);
  if (cached.check == CheckLevel::off) return cached;
  const bool no_memory = view.data() == nullptr && envelope.peer != no_rank && has_extents(view);
  if (!is_valid(cached, envelope) || no_memory) [[unlikely]]
    refuse_view(comm, envelope, view);
  if constexpr (may_share_elements<View>)
    if (envelope.direction == Direction::from && overlaps_itself(shape_of(view))) [[unlikely]]
      refuse_view(comm, envelope, view);
  return cached;
}

} // namespace detail
} // namespace kontor::comm
