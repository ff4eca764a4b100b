// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/mpi_check.hpp>
#include <kontor/output/file.hpp>
#include <kontor/output/reader.hpp>

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

/// Parts of an app's state in a checkpoint that are no fields (grid/view_output.hpp).
namespace kontor::miniapp {

/// Collective over comm, which is the file's. Numbers that all ranks have, such as a history, exact to the bit; rank 0
/// writes them. Of none nothing is written. Throws output::Error, and comm::Error if MPI reports one.
template <output::FieldScalar T>
void write_values(output::File& file, MPI_Comm comm, const std::string& name, const std::vector<T>& values) {
  if (values.empty()) return;
  int rank = 0;
  comm::mpi::check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  const std::uint64_t all = values.size(), mine = rank == 0 ? all : 0;
  file.dataset(name, {{all}, {rank == 0 ? 0 : all}, {mine}}, values.data());
}

/// Collective over the reader's communicator. What write_values() wrote, on all ranks. Throws output::Error.
template <output::FieldScalar T>
std::vector<T> read_values(const output::Reader& reader, const std::string& name) {
  if (!reader.has(name)) return {};
  const auto extents = reader.info(name).extents;
  if (extents.size() != 1)
    throw output::Error("cannot read " + reader.path().string() + ": " + name + " is not a list of numbers");
  std::vector<T> values(extents.front());
  reader.read(name, {extents, {0}, extents}, values.data());
  return values;
}

} // namespace kontor::miniapp
