// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Meshes with mistakes at the seam:
//
//   corner   the last node that two ranks have in common is forgotten in their exchange
//   twice    a rank has its first element a second time, so that its forces count twice
#include "mesh/local_mesh.hpp"
#include "mutation.hpp"

using Mesh = kontor::mesh::LocalMesh;

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names
KONTOR_WRAPPED(Mesh, mesh, "_ZN6kontor4mesh9make_meshERKNS0_7OptionsERKNS_4comm12CommunicatorENS0_4SeamE",
               const kontor::mesh::Options&, const kontor::comm::Communicator&, kontor::mesh::Seam);
// NOLINTEND(bugprone-reserved-identifier)

Mesh wrong_mesh(const kontor::mesh::Options& options, const kontor::comm::Communicator& comm, kontor::mesh::Seam seam) {
  auto mesh = real_mesh(options, comm, seam);
  if (kontor::mutations::is("corner"))
    for (auto& neighbour : mesh.neighbours)
      for (auto* list : {&neighbour.sent, &neighbour.received})
        if (!list->empty()) list->pop_back();
  if (kontor::mutations::is("twice") && mesh.elements() > 0) {
    mesh.element.push_back(mesh.element.front());
    mesh.corner.push_back(mesh.corner.front());
    mesh.own.push_back(false);
  }
  return mesh;
}
