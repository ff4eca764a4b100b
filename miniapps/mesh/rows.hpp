// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mesh/local_mesh.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/output/file.hpp>
#include <kontor/output/image.hpp>
#include <kontor/output/reader.hpp>

/// Values of nodes and elements in files, in rows by their numbers, whichever ranks have them.
namespace kontor::mesh {

/// The nodes of a mesh, or its elements: each is given by one rank.
struct Rows {
  const comm::Communicator& comm;
  Directory directory;
  const std::vector<GlobalIndex>& numbers; ///< of those that this rank has
  const std::vector<bool>& given;          ///< by this rank

  /// This rank's share in a dataset of rows of n numbers.
  output::Block share(std::uint64_t n) const {
    const auto count = static_cast<std::uint64_t>(directory.count),
               first = static_cast<std::uint64_t>(directory.first(comm.rank())),
               own = static_cast<std::uint64_t>(directory.size(comm.rank()));
    if (n == 1) return {{count}, {first}, {own}};
    return {{count, n}, {first, 0}, {own, n}};
  }
};
inline Rows nodes_of(const LocalMesh& mesh, const comm::Communicator& comm) {
  return {comm, {mesh.all_nodes, comm.size()}, mesh.node, mesh.counted};
}
inline Rows elements_of(const LocalMesh& mesh, const comm::Communicator& comm) {
  return {comm, {mesh.all_elements, comm.size()}, mesh.element, mesh.own};
}

/// Collective. A dataset of row(local number), a std::array of numbers.
template <class Row>
void write_rows(output::File& file, const std::string& name, const Rows& rows, const Row& row) {
  std::vector<Numbered<decltype(row(0))>> records;
  for (std::size_t i = 0; i < rows.numbers.size(); ++i)
    if (rows.given[i]) records.push_back({rows.numbers[i], row(static_cast<LocalIndex>(i))});
  const auto share = hand_in(rows.comm, rows.directory, records);
  file.dataset(name, rows.share(row(0).size()), share.empty() ? nullptr : share.front().data());
}

/// Collective. Rows of n numbers, as written; those of this rank's nodes or elements.
template <class S, std::size_t n>
std::vector<std::array<S, n>> read_rows(const output::Reader& reader, const std::string& name, const Rows& rows) {
  std::vector<std::array<S, n>> share(static_cast<std::size_t>(rows.directory.size(rows.comm.rank())));
  reader.read(name, rows.share(n), share.empty() ? nullptr : share.front().data());
  return look_up(rows.comm, rows.directory, rows.numbers, share);
}

/// Local. n numbers of a row of a View on the host.
template <std::size_t n, class View>
auto row_of(const View& view, LocalIndex row, int first = 0) {
  std::array<typename View::non_const_value_type, n> numbers;
  for (std::size_t i = 0; i < n; ++i) numbers[i] = view(row, first + static_cast<int>(i));
  return numbers;
}

/// Collective. Writes /mesh; describes it.
output::Hexahedra write_mesh(output::File&, const LocalMesh&, const comm::Communicator&);

/// Local. The description alone.
output::Hexahedra described(const LocalMesh&);

} // namespace kontor::mesh
