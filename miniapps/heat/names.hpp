// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/field.hpp"
#include "stepping/device.hpp"
#include "stepping/norm.hpp"

#include <type_traits>

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

/// Calls call(dimensions, sourced, norm), each as a constant of its type.
template <class Call>
auto with_constants(int dimensions, bool sourced, Norm norm, const Call& call) {
  const auto with_norm = [&](auto of_space, auto of_source) {
    switch (norm) {
    case Norm::max: return call(of_space, of_source, std::integral_constant<Norm, Norm::max>());
    case Norm::l2: return call(of_space, of_source, std::integral_constant<Norm, Norm::l2>());
    case Norm::none: break;
    }
    return call(of_space, of_source, std::integral_constant<Norm, Norm::none>());
  };
  const auto with_source = [&](auto of_space) {
    return sourced ? with_norm(of_space, std::true_type()) : with_norm(of_space, std::false_type());
  };
  return dimensions == 3 ? with_source(std::integral_constant<int, 3>())
                         : with_source(std::integral_constant<int, 2>());
}

} // namespace kontor::heat
