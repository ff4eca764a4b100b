// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "heat/kernels/tile_pass.hpp"

namespace kontor::heat {

template void sweep_tiles(const TileInstance&, const SweepInput<float>&, const FieldView<float>&, const Block&,
                          const Box&, int, int);
template void sweep_tiles(const TileInstance&, const SweepInput<double>&, const FieldView<double>&, const Block&,
                          const Box&, int, int);

} // namespace kontor::heat
