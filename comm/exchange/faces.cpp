// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/comm/communicator.hpp>
#include <kontor/comm/error.hpp>

#include <fmt/format.h>

namespace kontor::comm::detail {

void check_faces(const Communicator& grid, const Buffer& field, int width) {
  const auto& shape = field.shape;
  if (grid.dims().size() != static_cast<std::size_t>(shape.rank))
    throw CallError(fmt::format("add_faces: View '{}' has {} dimensions and the process grid has {}", field.label,
                                shape.rank, grid.dims().size()));
  for (int axis = 0; axis < shape.rank; ++axis)
    if (width < 1 || shape.extents[axis] < 3 * std::int64_t{width})
      throw CallError(
          fmt::format("add_faces: View '{}' has {} cells along dimension {}; with ghosts of width {} it needs "
                      "{} or more",
                      field.label, shape.extents[axis], axis, width, width < 1 ? 1 : 3 * width));
}

} // namespace kontor::comm::detail
