// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kontor::output {

/// Local. Values of a dataset at global indices, slowest dimension first, by HDF5's own reader alone: no code of this
/// library that writes or reads fields takes part. Throws Error if there is no such dataset or index.
std::vector<double> values_at(const std::filesystem::path& file, const std::string& dataset,
                              const std::vector<std::vector<std::uint64_t>>& indices);

} // namespace kontor::output
