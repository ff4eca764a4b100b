// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mesh/local_mesh.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/output/file.hpp>
#include <kontor/output/image.hpp>
#include <kontor/output/reader.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

/// Values of nodes and elements in files, in rows by their numbers, whichever ranks have them.
namespace kontor::mesh {

/// Rows of n numbers of this rank's share in a dataset of all.
template <std::size_t n>
output::Block rows_of(const Directory& directory, int rank) {
  const auto first = static_cast<std::uint64_t>(directory.first(rank)),
             count = static_cast<std::uint64_t>(directory.size(rank));
  if constexpr (n == 1) return {{static_cast<std::uint64_t>(directory.count)}, {first}, {count}};
  return {{static_cast<std::uint64_t>(directory.count), n}, {first, 0}, {count, n}};
}

/// Collective. A dataset of row(local number) of nodes or elements, each given by one rank. Returns this
/// rank's share of the rows.
template <class S, std::size_t n, class Row>
std::vector<std::array<S, n>> write_rows(output::File& file, const std::string& name, const comm::Communicator& comm,
                                         const Directory& directory, const std::vector<GlobalIndex>& numbers,
                                         const std::vector<bool>& given, const Row& row) {
  std::vector<Numbered<std::array<S, n>>> records;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (given[i]) records.push_back({numbers[i], row(static_cast<LocalIndex>(i))});
  const auto share = hand_in(comm, directory, records);
  file.dataset(name, rows_of<n>(directory, comm.rank()), share.empty() ? nullptr : share.front().data());
  return share;
}

template <class S, std::size_t n>
std::vector<std::array<S, n>> read_rows(const output::Reader& reader, const std::string& name,
                                        const comm::Communicator& comm, const Directory& directory,
                                        const std::vector<GlobalIndex>& numbers) {
  std::vector<std::array<S, n>> share(static_cast<std::size_t>(directory.size(comm.rank())));
  reader.read(name, rows_of<n>(directory, comm.rank()), share.empty() ? nullptr : share.front().data());
  return look_up(comm, directory, numbers, share);
}

/// Collective. Writes /mesh and what /VTKHDF needs of it; describes the mesh.
output::Hexahedra write_mesh(output::File&, const LocalMesh&, const comm::Communicator&);

/// Local. The description alone.
output::Hexahedra described(const LocalMesh&);

} // namespace kontor::mesh
