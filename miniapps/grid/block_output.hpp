// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/field.hpp"
#include "grid/view_output.hpp"

#include <kontor/output/image.hpp>

/// Blocks of a grid as parts of datasets, and their fields into the output file and back.
namespace kontor::grid {

/// Local. The own cells or points in a dataset of all: (nx), (ny, nx) or (nz, ny, nx).
output::Block block_in_file(const Block&);

/// Local. The whole grid as visualisation programs see it.
output::Image image_of(const Block&);

/// Local. A dataset of values at the cells or points.
template <class T>
output::MeshField mesh_field(const Block& block, const std::string& name, const std::string& dataset) {
  const bool in_cells = block.centering == Centering::cells;
  return {name, dataset, output::scalar_of<T>, in_cells ? output::Centering::cells : output::Centering::points};
}

/// Collective over the file's communicator. The own values of a field as a dataset; waits for kernels that are running.
template <class T>
void write_field(output::File& file, const std::string& dataset, const Block& block, const FieldView<T>& field) {
  write_view(file, dataset, block_in_file(block), view_of(field, block, block.all()));
}

/// Collective over the reader's communicator. The own values of a field = those of the dataset, whichever ranks have
/// written it; its ghosts stay. Valid on return.
template <class T>
void read_field(const output::Reader& reader, const std::string& dataset, const Block& block,
                const FieldView<T>& field) {
  read_view(reader, dataset, block_in_file(block), view_of(field, block, block.all()));
}

} // namespace kontor::grid
