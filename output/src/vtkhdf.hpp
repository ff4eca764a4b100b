// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "receipt.hpp"

#include <kontor/output/image.hpp>

#include <vector>

namespace kontor::output {

/// Writes the group /VTKHDF, as File::describe() says.
void write_vtkhdf(hid_t file, const Mesh& mesh, const std::vector<MeshField>& fields, std::vector<Receipt>& receipts);

} // namespace kontor::output
