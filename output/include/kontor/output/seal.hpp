// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/output/error.hpp>

#include <mpi.h>

#include <filesystem>
#include <string>

namespace kontor::output {

/// What of a file is compared with its checksums: all bytes, or those alone that HDF5 interprets, which are few.
enum class Compared { all, structure };

/// Collective over comm; every rank must see the file. Reads a file that File has written, each rank a part, and
/// compares it with its checksums. Nothing in it is interpreted before. Throws Error on all ranks, which says what is
/// wrong: it cannot be read, is cut off, or which of its bytes are not those that were written. A file without
/// checksums is an Error for all bytes, and another program's for the structure, which is then not compared.
void check_seal(MPI_Comm comm, const std::filesystem::path& path, Compared compared = Compared::all);

/// Collective over comm; every rank must see the file. What is in a file in a few words, by which files of other
/// contents differ almost certainly: "40 bytes, checksum 0123456789abcdef". Each rank reads a part. Throws Error on all
/// ranks if it cannot be read, or is no regular file.
std::string contents_of(MPI_Comm comm, const std::filesystem::path& path);

} // namespace kontor::output
