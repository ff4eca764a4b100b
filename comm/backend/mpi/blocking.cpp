// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pattern `blocking`: one MPI_Sendrecv for each tag and turn, of which a rank sends one message at most and receives
// one. All ranks walk them in that order, so each call finds its partners at the same place or before it, and none
// waits for ever. At check level `cross_rank`, where waits have a timeout, methods are `nonblocking` instead.
#include "backend/mpi/mpi_backend.hpp"

#include <fmt/format.h>

#include <map>

namespace kontor::comm::mpi {
namespace {

/// Both halves of one call; the half that does not take place has MPI_PROC_NULL as its peer.
struct Pair {
  Message send{nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, 0, {}};
  Message receive{nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, 0, {}};
};

std::vector<Pair> in_order(MessageSet& messages) {
  std::map<std::pair<int, int>, Pair> places;
  for (auto& m : messages.sends) places[{m.tag, m.turn}].send = std::move(m);
  for (auto& m : messages.receives) places[{m.tag, m.turn}].receive = std::move(m);
  std::vector<Pair> pairs;
  for (auto& [place, pair] : places) pairs.push_back(std::move(pair));
  return pairs;
}

class Blocking final : public MpiPlan {
 public:
  Blocking(const BackendContext& context, MessageSet messages)
      : MpiPlan(context, messages.label), pairs_(in_order(messages)) {}

  void start() override {}

  void finish() override {
    for (const auto& [s, r] : pairs_) {
      const int code = MPI_Sendrecv(s.data, s.count, s.type, s.peer, s.tag, r.data, r.count, r.type, r.peer, r.tag,
                                    comm(), MPI_STATUS_IGNORE);
      if (code != MPI_SUCCESS) [[unlikely]]
        fail(code, s, r);
    }
  }

 private:
  void fail(int code, const Message& s, const Message& r) const {
    if (s.peer == MPI_PROC_NULL) check_message(code, "MPI_Sendrecv from", r);
    if (r.peer == MPI_PROC_NULL) check_message(code, "MPI_Sendrecv to", s);
    const auto both = fmt::format("MPI_Sendrecv to rank {} of View '{}' and from rank {} of View '{}'", s.peer, s.label,
                                  r.peer, r.label);
    check_step(code, both.c_str());
  }

  std::vector<Pair> pairs_;
};

} // namespace

std::unique_ptr<Plan> make_blocking(const BackendContext& context, MessageSet messages) {
  return std::make_unique<Blocking>(context, std::move(messages));
}

} // namespace kontor::comm::mpi
