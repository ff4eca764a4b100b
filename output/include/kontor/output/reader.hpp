// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/output/block.hpp>
#include <kontor/output/error.hpp>

#include <mpi.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace kontor::output {

/// What a dataset is.
struct DatasetInfo {
  std::vector<std::uint64_t> extents; ///< slowest dimension first; none: a single value
  std::string type;                   ///< as name_of(Scalar), or another name such as "string"
};

/// An HDF5 file that exists, opened for reading; any program may have written it.
///
/// Every member function is collective over the communicator, with the same arguments on all ranks unless stated, and
/// throws the same Error on every rank; the reader can be used after that. An Error says which file and object it is
/// about, what was found and what was wanted. The file is never changed or locked, and no other file is read, whatever
/// it names: external links lead nowhere, and datasets whose values are stored in other files are refused. A damaged
/// file may crash the HDF5 library, unless its seal has been checked (check_seal()).
class Reader {
 public:
  /// Collective over comm; every rank opens the file, and must see it. Throws Error if it is not there, no HDF5 file,
  /// cut off or damaged.
  Reader(MPI_Comm comm, std::filesystem::path path);
  /// Waits for no other rank when an exception is passing.
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// Local. The file that it was made for.
  const std::filesystem::path& path() const;

  /// Whether there is a group or dataset of that path.
  bool has(const std::string& object) const;

  /// What File::record() has written there. Throws Error if it is no text of JSON.
  nlohmann::ordered_json record(const std::string& name) const;

  /// Throws Error if there is no such dataset, or if it claims more bytes than the file can hold.
  DatasetInfo info(const std::string& dataset) const;

  /// Reads this rank's block of a dataset; blocks may overlap and leave gaps. `block.global` is what the dataset's
  /// extents must be. `data` is where its values go in host memory, contiguous in C order. Block offsets, extents and
  /// data differ between ranks. Throws Error, before anything is read, if the dataset is not of these extents or its
  /// scalars are not T (of either byte order).
  template <FieldScalar T>
  void read(const std::string& dataset, const Block& block, T* data) const;

  /// The same, to where `store` puts it, box by box of the block, about 16 MiB at a time. An exception of `store` is an
  /// Error on all ranks.
  template <FieldScalar T>
  void read(const std::string& dataset, const Block& block, const Store<T>& store) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace kontor::output
