// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/output/error.hpp>

#include <mpi.h>

#include <filesystem>
#include <string>

namespace kontor::output {

/// Collective over comm; every rank must see the file. What is in a file in a few words, by which files of other
/// contents differ almost certainly: "40 bytes, checksum 0123456789abcdef". Each rank reads a part. Throws Error on all
/// ranks if it cannot be read, or is no regular file.
std::string contents_of(MPI_Comm comm, const std::filesystem::path& path);

} // namespace kontor::output
