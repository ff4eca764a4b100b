// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agree.hpp"
#include "pieces.hpp"
#include "transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

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
  constexpr std::uint64_t most = std::numeric_limits<int>::max();
  if (std::ranges::any_of(block.global, [](std::uint64_t extent) { return extent > most; }))
    throw Error(
        fmt::format("MPI describes at most {} elements along a dimension; use gathered access", most));
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
  check_mpi(MPI_File_write_at(file, static_cast<MPI_Offset>(first), data, count, value, &status),
            "MPI_File_write_at");
  int written = 0;
  check_mpi(MPI_Get_count(&status, value, &written), "MPI_Get_count");
  if (written != count)
    throw Error(fmt::format("MPI_File_write_at wrote {} of {} values; is the disk full?", written, count));
}

/// Every row of a block is written by itself.
class Hints {
 public:
  Hints() {
    check_mpi(MPI_Info_create(&info_), "MPI_Info_create");
    check_mpi(MPI_Info_set(info_, "romio_ds_write", "disable"), "MPI_Info_set");
  }
  Hints(const Hints&) = delete;
  ~Hints() { MPI_Info_free(&info_); }
  operator MPI_Info() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

} // namespace

// What is written must fail without leaving ranks to wait for each other, and that rules out three ways:
// - through HDF5: after a failed write HDF5 (1.10.8) writes its own data again while closing, gives up there
//   on the rank that failed, and the others stay in a barrier; so values go where HDF5 has put the dataset;
// - MPI_File_write_at_all: Open MPI (4.1.4) never returns from it if the aggregating rank cannot write;
// - ROMIO's data sieving, which reads, changes and writes back what lies between rows: it locks that part of
//   the file, and after a failed write (MPICH 4.0.2) never unlocks it.
void write_parallel(MPI_Comm comm, const std::filesystem::path& path, std::uint64_t address,
                    const Field& field) {
  const std::size_t size = H5Tget_size(field.type);
  const std::uint64_t count = elements(field.block.extent);
  const std::uint64_t step = parallel_bytes / size;
  Type value, place;
  collectively(comm, [&] {
    value = value_type(size);
    place = block_type(field.block, value);
  });
  MPI_File file = MPI_FILE_NULL;
  collectively(comm, [&] {
    check_mpi(MPI_File_open(comm, path.c_str(), MPI_MODE_WRONLY, Hints(), &file), "MPI_File_open");
  });
  std::string failure;
  try {
    collectively(comm, [&] {
      check_mpi(
          MPI_File_set_view(file, static_cast<MPI_Offset>(address), value, place, "native", MPI_INFO_NULL),
          "MPI_File_set_view");
    });
    collectively(comm, [&] {
      for (std::uint64_t first = 0; first < count; first += step)
        write_at(file, first, static_cast<const std::byte*>(field.data) + first * size,
                 static_cast<int>(std::min(step, count - first)), value);
    });
  } catch (const Error& error) { // on every rank
    failure = error.what();
  }
  collectively(comm, [&] {
    const int closed = MPI_File_close(&file);
    if (!failure.empty()) // the first failure is the one to tell
      throw Error(failure);
    check_mpi(closed, "MPI_File_close");
  });
}

} // namespace kontor::output
