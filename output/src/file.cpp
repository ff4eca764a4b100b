// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agree.hpp"
#include "comparison.hpp"
#include "objects.hpp"
#include "seal.hpp"
#include "temporary.hpp"
#include "values.hpp"

#include <kontor/output/file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>

namespace kontor::output {

namespace fs = std::filesystem;

// Rank 0 alone has the HDF5 file open and writes its structure: groups, attributes, tables, and the fields with their
// place in the file. Values are written to that place.
class File::Impl {
 public:
  Impl(MPI_Comm comm, fs::path path, std::vector<fs::path> sidecars, const std::string& chosen_by)
      : target_(std::move(path)), sidecars_(std::move(sidecars)) {
    check_mpi(MPI_Comm_dup(comm, &comm_), "MPI_Comm_dup");
    check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    rank_ = my_rank(comm_);
    try {
      collectively(comm_, [&] {
        if (rank_ != 0) return;
        const std::string another = "choose another file";
        files_.emplace_back(target_, another + " with " + chosen_by);
        for (const fs::path& sidecar : sidecars_) files_.emplace_back(sidecar, another);
      });
      const fs::path temporary = broadcast(comm_, rank_ == 0 ? files_.front().path().string() : "");
      together([&] { open(temporary); });
    } catch (const Error&) { // on all ranks
      drop();
      MPI_Comm_free(&comm_);
      throw;
    } catch (...) {
      drop();
      throw;
    }
  }
  ~Impl() {
    drop();
    // Freeing the communicator is collective: an exception may be passing on this rank alone.
    if (std::uncaught_exceptions() == exceptions_) MPI_Comm_free(&comm_);
  }

  void dataset(const std::string& name, const Block& block, bool any, const BlockValues& values) {
    together([&] { check_block(name, block, any); });
    std::uint64_t count = elements(block.extent), address = 0;
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_UINT64_T, MPI_SUM, comm_), "MPI_Allreduce");
    together([&] {
      if (count != elements(block.global))
        throw Error(fmt::format("the blocks of {} have {} elements together; the array ({}) has {}", name, count,
                                fmt::join(block.global, ", "), elements(block.global)));
    });
    on_root([&](hid_t file) { address = H5Dget_offset(create_dataset(file, name, values.type, block.global)); });
    check_mpi(MPI_Bcast(&address, 1, MPI_UINT64_T, 0, comm_), "MPI_Bcast");
    std::uint64_t sum = 0;
    together([&] { sum = write_values(values_file(), address, name, block, values); });
    fields_.push_back({address, count * values.size, values.size, sum});
  }
  void sidecar(const fs::path& path, const std::string& text) {
    together(
        [&] {
          const auto known = std::ranges::find(sidecars_, path);
          if (known == sidecars_.end()) throw Error("was not among the sidecars when the file was created");
          if (rank_ == 0) std::next(files_.begin(), 1 + (known - sidecars_.begin()))->write(text);
        },
        path);
  }
  std::vector<fs::path> commit(const fs::path& name, const std::function<bool(const fs::path&)>& approve) {
    together([this] {
      if (spoiled_) throw Error("cannot be committed after an error");
    });
    std::vector<fs::path> written;
    try {
      on_root([this](auto&&...) { check(file_.close(), "H5Fclose", "the file"); });
      together([this] {
        for (StoredField& field : fields_)
          check_mpi(MPI_Allreduce(MPI_IN_PLACE, &field.sum, 1, MPI_UINT64_T, MPI_SUM, comm_), "MPI_Allreduce");
        if (rank_ == 0) seal(values_file(), std::move(fields_));
        sync(values_file());
      });
      int wanted = 1;
      together([&] {
        if (rank_ == 0 && approve && !approve(files_.front().path())) wanted = 0;
      });
      check_mpi(MPI_Bcast(&wanted, 1, MPI_INT, 0, comm_), "MPI_Bcast");
      collectively(comm_, [&] {
        if (rank_ != 0 || wanted == 0) return;
        if (!name.empty()) files_.front().aim_at(name);
        written = replace_together(files_);
      });
    } catch (...) {
      drop();
      throw;
    }
    drop();
    return written;
  }

  /// Runs `step(file)` on rank 0.
  template <class Step>
  void on_root(const Step& step) {
    together([&] {
      if (rank_ > 0) return;
      const auto told = if_hdf5_crashes();
      step(file_);
    });
  }

 private:
  /// Runs `step` on all ranks; an Error gets the name of the file, and spoils it.
  template <class Step>
  void together(const Step& step, const fs::path& name) {
    try {
      collectively(comm_, step);
    } catch (const Error& error) {
      spoiled_ = true;
      throw Error(fmt::format("output: {}: {}; no file was replaced", name.string(), error.what()), "E-FILE-WRITE");
    } catch (const MpiError& error) {
      throw MpiError(errors::with_id(fmt::format("output: {}: {}", name.string(), error.what()), "E-MPI-CALL"));
    }
  }
  template <class Step>
  void together(const Step& step) {
    together(step, target_);
  }

  CrashTold if_hdf5_crashes() const {
    return CrashTold(fmt::format("output: {}: HDF5 crashed on writing it; the disk may be full; no file was replaced "
                                 "[E-FILE-WRITE]",
                                 target_.string()));
  }

  void open(const fs::path& temporary) {
    if (rank_ > 0) {
      own_ = Descriptor(::open(temporary.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
      if (own_ < 0)
        throw Error(fmt::format("cannot be opened to write to it: {}; choose a folder that all hosts share",
                                std::strerror(errno)));
      return;
    }
    const auto told = if_hdf5_crashes();
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate", "the file");
    // The format of HDF5 1.8 and later: its structure carries checksums, and attributes may exceed 64 kB.
    check(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST), "H5Pset_libver_bounds", "the file");
    // Large fields begin on a page, so that rows of whole pages that ranks write have no page in common.
    check(H5Pset_alignment(access, 1 << 20, 4096), "H5Pset_alignment", "the file");
    file_ = Handle(H5Fcreate(temporary.c_str(), H5F_ACC_TRUNC, timeless(H5P_FILE_CREATE), access), H5Fclose,
                   "H5Fcreate", "the file");
  }
  int values_file() const { return rank_ == 0 ? files_.front().descriptor() : static_cast<int>(own_); }
  /// Removes the temporaries that have not taken their names.
  void drop() noexcept {
    file_.close();
    files_.clear();
    fields_.clear();
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  const fs::path target_;
  const std::vector<fs::path> sidecars_;
  std::list<Temporary> files_;      // on rank 0: the HDF5 file and its sidecars
  Handle file_;                     // on rank 0
  Descriptor own_;                  // on others
  std::vector<StoredField> fields_; // on all ranks the same, with this rank's sums
  bool spoiled_ = false;
  int exceptions_ = std::uncaught_exceptions();
};

File::File(MPI_Comm comm, fs::path path, std::vector<fs::path> sidecars, const std::string& chosen_by)
    : impl_(std::make_unique<Impl>(comm, std::move(path), std::move(sidecars), chosen_by)) {}

File::File(MPI_Comm comm, const Reader& reader) : comparison_(std::make_unique<Comparison>(comm, reader)) {}

File::~File() = default;

std::vector<std::string> File::differences() const { return comparison_->differences(); }

void File::record(const std::string& name, const nlohmann::ordered_json& tree) {
  if (comparison_) return comparison_->record(name, tree);
  impl_->on_root([&](hid_t file) {
    write_text(file, name, tree.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  });
}

void File::describe(const Mesh& mesh, const std::vector<Snapshot>& snapshots) {
  if (impl_) impl_->on_root([&](hid_t file) { write_vtkhdf(file, mesh, snapshots); });
}

template <FieldScalar T>
void File::dataset(const std::string& name, const Block& block, const T* data) {
  const Fetch<T> copy = [&](const Box& box, T* to) {
    std::copy_n(data + elements_before(block.extent, box), elements(box.extent), to);
  };
  dataset(name, block, data ? copy : Fetch<T>());
}

template <FieldScalar T>
void File::dataset(const std::string& name, const Block& block, const Fetch<T>& fetch) {
  const BlockValues values{native_type<T>(), sizeof(T),
                           [&](const Box& box, void* to) { fetch(box, static_cast<T*>(to)); }};
  if (comparison_) return comparison_->dataset<T>(name, block, values);
  impl_->dataset(name, block, static_cast<bool>(fetch), values);
}

#define KONTOR_DATASET(T)                                                                                              \
  template void File::dataset(const std::string&, const Block&, const T*);                                             \
  template void File::dataset(const std::string&, const Block&, const Fetch<T>&);
KONTOR_DATASET(double)
KONTOR_DATASET(float)
KONTOR_DATASET(std::int32_t)
KONTOR_DATASET(std::int64_t)
#undef KONTOR_DATASET

void File::sidecar(const fs::path& path, const std::string& text) {
  if (impl_) impl_->sidecar(path, text);
}

std::vector<fs::path> File::commit(const std::function<bool(const fs::path&)>& approve) {
  return impl_->commit({}, approve);
}

std::vector<fs::path> File::commit_as(const fs::path& name) { return impl_->commit(name, {}); }

} // namespace kontor::output
