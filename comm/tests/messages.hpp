// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "ring.hpp"

#include <functional>
#include <string>
#include <vector>

/// Typed messages must deliver the bits that MPI_Sendrecv delivers, at every check level.
namespace kontor::comm::test {

/// Every call that moves one View to `next` and another from `previous`.
template <class View>
std::vector<std::function<void(const Communicator&, const View&, int, const View&, int)>> calls() {
  return {
      [](const auto& comm, const View& out, int next, const View& in, int previous) {
        sendrecv(comm, out, next, in, previous, 3);
      },
      [](const auto& comm, const View& out, int next, const View& in, int previous) {
        const auto [sent, received] = isendrecv(comm, out, next, in, previous, 1).wait();
        EXPECT_EQ(sent.data(), out.data());
        EXPECT_EQ(received.data(), in.data());
      },
      [](const auto& comm, const View& out, int next, const View& in, int previous) {
        auto request = isend(comm, out, next, comm.tag_limit());
        recv(comm, in, previous, comm.tag_limit());
        EXPECT_EQ(request.wait().data(), out.data());
      },
      [](const auto& comm, const View& out, int next, const View& in, int previous) {
        auto request = irecv(comm, in, previous == no_rank ? no_rank : any_source, any_tag);
        send(comm, out, next, 7);
        EXPECT_EQ(request.wait().data(), in.data());
      },
  };
}

/// Around a closed ring, and along a row of ranks with two ends.
template <class View>
void expect_delivered(const Field<View>& out, const Field<View>& in) {
  for (const auto level : {CheckLevel::off, CheckLevel::local, CheckLevel::cross_rank}) {
    Options options;
    options.check = level;
    const Communicator comm(MPI_COMM_WORLD, options);
    for (const bool periodic : {true, false}) {
      const auto [previous, next] = ring_of(comm, periodic);
      int step = 0;
      for (const auto& call : calls<View>()) {
        SCOPED_TRACE("check level " + std::to_string(static_cast<int>(level)) + ", call " +
                     std::to_string(step) + (periodic ? ", periodic" : ", closed"));
        Leg<View, View> leg{out, next, in, previous};
        leg.prepare(comm, step++, 0);
        call(comm, out.view, next, in.view, previous);
        leg.check();
      }
    }
  }
}

} // namespace kontor::comm::test
