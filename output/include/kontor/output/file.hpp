// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/output/block.hpp>
#include <kontor/output/error.hpp>
#include <kontor/output/image.hpp>

#include <mpi.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kontor::output {

/// The version of the HDF5 library in use, such as "1.10.8".
std::string hdf5_version();

class Reader;

/// An HDF5 file, and text files that describe it (its sidecars), which appear under their names only when all are
/// complete and checked. Every rank writes its own block at the place that HDF5 gave the dataset: all must see the
/// file, and a serial HDF5 library will do.
///
/// Every member function is collective over the communicator, with the same arguments on all ranks unless stated, and
/// throws the same Error on every rank. After an Error the file cannot be committed.
class File {
 public:
  /// Collective over comm. Creates an empty temporary file, `<name>.<8 digits>.tmp`, beside each of the names, and
  /// removes those that dead processes have left. A file that is there is untouched until commit(); a link is replaced
  /// then, not what it links to. Throws Error if a name cannot be replaced; nothing is left then. `chosen_by`: the key
  /// or option by which the user can name another file, for that message.
  File(MPI_Comm comm, std::filesystem::path path, std::vector<std::filesystem::path> sidecars = {},
       const std::string& chosen_by = "output.file or -o");

  /// Local. Compares instead of writing: datasets and records with those that `reader` has; both must outlive this.
  /// Everything else is ignored, and there is nothing to commit.
  File(MPI_Comm comm, const Reader& reader);

  /// Collective. Of a file that compares: what differs, or is not in the reader's file.
  std::vector<std::string> differences() const;

  /// Without a commit() before: closes and removes the temporary files. Waits for no rank when an exception is passing.
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// Writes a JSON object as text, a dataset of one string in UTF-8, at `name`; rank 0's `tree` counts. Numbers that
  /// are not finite become null.
  void record(const std::string& name, const nlohmann::ordered_json& tree);

  /// Writes a dataset, each rank its block; the blocks fill the array. `data` are this rank's values in host memory,
  /// contiguous in C order. Block offsets, extents and data differ between ranks. Missing groups on the way to `name`
  /// are made.
  template <FieldScalar T>
  void dataset(const std::string& name, const Block& block, const T* data);

  /// The same, of values that lie elsewhere: `fetch` copies them, box by box of the block, about 16 MiB at a time, each
  /// value once. An exception of `fetch` is an Error on all ranks.
  template <FieldScalar T>
  void dataset(const std::string& name, const Block& block, const Fetch<T>& fetch);

  /// Describes datasets of the file as fields on a mesh in the VTKHDF layout, at several times if there are several
  /// snapshots, by virtual datasets: nothing is copied. The extents of each are extents(mesh, field), and each snapshot
  /// has the fields of the last. Cells of fewer than three dimensions become one layer, as thick as they are wide.
  void describe(const Mesh& mesh, const std::vector<Snapshot>& snapshots);

  /// Writes the sidecar `path`, one of those given to the constructor; rank 0's `text` counts. A sidecar that is not
  /// written is left as it was.
  void sidecar(const std::filesystem::path& path, const std::string& text);

  /// Closes the file, appends checksums of its bytes (seal.hpp), syncs it, and gives it and the sidecars their names:
  /// sidecars of an earlier file are put away first, so that none is ever found beside a file that it does not
  /// describe. Returns the names, on rank 0. On an Error the files that were there before are intact, or its text says
  /// which are new. `approve` is called on rank 0 with the name of the closed temporary file; where it returns false no
  /// file is replaced and no name is returned.
  std::vector<std::filesystem::path> commit(const std::function<bool(const std::filesystem::path&)>& approve = {});

  /// The same under another name of the same folder. So files of many names, of which one process writes one at a time,
  /// have temporaries of one name, and a later process finds those that are left.
  std::vector<std::filesystem::path> commit_as(const std::filesystem::path& name);

 private:
  class Impl;
  class Comparison;
  std::unique_ptr<Impl> impl_; ///< null where it compares
  std::unique_ptr<Comparison> comparison_;
};

} // namespace kontor::output
