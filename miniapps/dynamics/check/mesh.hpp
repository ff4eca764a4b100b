// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mesh/local_mesh.hpp"

#include <random>

/// A mesh again from the deck's numbers and formulas, or by a second reader of its file, at a sample of places.
namespace kontor::dynamics {

/// Nodes and elements of a rank that are compared.
struct Sample {
  std::vector<mesh::LocalIndex> nodes, elements;
};

/// Local. Random ones; of the nodes that are held, shared with other ranks, at the surface and inside so many each.
Sample sample_of(const mesh::LocalMesh&, std::int64_t most_of_a_kind, std::mt19937_64&);

/// Collective. How many numbers of corners, places and marks of held nodes differ from the deck, and by how much the
/// numbers of elements, nodes and held nodes do.
double different_from_deck(const mesh::Options&, const comm::Communicator&, const mesh::LocalMesh&, const Sample&);

} // namespace kontor::dynamics
