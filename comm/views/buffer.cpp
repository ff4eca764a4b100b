// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <kontor/comm/views/buffer.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>

namespace kontor::comm {

std::string to_string(Scalar scalar) {
  const auto floating = [](std::uint32_t size) {
    if (size == sizeof(float)) return std::string("float");
    if (size == sizeof(double)) return std::string("double");
    return fmt::format("{}-byte floating point", size);
  };
  switch (scalar.kind) {
  case ScalarKind::signed_integer: return fmt::format("int{}", 8 * scalar.size);
  case ScalarKind::unsigned_integer: return fmt::format("uint{}", 8 * scalar.size);
  case ScalarKind::boolean: return "bool";
  case ScalarKind::floating: return floating(scalar.size);
  case ScalarKind::complex: return fmt::format("complex<{}>", floating(scalar.size / 2));
  case ScalarKind::bytes: break;
  }
  return fmt::format("{}-byte struct", scalar.size);
}

std::string extents_to_string(const Shape& shape) {
  return fmt::format("({})", fmt::join(std::span(shape.extents).first(static_cast<std::size_t>(shape.rank)), ", "));
}

} // namespace kontor::comm
