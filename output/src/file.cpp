// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agree.hpp"
#include "comparison.hpp"
#include "driver.hpp"
#include "receipt.hpp"
#include "seal.hpp"
#include "temporary.hpp"
#include "transfer.hpp"
#include "tree.hpp"

#include <kontor/output/file.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kontor::output {

namespace fs = std::filesystem;

// Rank 0 alone has the HDF5 file open and writes its structure: groups, attributes, tables, and the fields with their
// place in the file. The other ranks only ever hand values over, or write them to that place.
class File::Impl {
 public:
  Impl(MPI_Comm comm, fs::path path, Access access, std::vector<fs::path> sidecars, std::string chosen_by)
      : target_(std::move(path)), sidecars_(std::move(sidecars)), chosen_by_(std::move(chosen_by)), access_(access) {
    check_mpi(MPI_Comm_dup(comm, &comm_), "MPI_Comm_dup");
    check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    rank_ = my_rank(comm_);
    if (access_ == Access::automatic) access_ = rank_count(comm_) > 1 ? Access::parallel : Access::gathered;
    try {
      collectively(comm_, [this] {
        if (rank_ == 0) open_temporaries();
      });
      temporary_ = broadcast(comm_, rank_ == 0 ? files_.front().path().string() : "");
      together([this] {
        start_hdf5();
        if (rank_ == 0) create();
      });
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

  Access access() const { return access_; }
  void dataset(const std::string& name, const Block& block, const Strides& strides, const BlockValues& values) {
    together([&] { check_block(name, block, strides, values.any()); });
    together([&] { check_cover(comm_, name, block); });
    std::uint64_t address = 0;
    on_root(
        [&](hid_t file, auto&) { address = H5Dget_offset(create_dataset(file, name, values.type(), block.global)); });
    const Field field{name, block, values};
    Share share;
    together([&] {
      check_mpi(MPI_Bcast(&address, 1, MPI_UINT64_T, 0, comm_), "MPI_Bcast");
      share = (access_ == Access::parallel ? write_parallel : write_gathered)(comm_, temporary_, address, field);
    });
    fields_.push_back({name, block.global, copy_type(values.type()), address, std::move(share)});
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
  /// `sealed`: the name that it takes then instead of its own; empty: it is not sealed.
  std::vector<fs::path> commit(const fs::path& sealed, const std::function<bool(const fs::path&)>& approve = {}) {
    together([this] {
      if (spoiled_) throw Error("cannot be committed after an error");
    });
    std::vector<fs::path> written;
    try {
      on_root([this](auto&&...) { check(file_.close(), "H5Fclose", "the file"); });
      together([&] {
        if (rank_ == 0 && !sealed.empty()) files_.front().aim_at(sealed);
      });
      if (sealed.empty())
        verify();
      else
        seal();
      // Last, so that the disk is busy while the file is read back.
      together([&] {
        if (writes()) sync(temporary_);
      });
      if (approve && !approved(approve)) {
        drop();
        return {};
      }
      collectively(comm_, [&] {
        if (rank_ != 0) return;
        written = replace_together(files_);
        files_.clear(); // before the other ranks go on: the names are unlocked
      });
    } catch (...) {
      drop();
      throw;
    }
    receipts_.clear();
    fields_.clear();
    return written;
  }

  /// Runs `step(file, receipts)` on rank 0.
  template <class Step>
  void on_root(Step&& step) {
    together([&] {
      if (rank_ != 0) return;
      step(file_, receipts_);
      driver_.check();
    });
  }

 private:
  /// Runs `step` on all ranks; an Error gets the name of the file, and spoils it.
  template <class Step>
  void together(Step&& step, const fs::path& name) {
    try {
      collectively(comm_, std::forward<Step>(step));
    } catch (const Error& error) {
      spoiled_ = true;
      throw Error(fmt::format("output: {}: {}; no file was replaced", name.string(), error.what()), "E-FILE-WRITE");
    } catch (const MpiError& error) {
      throw MpiError(errors::with_id(fmt::format("output: {}: {}", name.string(), error.what()), "E-MPI-CALL"));
    }
  }
  template <class Step>
  void together(Step&& step) {
    together(std::forward<Step>(step), target_);
  }

  void open_temporaries() {
    const std::string another = "choose another file", other = another + " with " + chosen_by_;
    check_replaceable(target_, other);
    for (const fs::path& sidecar : sidecars_) check_replaceable(sidecar, another);
    files_.emplace_back(target_, other);
    for (const fs::path& sidecar : sidecars_) files_.emplace_back(sidecar, another);
  }
  void create() {
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate", "the file");
    driver_.use_in(access, files_.front().descriptor());
    // The format of HDF5 1.8 and later: its structure carries checksums, and attributes may exceed 64 kB.
    check(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST), "H5Pset_libver_bounds", "the file");
    // Large fields begin on a page, so that rows of whole pages that ranks write have no page in common.
    check(H5Pset_alignment(access, 1 << 20, 4096), "H5Pset_alignment", "the file");
    file_ = Handle(H5Fcreate(temporary_.c_str(), H5F_ACC_TRUNC, timeless(H5P_FILE_CREATE), access), H5Fclose,
                   "H5Fcreate", "the file");
    driver_.check();
  }
  /// On all ranks what `approve` says on rank 0.
  bool approved(const std::function<bool(const fs::path&)>& approve) {
    int yes = 0;
    together([&] {
      if (rank_ == 0) yes = approve(temporary_) ? 1 : 0;
    });
    together([&] { check_mpi(MPI_Bcast(&yes, 1, MPI_INT, 0, comm_), "MPI_Bcast"); });
    return yes == 1;
  }
  /// Reads back, each rank what it has written itself, and compares with what all have handed over.
  void verify() {
    std::vector<std::uint64_t> sums;
    together([&] {
      std::optional<Written> written;
      if (writes()) written.emplace(temporary_);
      if (written) written->check(receipts_);
      for (const FieldReceipt& field : fields_) sums.push_back(written ? written->sum(field) : 0);
    });
    compare(std::move(sums));
  }
  /// The same, each rank a part of the file's bytes, of which checksums are appended.
  void seal() {
    std::vector<StoredField> stored;
    for (const FieldReceipt& field : fields_)
      stored.push_back({field.address, elements(field.global), H5Tget_size(field.type)});
    std::vector<std::uint64_t> sums;
    const int descriptor = rank_ == 0 ? files_.front().descriptor() : -1;
    together([&] {
      if (rank_ == 0) Written(temporary_).check(receipts_);
    });
    together([&] { sums = append_seal(comm_, temporary_, descriptor, writes(), stored); });
    compare(std::move(sums));
  }
  /// `sums`: this rank's part of those of the fields, as they are in the file.
  void compare(std::vector<std::uint64_t> sums) {
    auto& differences = sums;
    for (std::size_t i = 0; i < fields_.size(); ++i) differences[i] -= fields_[i].share.handed_over;
    together([&] {
      check_mpi(MPI_Allreduce(MPI_IN_PLACE, differences.data(), static_cast<int>(differences.size()), MPI_UINT64_T,
                              MPI_SUM, comm_),
                "MPI_Allreduce");
      for (std::size_t i = 0; i < fields_.size(); ++i)
        if (differences[i] != 0) throw altered(fields_[i].name);
    });
  }
  /// Removes the temporaries that have not taken their names, and unlocks these.
  void drop() noexcept {
    file_.close();
    files_.clear();
  }

  /// Whether this rank has written values or structure.
  bool writes() const { return rank_ == 0 || access_ == Access::parallel; }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  const fs::path target_;
  const std::vector<fs::path> sidecars_;
  const std::string chosen_by_; ///< what names the file
  fs::path temporary_;
  std::list<Temporary> files_; // on rank 0: the HDF5 file and its sidecars
  Access access_;
  Driver driver_;
  Handle file_;                      // on rank 0
  std::vector<Receipt> receipts_;    // on rank 0
  std::vector<FieldReceipt> fields_; // on all ranks the same fields
  bool spoiled_ = false;
  int exceptions_ = std::uncaught_exceptions();
};

File::File(MPI_Comm comm, fs::path path, Access access, std::vector<fs::path> sidecars, std::string chosen_by)
    : impl_(std::make_unique<Impl>(comm, std::move(path), access, std::move(sidecars), std::move(chosen_by))) {}

File::File(MPI_Comm comm, const Reader& reader) : comparison_(std::make_unique<Comparison>(comm, reader)) {}

File::~File() = default;

std::vector<std::string> File::differences() const { return comparison_->differences(); }

Access File::access() const { return impl_ ? impl_->access() : Access::gathered; }

void File::record(const std::string& group, const Json& tree) {
  if (impl_) impl_->on_root([&](hid_t file, auto& receipts) { write_tree(file, group, tree, receipts); });
}

void File::attributes(const std::string& object, const Json& flat) {
  if (comparison_) return comparison_->attributes(object, flat);
  impl_->on_root([&](hid_t file, auto& receipts) { write_attributes(file, object, flat, receipts); });
}

void File::describe(const Mesh& mesh, const std::vector<MeshField>& fields) {
  if (impl_) impl_->on_root([&](hid_t file, auto& receipts) { write_vtkhdf(file, mesh, fields, receipts); });
}

template <FieldScalar T>
void File::dataset(const std::string& name, const Block& block, const T* data, const Strides& strides) {
  const BlockValues values(native_type<T>(), block.extent, data, strides);
  if (comparison_) return comparison_->dataset<T>(name, block, values);
  impl_->dataset(name, block, strides, values);
}

template <FieldScalar T>
void File::dataset(const std::string& name, const Block& block, const Fetch<T>& fetch) {
  const BlockValues values(native_type<T>(), [&](const Box& box, void* to) { fetch(box, static_cast<T*>(to)); });
  if (comparison_) return comparison_->dataset<T>(name, block, values);
  impl_->dataset(name, block, {}, values);
}

#define KONTOR_DATASET(T)                                                                                              \
  template void File::dataset(const std::string&, const Block&, const T*, const Strides&);                             \
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

std::vector<fs::path> File::commit_sealed(const fs::path& name) { return impl_->commit(name); }

} // namespace kontor::output
