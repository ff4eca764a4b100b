// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "ring.hpp"

#include <functional>
#include <initializer_list>

/// Typed messages.
namespace kontor::comm::test {

/// Messages of two Views in a ring.
class Requests : public AtLevel {
 protected:
  Ints out{"out", 3};
  Ints in{"in", 3};

  void SetUp() override { Kokkos::deep_copy(out, rank); }
  void TearDown() override {
    MPI_Barrier(comm.native());
    expect_usable(comm);
  }
};

/// By these calls Views must deliver the bits that MPI_Sendrecv delivers.
using Call = std::function<void(const Communicator& comm, int next, int previous)>;

/// Around a closed ring, and along a row of ranks with two ends, at every check level.
void expect_delivered(Delivery delivery, std::initializer_list<Call> calls);

/// By a call that returns when it is done, and one that keeps its Views; the others keep theirs alike.
template <class View>
void expect_delivered_by_both(const Field<View>& out_field, const Field<View>& in_field) {
  const auto& out = out_field.view;
  const auto& in = in_field.view;
  expect_delivered(
      Delivery(watched(out_field), watched(in_field)),
      {
          [&](const Communicator& comm, int next, int previous) { sendrecv(comm, out, next, in, previous, 3); },
          [&](const Communicator& comm, int next, int previous) {
            const auto [sent, received] = isendrecv(comm, out, next, in, previous, 1).wait();
            EXPECT_EQ(sent.data(), out.data());
            EXPECT_EQ(received.data(), in.data());
          },
      });
}

/// By every call that moves one View to the next rank and another from the previous one.
template <class View>
void expect_delivered(const Field<View>& out_field, const Field<View>& in_field) {
  const auto& out = out_field.view;
  const auto& in = in_field.view;
  expect_delivered_by_both(out_field, in_field);
  expect_delivered(Delivery(watched(out_field), watched(in_field)),
                   {
                       [&](const Communicator& comm, int next, int previous) {
                         auto request = isend(comm, out, next, comm.tag_limit());
                         recv(comm, in, previous, comm.tag_limit());
                         EXPECT_EQ(request.wait().data(), out.data());
                       },
                       [&](const Communicator& comm, int next, int previous) {
                         auto request = irecv(comm, in, previous == no_rank ? no_rank : any_source, any_tag);
                         send(comm, out, next, 7);
                         EXPECT_EQ(request.wait().data(), in.data());
                       },
                   });
}

} // namespace kontor::comm::test
