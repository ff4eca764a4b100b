// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agree.hpp"
#include "pieces.hpp"
#include "transfer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kontor::output {

namespace {

class Type {
 public:
  Type() = default;
  explicit Type(MPI_Datatype type) : type_(type) { check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit"); }
  Type(const Type&) = delete;
  Type& operator=(Type&& other) noexcept {
    std::swap(type_, other.type_);
    return *this;
  }
  ~Type() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }
  operator MPI_Datatype() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

Type value_type(std::size_t bytes) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type), "MPI_Type_contiguous");
  return Type(type);
}

/// The block's place in the array; of an empty block, anything.
Type block_type(const Block& block, MPI_Datatype value) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (elements(block.extent) == 0) {
    check_mpi(MPI_Type_dup(value, &type), "MPI_Type_dup");
    return Type(type);
  }
  const auto ints = [](const std::vector<std::uint64_t>& values) {
    return std::vector<int>(values.begin(), values.end());
  };
  check_mpi(MPI_Type_create_subarray(static_cast<int>(block.global.size()), ints(block.global).data(),
                                     ints(block.extent).data(), ints(block.offset).data(), MPI_ORDER_C, value,
                                     &type),
            "MPI_Type_create_subarray");
  return Type(type);
}

void write_at(MPI_File file, std::uint64_t first, const void* data, int count, MPI_Datatype value) {
  MPI_Status status;
  check_mpi(MPI_File_write_at_all(file, static_cast<MPI_Offset>(first), data, count, value, &status),
            "MPI_File_write_at_all");
  int written = 0;
  check_mpi(MPI_Get_count(&status, value, &written), "MPI_Get_count");
  if (written != count)
    throw Error(fmt::format("MPI_File_write_at_all wrote {} of {} values", written, count));
}

} // namespace

// The values go to where HDF5 has put the dataset, but not through HDF5: when a write fails on one rank, HDF5
// (1.10.8) tries to write its own data again while closing, gives up there, and leaves the others in a
// barrier.
void write_parallel(MPI_Comm comm, const std::filesystem::path& path, std::uint64_t address,
                    const Field& field) {
  const std::size_t size = H5Tget_size(field.type);
  const std::uint64_t count = elements(field.block.extent);
  const std::uint64_t round = parallel_bytes / size;
  std::uint64_t most = 0;
  check_mpi(MPI_Allreduce(&count, &most, 1, MPI_UINT64_T, MPI_MAX, comm), "MPI_Allreduce");

  Type value, place;
  collectively(comm, [&] {
    value = value_type(size);
    place = block_type(field.block, value);
  });
  MPI_File file = MPI_FILE_NULL;
  collectively(comm, [&] {
    check_mpi(MPI_File_open(comm, path.c_str(), MPI_MODE_WRONLY, MPI_INFO_NULL, &file), "MPI_File_open");
  });
  std::string failure;
  try {
    collectively(comm, [&] {
      check_mpi(
          MPI_File_set_view(file, static_cast<MPI_Offset>(address), value, place, "native", MPI_INFO_NULL),
          "MPI_File_set_view");
    });
    // Equally many rounds on all ranks; those with fewer values than others end with empty ones.
    for (std::uint64_t first = 0; first < most; first += round)
      collectively(comm, [&] {
        const std::uint64_t from = std::min(first, count);
        write_at(file, from, static_cast<const std::byte*>(field.data) + from * size,
                 static_cast<int>(std::min(round, count - from)), value);
      });
  } catch (const Error& error) { // on every rank
    failure = error.what();
  }
  collectively(comm, [&] { // an earlier failure is the one to tell
    const int closed = MPI_File_close(&file);
    if (!failure.empty()) throw Error(failure);
    check_mpi(closed, "MPI_File_close");
  });
}

} // namespace kontor::output
