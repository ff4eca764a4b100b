// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "box.hpp"
#include "hdf5.hpp"

#include <string>

namespace kontor::output {

/// Reads a box of a dataset to contiguous memory.
void read_box(hid_t dataset, const std::string& name, const Box& box, hid_t type, void* data);

/// The extents of a dataset; none: a single value.
Extents extents_of(hid_t dataset, const std::string& name);

} // namespace kontor::output
