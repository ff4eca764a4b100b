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
  std::vector<std::string> extents;
  for (const auto extent : std::span(shape.extents).first(shape.rank))
    extents.push_back(extent < 0 ? "any" : fmt::format("{}", extent));
  return fmt::format("({})", fmt::join(extents, ", "));
}

} // namespace kontor::comm
