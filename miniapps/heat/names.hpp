// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/field.hpp"
#include "stepping/device.hpp"
#include "stepping/norm.hpp"

/// What heat takes from the libraries that mini-apps share, in its own namespace.
namespace kontor::heat {

using grid::Block;
using grid::BlockView;
using grid::Box;
using grid::FieldView;
using grid::HostBlockView;
using grid::Index3;
using grid::Padding;

using stepping::joined;
using stepping::Norm;
using stepping::on_device;

} // namespace kontor::heat
