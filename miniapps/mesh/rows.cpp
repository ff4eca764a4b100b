// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mesh/rows.hpp"

namespace kontor::mesh {

output::Hexahedra described(const LocalMesh& mesh) {
  return {static_cast<std::uint64_t>(mesh.all_nodes), static_cast<std::uint64_t>(mesh.all_elements),
          "/mesh/coordinates", "/mesh/connectivity"};
}

output::Hexahedra write_mesh(output::File& file, const LocalMesh& mesh, const comm::Communicator& comm) {
  write_rows(file, "/mesh/coordinates", nodes_of(mesh, comm), [&](LocalIndex n) { return mesh.place[n].place; });
  write_rows(file, "/mesh/connectivity", elements_of(mesh, comm), [&](LocalIndex e) {
    std::array<std::int64_t, 8> numbers;
    std::ranges::transform(mesh.corner[e], numbers.begin(), [&](LocalIndex n) { return mesh.node[n]; });
    return numbers;
  });
  return described(mesh);
}

} // namespace kontor::mesh
