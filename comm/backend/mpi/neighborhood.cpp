// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pattern `neighborhood`: one neighbourhood collective (MPI 3.1, section 7.7) on a graph communicator that has an edge
// for each message. Edges between the same two ranks are in the order of tags at both ends, as MPI matches them.
#include "backend/mpi/mpi_backend.hpp"

#include <kontor/comm/error.hpp>
#include <kontor/comm/mpi_check.hpp>
#include <kontor/device/noncopyable.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kontor::comm::mpi {
namespace {

/// The messages of one direction as the arrays that MPI takes.
struct Edges {
  std::vector<int> peers;
  std::vector<int> counts;
  std::vector<MPI_Aint> places; ///< addresses
  std::vector<MPI_Datatype> types;
};

Edges edges(const std::vector<Message>& messages) {
  Edges e;
  for (const auto& m : messages) {
    e.peers.push_back(m.peer);
    e.counts.push_back(m.count);
    check(MPI_Get_address(m.data, &e.places.emplace_back()), "MPI_Get_address");
    e.types.push_back(m.type);
  }
  return e;
}

#ifdef MPICH_VERSION
/// Adds edges with nothing on them.
void add_empty(Edges& e, const std::vector<int>& peers) {
  e.peers.insert(e.peers.end(), peers.begin(), peers.end());
  e.counts.resize(e.peers.size(), 0);
  e.places.resize(e.peers.size(), 0);
  e.types.resize(e.peers.size(), MPI_BYTE);
}

/// Collective. MPICH 4.0 loses messages, or crashes, where a rank has not as many edges out as in (its issue 6233). If
/// there is such a rank, each edge gets one back.
void even_out(MPI_Comm comm, Edges& sends, Edges& receives) {
  int uneven = sends.peers.size() != receives.peers.size();
  check(MPI_Allreduce(MPI_IN_PLACE, &uneven, 1, MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
  if (!uneven) return;
  const auto destinations = sends.peers;
  add_empty(sends, receives.peers);
  add_empty(receives, destinations);
}
#endif

/// The ranks of a communicator without its process grid, if it has one. Of one that has, Open MPI 5.0 makes graph
/// communicators that are broken (its issue 14438); others take it as it is.
class GraphParent : device::NonCopyable {
 public:
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
  explicit GraphParent(MPI_Comm comm) {
    MPI_Group ranks = MPI_GROUP_NULL;
    check(MPI_Comm_group(comm, &ranks), "MPI_Comm_group");
    check(MPI_Comm_create(comm, ranks, &comm_), "MPI_Comm_create");
    check(MPI_Group_free(&ranks), "MPI_Group_free");
  }
  /// Collective, unless an exception is passing.
  ~GraphParent() {
    if (!ends_alone(false)) check_or_terminate(MPI_Comm_free(&comm_), "MPI_Comm_free");
  }
#else
  explicit GraphParent(MPI_Comm comm) : comm_(comm) {}
#endif
  MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

class Neighborhood final : public MpiPlan {
 public:
  Neighborhood(const BackendContext& context, MessageSet messages)
      : MpiPlan(context, messages.label), messages_(std::move(messages)), sends_(edges(messages_.sends)),
        receives_(edges(messages_.receives)) {
#ifdef MPICH_VERSION
    even_out(context.comm, sends_, receives_);
#endif
    const GraphParent parent(context.comm);
    check(MPI_Dist_graph_create_adjacent(parent.get(), static_cast<int>(receives_.peers.size()), receives_.peers.data(),
                                         MPI_UNWEIGHTED, static_cast<int>(sends_.peers.size()), sends_.peers.data(),
                                         MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph_),
          "MPI_Dist_graph_create_adjacent");
    check(MPI_Comm_set_errhandler(graph_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }

  /// Collective, unless this rank ends alone.
  ~Neighborhood() override {
    if (ends_alone()) return;
    check_or_terminate(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
    check_or_terminate(MPI_Comm_free(&graph_), "MPI_Comm_free");
  }

  void start() override {
    const int code = MPI_Ineighbor_alltoallw(MPI_BOTTOM, sends_.counts.data(), sends_.places.data(),
                                             sends_.types.data(), MPI_BOTTOM, receives_.counts.data(),
                                             receives_.places.data(), receives_.types.data(), graph_, &request_);
    check_step(code, call);
  }

  void finish() override { check_step(MPI_Wait(&request_, MPI_STATUS_IGNORE), call); }

  bool test() override {
    int done = 0;
    check_step(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), call);
    return done != 0;
  }

  std::string awaited() const override {
    return fmt::format("one of its neighbours: it receives from ranks {} and sends to ranks {}",
                       fmt::join(receives_.peers, ", "), fmt::join(sends_.peers, ", "));
  }

 private:
  static constexpr const char* call = "MPI_Ineighbor_alltoallw"; ///< for errors

  MessageSet messages_; // owns the datatypes
  Edges sends_;
  Edges receives_;
  MPI_Comm graph_ = MPI_COMM_NULL;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

} // namespace

std::unique_ptr<Plan> make_neighborhood(const BackendContext& context, MessageSet messages) {
  return std::make_unique<Neighborhood>(context, std::move(messages));
}

} // namespace kontor::comm::mpi
