// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace kontor::cg {

/// CRC-32 as gzip and zlib have it (ISO 3309), of bytes that come one buffer after the other.
class Crc32 {
 public:
  void add(const char* data, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i)
      rest_ = table[(rest_ ^ static_cast<unsigned char>(data[i])) & 0xff] ^ rest_ >> 8;
  }
  std::uint32_t value() const { return ~rest_; }

 private:
  static constexpr auto table = [] {
    std::array<std::uint32_t, 256> of_bytes{};
    for (std::uint32_t byte = 0; byte < of_bytes.size(); ++byte) {
      auto rest = byte;
      for (int bit = 0; bit < 8; ++bit) rest = (rest & 1) != 0 ? 0xedb88320 ^ rest >> 1 : rest >> 1;
      of_bytes[byte] = rest;
    }
    return of_bytes;
  }();
  std::uint32_t rest_ = ~std::uint32_t{0};
};

} // namespace kontor::cg
