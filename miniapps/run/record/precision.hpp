// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/config/visitor.hpp>

#include <array>
#include <type_traits>

namespace kontor::miniapp {

/// The scalar type that a deck asks for.
enum class Precision { single_precision, double_precision };

/// The words of decks.
inline constexpr std::array<config::Named<Precision>, 2> precision_names{
    {{"float", Precision::single_precision}, {"double", Precision::double_precision}}};

/// The word for float or double.
template <class T>
inline constexpr const char* name_of_scalar = std::is_same_v<T, float> ? "float" : "double";

/// work(T()) with the scalar type.
template <class Work>
auto with_scalar(Precision precision, const Work& work) {
  return precision == Precision::single_precision ? work(float()) : work(double());
}

} // namespace kontor::miniapp
