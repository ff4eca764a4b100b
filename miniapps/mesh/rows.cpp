// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mesh/rows.hpp"

namespace kontor::mesh {

output::Hexahedra described(const LocalMesh& mesh) {
  return {static_cast<std::uint64_t>(mesh.all_nodes), static_cast<std::uint64_t>(mesh.all_elements),
          "/mesh/coordinates", "/mesh/connectivity"};
}

output::Hexahedra write_mesh(output::File& file, const LocalMesh& mesh, const comm::Communicator& comm) {
  write_rows(file, "/mesh/coordinates", nodes_of(mesh, comm), [&](LocalIndex n) { return mesh.place[n].place; });
  const auto elements = elements_of(mesh, comm);
  const auto share = write_rows(file, "/mesh/connectivity", elements, [&](LocalIndex e) {
    std::array<std::int64_t, 8> numbers;
    std::ranges::transform(mesh.corner[e], numbers.begin(), [&](LocalIndex n) { return mesh.node[n]; });
    return numbers;
  });
  // The same as VTK wants it, without a second dimension.
  const auto block = elements.share(8);
  file.dataset("/VTKHDF/Connectivity", {{8 * block.global[0]}, {8 * block.offset[0]}, {8 * block.extent[0]}},
               share.empty() ? nullptr : share.front().data());
  return described(mesh);
}

} // namespace kontor::mesh
