// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "run/record/result.hpp"

#include <kontor/comm/communicator.hpp>
#include <kontor/output/image.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kontor::miniapp {

/// A value of the fields that were verified, and where the file must have it.
struct FileValue {
  std::string dataset;
  std::vector<std::uint64_t> index; ///< global, slowest dimension first
  double value = 0;
  std::vector<double> at = {}; ///< x, y, z by the deck; empty: not compared with the file's mesh
};

/// Collective; valid at rank 0. The values of all ranks: of each rank the first few, fewer the more ranks there are.
std::vector<FileValue> gather(const comm::Communicator&, std::vector<FileValue> mine);

/// Local. Places of values against those of the image that the file describes.
Verification compare_with_image(const output::Image&, const std::vector<output::MeshField>&,
                                const std::vector<FileValue>&);

/// Local. What compare_with_file() will have judged, in words.
std::string words_of(const std::vector<FileValue>&);

/// Local. Reads values back and compares them bit for bit.
Verification compare_with_file(const std::filesystem::path&, const std::vector<FileValue>&);

} // namespace kontor::miniapp
