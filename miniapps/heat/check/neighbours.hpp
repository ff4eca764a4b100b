// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/functions.hpp"
#include "heat/check/terms.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/comm/mpi_check.hpp>

#include <mpi.h>

#include <stdexcept>

/// The ghosts that a field is judged with, by plain MPI: nothing of it is shared with the halo of the sweeps.
namespace kontor::heat {

namespace detail {

/// The layer of own cells inside a face, or that of ghosts outside.
inline Box layer_at(const Block& block, int face, bool outside) {
  Box box{{}, block.extents};
  const int axis = face / 2;
  const auto first = face % 2 == 0 ? (outside ? -1 : 0) : block.extents[axis] - (outside ? 0 : 1);
  box.begin[axis] = first;
  box.end[axis] = first + 1;
  return box;
}

/// Collective. The rank that has the cells beyond each face of this rank's block, round periodic axes.
inline std::array<int, 6> ranks_beyond(const comm::Communicator& comm, const Options& options, const Block& block) {
  using Indices = std::array<Index3, 2>; // of the first own cell, and how many there are
  const Indices mine{block.offset, block.extents};
  std::vector<Indices> all(static_cast<std::size_t>(comm.size()));
  comm::mpi::check(MPI_Allgather(&mine, 6, MPI_INT64_T, all.data(), 6, MPI_INT64_T, comm.native()), "MPI_Allgather");
  std::array<int, 6> ranks;
  ranks.fill(comm::no_rank);
  for (int face = 0; face < 2 * block.dimensions; ++face) {
    auto cell = block.offset;
    auto& index = cell[face / 2];
    index += face % 2 == 0 ? -1 : block.extents[face / 2];
    const auto cells = block.global[face / 2];
    if (options.faces[face].condition == Condition::periodic) index = (index + cells) % cells;
    for (int rank = 0; rank < comm.size(); ++rank) {
      bool has = true;
      for (int axis = 0; axis < 3; ++axis) {
        const auto& [offset, extents] = all[static_cast<std::size_t>(rank)];
        has = has && offset[axis] <= cell[axis] && cell[axis] < offset[axis] + extents[axis];
      }
      if (has) ranks[face] = rank;
    }
  }
  return ranks;
}

template <class T>
HostBlockView<T> layer_on_host(const FieldView<T>& field, const Block& block, const Box& box) {
  const auto layer = grid::view_of(field, block, box);
  const BlockView<T> packed("heat/layer", layer.extent(0), layer.extent(1), layer.extent(2));
  grid::copy_values(packed, layer);
  const HostBlockView<T> host("heat/layer on host", layer.extent(0), layer.extent(1), layer.extent(2));
  Kokkos::deep_copy(host, packed);
  return host;
}

/// A boundary face's value or slope at the centres of its cells' faces.
template <class T>
void evaluate_on_face(const Block& block, int face, const grid::DeckFunction& f, double t,
                      const HostBlockView<T>& values) {
  const int axis = face / 2;
  const auto at = [&](int a, std::int64_t index) {
    const auto cell = static_cast<double>(block.offset[a] + index);
    if (a >= block.dimensions) return 0.0;
    if (a != axis) return block.lower[a] + (cell + 0.5) * block.spacing[a];
    return block.lower[a] + static_cast<double>(face % 2 == 0 ? 0 : block.global[a]) * block.spacing[a];
  };
  const auto extent = [&](int d) { return static_cast<std::int64_t>(values.extent(d)); };
  std::vector<double> x(values.extent(2)), row(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = at(0, static_cast<std::int64_t>(i));
  for (std::int64_t k = 0; k < extent(0); ++k)
    for (std::int64_t j = 0; j < extent(1); ++j) {
      f.function.evaluate(x, at(1, j), at(2, k), t, row);
      for (std::size_t i = 0; i < x.size(); ++i) values(k, j, i) = static_cast<T>(row[i]);
    }
}

} // namespace detail

/// Collective over `comm`, whose ranks are those of the block's grid; waits. The ghosts of a field as Judged wants
/// them, at time t.
template <class T>
void fill_ghosts(const comm::Communicator& comm, const Options& options, const Block& block, const Terms& terms,
                 const FieldView<T>& field, double t) {
  const auto type = std::is_same_v<T, float> ? MPI_FLOAT : MPI_DOUBLE;
  const auto ranks = detail::ranks_beyond(comm, options, block);
  std::vector<HostBlockView<T>> own, beyond;
  for (int face = 0; face < 2 * block.dimensions; ++face) {
    own.push_back(detail::layer_on_host(field, block, detail::layer_at(block, face, false)));
    const auto& inside = own.back();
    beyond.emplace_back("heat/layer beyond", inside.extent(0), inside.extent(1), inside.extent(2));
    if (terms.boundary(face))
      detail::evaluate_on_face(block, face, grid::DeckFunction(options.faces[face].value), t, beyond.back());
    else if (ranks[face] == comm::no_rank)
      throw std::logic_error("a block without neighbour inside the grid");
  }
  for (int face = 0; face < 2 * block.dimensions; ++face) { // its layer goes beyond the opposite face of another
    const int opposite = face % 2 == 0 ? face + 1 : face - 1;
    const auto peer = [&](int at) { return terms.boundary(at) ? MPI_PROC_NULL : ranks[at]; };
    const auto count = static_cast<int>(own[face].size());
    comm::mpi::check(MPI_Sendrecv(own[face].data(), count, type, peer(face), face, beyond[opposite].data(), count, type,
                                  peer(opposite), face, comm.native(), MPI_STATUS_IGNORE),
                     "MPI_Sendrecv");
  }
  for (int face = 0; face < 2 * block.dimensions; ++face) {
    const auto ghosts = grid::view_of(field, block, detail::layer_at(block, face, true));
    grid::copy_values(ghosts, Kokkos::create_mirror_view_and_copy(typename FieldView<T>::memory_space(),
                                                                  beyond[static_cast<std::size_t>(face)]));
  }
  device::fence(typename FieldView<T>::execution_space(), "heat/ghosts to verify with");
}

} // namespace kontor::heat
