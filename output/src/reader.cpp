// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agree.hpp"
#include "descriptor.hpp"
#include "driver.hpp"
#include "step.hpp"
#include "transfer.hpp"

#include <kontor/output/reader.hpp>

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

namespace kontor::output {

namespace fs = std::filesystem;

namespace {

/// Whether HDF5's signature is at one of the places where it may be.
bool has_signature(int descriptor, std::uint64_t bytes) {
  constexpr std::string_view signature("\x89HDF\r\n\x1a\n", 8);
  std::array<char, signature.size()> found{};
  for (std::uint64_t place = 0; place + signature.size() <= bytes; place = place == 0 ? 512 : 2 * place)
    if (::pread(descriptor, found.data(), found.size(), static_cast<off_t>(place)) ==
            static_cast<ssize_t>(found.size()) &&
        std::string_view(found.data(), found.size()) == signature)
      return true;
  return false;
}

/// Puts values where they belong, box by box.
using StoreBytes = std::function<void(const Box&, const std::byte*)>;

} // namespace

// Groups, attributes and records are read by rank 0, which tells the others; values by the rank that wants them.
class Reader::Impl {
 public:
  Impl(MPI_Comm comm, fs::path path, Checked checked) : path_(std::move(path)), checked_(checked == Checked::yes) {
    check_mpi(MPI_Comm_dup(comm, &comm_), "MPI_Comm_dup");
    check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    rank_ = my_rank(comm_);
    try {
      together([this] { open(); });
    } catch (const Error&) { // on all ranks
      MPI_Comm_free(&comm_);
      throw;
    }
  }
  ~Impl() {
    // Freeing the communicator is collective: an exception may be passing on this rank alone.
    if (std::uncaught_exceptions() == exceptions_) MPI_Comm_free(&comm_);
  }

  const fs::path& path() const { return path_; }

  /// What take() finds on rank 0, on all ranks.
  Json ask(Step::Kind kind, const std::string& object) const {
    std::string bytes;
    together([&] {
      if (rank_ != 0) return;
      const Step step{kind, object};
      rehearse_step(step);
      Json::to_cbor(take({file_, bytes_}, step), bytes);
    });
    return Json::from_cbor(broadcast(comm_, std::move(bytes)));
  }

  void read(const std::string& name, const Block& block, const Strides& strides, bool any, Scalar scalar,
            std::byte* data, const StoreBytes& store) const {
    const Step step{Step::Kind::read, name, scalar, block};
    const hid_t type = native_type(scalar);
    Handle dataset;
    together([&] {
      check_block(name, block, strides, any);
      rehearse_step(step);
      dataset = open_values(file_, step);
    });
    together([&] {
      const std::size_t size = H5Tget_size(type);
      const Strides steps = strides.empty() ? contiguous_strides(block.extent) : strides;
      const Pieces pieces = pieces_of(block.extent, size);
      std::vector<std::byte> room;
      for (std::uint64_t n = 0; n < pieces.count(); ++n) {
        const Box piece = pieces[n], place = in_array(block, piece);
        std::byte* target = data ? data + byte_offset(piece.offset, steps, size) : nullptr;
        if (data && is_contiguous(piece.extent, steps)) {
          read_box(dataset, name, place, type, target);
          continue;
        }
        room.resize(elements(piece.extent) * size);
        read_box(dataset, name, place, type, room.data());
        if (data)
          copy(piece.extent, size, room.data(), contiguous_strides(piece.extent), target, steps);
        else
          store(piece, room.data());
      }
    });
  }

 private:
  template <class Call>
  void together(Call&& call) const {
    try {
      collectively(comm_, std::forward<Call>(call));
    } catch (const Error& error) {
      throw Error(fmt::format("cannot read {}: {}", path_.string(), error.what()), "E-FILE-FORMAT");
    }
  }
  void open() {
    start_hdf5();
    // Not blocking, since a pipe would be waited for.
    descriptor_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) throw Error(std::strerror(errno), "E-FILE-READ");
    if (!S_ISREG(status.st_mode))
      throw Error(S_ISDIR(status.st_mode) ? "it is a directory, not an HDF5 file" : "it is not a regular file",
                  "E-FILE-FORMAT");
    bytes_ = static_cast<std::uint64_t>(status.st_size);
    if (!has_signature(descriptor_, bytes_))
      throw Error(fmt::format("it is not an HDF5 file: none of its {} bytes are HDF5's signature", bytes_),
                  "E-FILE-FORMAT");
    rehearse_step({});
    file_ = open_to_read(driver_, descriptor_, path_.string());
  }
  /// rehearse() if the bytes have not been checked; after one that has failed nothing more is tried.
  void rehearse_step(const Step& step) const {
    if (checked_) return;
    if (!damage_.empty()) throw Error(damage_);
    try {
      rehearse(descriptor_, step);
    } catch (const Error& error) {
      damage_ = error.what();
      throw;
    }
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  fs::path path_;
  bool checked_;
  Descriptor descriptor_;
  std::uint64_t bytes_ = 0;
  Driver driver_;
  Handle file_;
  mutable std::string damage_; ///< that the HDF5 library does not survive; empty: none is known
  int exceptions_ = std::uncaught_exceptions();
};

Reader::Reader(MPI_Comm comm, fs::path path, Checked checked)
    : impl_(std::make_unique<Impl>(comm, std::move(path), checked)) {}

Reader::~Reader() = default;

const fs::path& Reader::path() const { return impl_->path(); }

bool Reader::has(const std::string& object) const { return impl_->ask(Step::Kind::has, object).get<bool>(); }

std::vector<std::string> Reader::names(const std::string& group) const {
  return impl_->ask(Step::Kind::names, group).get<std::vector<std::string>>();
}

Json Reader::attributes(const std::string& object) const { return impl_->ask(Step::Kind::attributes, object); }

Json Reader::record(const std::string& group) const { return impl_->ask(Step::Kind::record, group); }

DatasetInfo Reader::info(const std::string& name) const {
  const Json found = impl_->ask(Step::Kind::info, name);
  return {found["extents"].get<Extents>(), found["type"].get<std::string>()};
}

template <FieldScalar T>
void Reader::read(const std::string& dataset, const Block& block, T* data, const Strides& strides) const {
  impl_->read(dataset, block, strides, data != nullptr, scalar_of<T>, reinterpret_cast<std::byte*>(data), {});
}

template <FieldScalar T>
void Reader::read(const std::string& dataset, const Block& block, const Store<T>& store) const {
  impl_->read(dataset, block, {}, true, scalar_of<T>, nullptr,
              [&](const Box& box, const std::byte* from) { store(box, reinterpret_cast<const T*>(from)); });
}

#define KONTOR_READ(T)                                                                                                 \
  template void Reader::read(const std::string&, const Block&, T*, const Strides&) const;                              \
  template void Reader::read(const std::string&, const Block&, const Store<T>&) const;
KONTOR_READ(double)
KONTOR_READ(float)
KONTOR_READ(std::int32_t)
KONTOR_READ(std::int64_t)
#undef KONTOR_READ

} // namespace kontor::output
