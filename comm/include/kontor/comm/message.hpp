// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/view_buffer.hpp>

#include <mpi.h>

#include <string>

namespace kontor::comm {

/// Where a tag is asked for: whatever tag the message has.
inline constexpr int any_tag = -1;

namespace detail {

inline int mpi_rank(int peer) {
  return peer == no_rank ? MPI_PROC_NULL : peer == any_rank ? MPI_ANY_SOURCE : peer;
}
inline int mpi_tag(int tag) {
  return tag == any_tag ? MPI_ANY_TAG : tag;
}

enum class Way { to, from, among };

/// What an operation is to the people who read its errors, and to whom it goes.
struct Envelope {
  const char* operation = ""; ///< "irecv"
  Way way = Way::among;
  int peer = no_rank; ///< and the tag: nothing among all ranks
  int tag = 0;
};

/// "irecv from rank 3 (tag 0)"
std::string to_string(const Envelope&);
/// "View 'in', (4, 5) double"
std::string to_string(const Buffer&);

/// Throws UsageError in words: what one rank alone can see that MPI would not take.
[[noreturn]] void refuse_message(const Communicator&, const Envelope&, const Buffer&);
/// Throws Error with MPI's text.
[[noreturn]] void fail_message(int code, const char* mpi_function, const Envelope&, const Buffer&);

[[noreturn]] void fail_exchange(int code, const char* mpi_function, const Envelope& to, const Buffer& sent,
                                const Envelope& from, const Buffer& received);

/// Check level `local`. The wildcards are negative, so a range covers them.
template <ViewType View>
void check_message(const Communicator& comm, const Envelope& envelope, const View& view) {
  if (comm.options().check == CheckLevel::off) return;
  const auto [operation, way, peer, tag] = envelope;
  const bool peer_is_there = peer >= (way == Way::to ? no_rank : any_rank) && peer < comm.size();
  const bool tag_is_valid = tag >= (way == Way::to ? 0 : any_tag) && tag <= comm.tag_limit();
  if (!peer_is_there || !tag_is_valid || (view.data() == nullptr && view.size() > 0)) [[unlikely]]
    refuse_message(comm, envelope, to_buffer(view));
}

} // namespace detail
} // namespace kontor::comm
