// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mesh/rows.hpp"

#include <algorithm>

namespace kontor::mesh {

output::Hexahedra described(const LocalMesh& mesh) {
  return {static_cast<std::uint64_t>(mesh.all_nodes), static_cast<std::uint64_t>(mesh.all_elements),
          "/mesh/coordinates", "/mesh/connectivity"};
}

output::Hexahedra write_mesh(output::File& file, const LocalMesh& mesh, const comm::Communicator& comm) {
  const Directory nodes{mesh.all_nodes, comm.size()}, elements{mesh.all_elements, comm.size()};
  write_rows<double, 3>(file, "/mesh/coordinates", comm, nodes, mesh.node, mesh.counted,
                        [&](LocalIndex n) { return mesh.place[n].place; });
  const auto share = write_rows<std::int64_t, 8>(
      file, "/mesh/connectivity", comm, elements, mesh.element, mesh.own, [&](LocalIndex e) {
        std::array<std::int64_t, 8> numbers;
        std::ranges::transform(mesh.corner[e], numbers.begin(), [&](LocalIndex n) { return mesh.node[n]; });
        return numbers;
      });
  // The same as VTK wants it, without a second dimension.
  const auto block = rows_of<8>(elements, comm.rank());
  file.dataset("/VTKHDF/Connectivity", {{8 * block.global[0]}, {8 * block.offset[0]}, {8 * block.extent[0]}},
               share.empty() ? nullptr : share.front().data());
  return described(mesh);
}

} // namespace kontor::mesh
