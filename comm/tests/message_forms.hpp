// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "places.hpp"

namespace kontor::comm::test {

/// A View's type decides how it is lent to a call: to be read or written, for the time of the call or longer. So all
/// are lent in each way, and `every` is for a few of them.
enum class Calls { one, each_way, every };

/// Collective. Calls that move one View to the next rank and another from the previous one deliver the bits that
/// MPI_Sendrecv delivers: around a closed ring, and along a row of ranks with two ends.
template <Calls calls, class Place, class Out, class In>
void expect_delivered(const Communicator& comm, Place& place, const Field<Out>& out_field, const Field<In>& in_field) {
  const auto out = place.view(out_field);
  const auto in = place.view(in_field);
  Delivery delivery(watched(out_field), watched(in_field));
  for (const bool periodic : {true, false}) {
    const int previous = ring_of(comm, periodic).first, next = ring_of(comm, periodic).second;
    int step = 0;
    const auto expect = [&](const auto& call) {
      SCOPED_TRACE("call " + std::to_string(step) + (periodic ? ", periodic" : ", closed"));
      delivery.prepare(comm.native(), next, previous, step++, 0);
      place.load();
      call();
      place.store();
      delivery.check();
    };
    expect([&] { sendrecv(comm, out, next, in, previous, 3); });
    if constexpr (calls != Calls::one)
      expect([&] {
        auto receiving = irecv(comm, in, previous == no_rank ? no_rank : any_source, any_tag);
        EXPECT_EQ(isend(comm, out, next, comm.tag_limit()).wait().data(), out.data());
        EXPECT_EQ(receiving.wait().data(), in.data());
      });
    if constexpr (calls == Calls::every) {
      expect([&] {
        auto sending = isend(comm, out, next);
        recv(comm, in, previous);
        sending.wait();
      });
      expect([&] {
        auto receiving = irecv(comm, in, previous, 7);
        send(comm, out, next, 7);
        while (!test_all(receiving)) {
        }
      });
    }
  }
}

} // namespace kontor::comm::test
