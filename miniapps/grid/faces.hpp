// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "grid/block.hpp"

#include <kontor/config/expression.hpp>
#include <kontor/config/visitor.hpp>

#include <algorithm>
#include <span>
#include <string_view>

/// What a deck says about the faces of a box.
namespace kontor::grid {

/// The keys of the faces, in the order of face numbers.
inline constexpr std::array<std::string_view, face_count> face_names{"x_min", "x_max", "y_min",
                                                                     "y_max", "z_min", "z_max"};

/// A condition on one face. Condition is an enum of the app's; its value 0 is the default of a deck.
template <class Condition>
struct Face {
  Condition condition{};
  config::Expression value{"0"}; ///< of the condition, where it takes one
};

template <class Condition>
using Faces = std::array<Face<Condition>, face_count>;

/// Names the keys of the faces: `periodic`, or `{dirichlet: "sin(pi*y)"}`.
template <class Condition>
void describe_faces(config::Visitor& v, Faces<Condition>& faces,
                    std::span<const config::Tagged<std::type_identity_t<Condition>>> conditions,
                    config::Visitor::Names variables, std::string_view help) {
  for (std::size_t face = 0; face < faces.size(); ++face)
    v.tagged<Condition>(face_names[face], faces[face].condition, faces[face].value, conditions, variables, help);
}

/// Whether a face of the first `dimensions` axes has this condition.
template <class Condition>
bool any_face(const Faces<Condition>& faces, int dimensions, std::type_identity_t<Condition> condition) {
  return std::any_of(faces.begin(), faces.begin() + 2 * dimensions,
                     [&](const auto& face) { return face.condition == condition; });
}

} // namespace kontor::grid
