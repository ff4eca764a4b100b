// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agree.hpp"
#include "stored.hpp"
#include "values.hpp"

#include <kontor/output/reader.hpp>
#include <kontor/output/seal.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kontor::output {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

/// Puts values where they belong, box by box.
using StoreBytes = std::function<void(const Box&, const std::byte*)>;

hid_t type_in_memory(Scalar scalar) {
  switch (scalar) {
  case Scalar::float64: return native_type<double>();
  case Scalar::float32: return native_type<float>();
  case Scalar::int32: return native_type<std::int32_t>();
  case Scalar::int64: return native_type<std::int64_t>();
  }
  return H5I_INVALID_HID;
}

/// Throws Error unless its scalars and extents are these.
Handle open_values(hid_t file, const std::string& name, Scalar scalar, const Extents& extents) {
  Handle dataset = open_dataset(file, name);
  const Handle stored(H5Dget_type(dataset), H5Tclose, "H5Dget_type", name);
  if (name_of_type(stored) != name_of(scalar))
    throw Error(fmt::format("the values of {} are {}; {} is wanted", name, name_of_type(stored), name_of(scalar)));
  if (const auto found = extents_of(dataset, name); found != extents)
    throw Error(fmt::format("{} is ({}); ({}) is wanted", name, fmt::join(found, ", "), fmt::join(extents, ", ")));
  return dataset;
}

Json info_of(hid_t file, const std::string& name) {
  const Handle dataset = open_dataset(file, name);
  const Handle type(H5Dget_type(dataset), H5Tclose, "H5Dget_type", name);
  return {{"extents", extents_of(dataset, name)}, {"type", name_of_type(type)}};
}

} // namespace

// Names and records are read by rank 0, which tells the others; values by the rank that wants them.
class Reader::Impl {
 public:
  Impl(MPI_Comm comm, fs::path path) : path_(std::move(path)) {
    check_mpi(MPI_Comm_dup(comm, &comm_), "MPI_Comm_dup");
    check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    rank_ = my_rank(comm_);
    try {
      check_seal(comm_, path_, Compared::structure);
      together(
          [this] { file_ = Handle(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "H5Fopen", "it"); });
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

  /// What look(file) finds on rank 0, on all ranks.
  template <class Look>
  Json ask(const Look& look) const {
    std::string bytes;
    together([&] {
      if (rank_ == 0) Json::to_cbor(look(file_), bytes);
    });
    return Json::from_cbor(broadcast(comm_, std::move(bytes)));
  }

  void read(const std::string& name, const Block& block, Scalar scalar, const StoreBytes& store) const {
    const hid_t type = type_in_memory(scalar);
    Handle dataset;
    together([&] {
      check_block(name, block, static_cast<bool>(store));
      dataset = open_values(file_, name, scalar, block.global);
    });
    together([&] {
      const std::size_t size = H5Tget_size(type);
      std::vector<std::byte> room;
      for_each_slab(block.extent, size, [&](const Box& slab) {
        room.resize(elements(slab.extent) * size);
        read_box(dataset, name, in_array(block, slab), type, room.data());
        store(slab, room.data());
      });
    });
  }

 private:
  template <class Call>
  void together(Call&& call) const {
    const CrashTold told(
        fmt::format("cannot read {}: HDF5 crashed on it; it is damaged [E-FILE-DAMAGED]", path_.string()));
    try {
      collectively(comm_, std::forward<Call>(call));
    } catch (const Error& error) {
      throw Error(fmt::format("cannot read {}: {}", path_.string(), error.what()), "E-FILE-FORMAT");
    }
  }
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  fs::path path_;
  Handle file_;
  int exceptions_ = std::uncaught_exceptions();
};

Reader::Reader(MPI_Comm comm, fs::path path) : impl_(std::make_unique<Impl>(comm, std::move(path))) {}

Reader::~Reader() = default;

const fs::path& Reader::path() const { return impl_->path(); }

bool Reader::has(const std::string& object) const {
  return impl_->ask([&](hid_t file) { return exists(file, object); }).get<bool>();
}

Json Reader::record(const std::string& name) const {
  return impl_->ask([&](hid_t file) {
    try {
      return Json::parse(stored_text(file, name));
    } catch (const Json::exception& error) {
      throw Error(fmt::format("{} is no record: {}", name, error.what()), "E-FILE-FORMAT");
    }
  });
}

DatasetInfo Reader::info(const std::string& name) const {
  const Json found = impl_->ask([&](hid_t file) { return info_of(file, name); });
  return {found["extents"].get<Extents>(), found["type"].get<std::string>()};
}

template <FieldScalar T>
void Reader::read(const std::string& dataset, const Block& block, T* data) const {
  const Store<T> copy = [&](const Box& box, const T* from) {
    std::copy_n(from, elements(box.extent), data + elements_before(block.extent, box));
  };
  read(dataset, block, data ? copy : Store<T>());
}

template <FieldScalar T>
void Reader::read(const std::string& dataset, const Block& block, const Store<T>& store) const {
  const StoreBytes bytes = [&](const Box& box, const std::byte* from) { store(box, reinterpret_cast<const T*>(from)); };
  impl_->read(dataset, block, scalar_of<T>, store ? bytes : StoreBytes());
}

#define KONTOR_READ(T)                                                                                                 \
  template void Reader::read(const std::string&, const Block&, T*) const;                                              \
  template void Reader::read(const std::string&, const Block&, const Store<T>&) const;
KONTOR_READ(double)
KONTOR_READ(float)
KONTOR_READ(std::int32_t)
KONTOR_READ(std::int64_t)
#undef KONTOR_READ

} // namespace kontor::output
