// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rank 0 receives a table from every other rank, whoever comes first, without knowing its extents.
#include "../guarded.hpp"
#include "table.hpp"

using namespace kontor::comm;

bool run(const Communicator& comm) {
  if (comm.rank() > 0) {
    send_with_extents(comm, table_of(comm.rank()), 0);
    return true;
  }
  bool right = true;
  std::size_t total = 0;
  for (int i = 1; i < comm.size(); ++i) {
    const Rows rows = recv_with_extents<Rows>(comm, any_source);
    right = right && is_right(rows);
    total += rows.size();
  }
  std::printf("receive_unknown: %zu numbers from %d ranks, %s\n", total, comm.size() - 1, right ? "right" : "wrong");
  return right;
}

int main(int argc, char** argv) { return guarded(argc, argv, run); }
