// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/backend/backend.hpp>
#include <kontor/comm/views/datatype.hpp>

namespace kontor::comm::test {

/// What a backend does on a stream of a device, on the host and at once.
class HostCollectives : public StreamCollectives {
 public:
  explicit HostCollectives(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
  }
  bool reduces(Scalar, ReduceOp, std::int64_t) const override { return true; }
  void allreduce(Stream, const void* in, const Buffer& out, ReduceOp op) override {
    MPI_Allreduce(in == out.data ? MPI_IN_PLACE : in, out.data, count(out), mpi::element(out.scalar).type,
                  mpi::reduction(op, out.scalar), comm_);
  }
  void reduce(Stream, const Buffer& in, void* out, ReduceOp op, int root) override {
    const bool in_place = rank_ == root && in.data == out;
    MPI_Reduce(in_place ? MPI_IN_PLACE : in.data, out, count(in), mpi::element(in.scalar).type,
               mpi::reduction(op, in.scalar), root, comm_);
  }
  void bcast(Stream, const Buffer& buffer, int root) override {
    MPI_Bcast(buffer.data, bytes(buffer), MPI_BYTE, root, comm_);
  }
  void allgather(Stream, const Buffer& in, void* out) override {
    const bool in_place = in.data == static_cast<char*>(out) + rank_ * bytes(in);
    MPI_Allgather(in_place ? MPI_IN_PLACE : in.data, bytes(in), MPI_BYTE, out, bytes(in), MPI_BYTE, comm_);
  }
  void alltoall(Stream, const Buffer& in, void* out) override {
    const int part = bytes(in) / size_;
    MPI_Alltoall(in.data, part, MPI_BYTE, out, part, MPI_BYTE, comm_);
  }
  void poll() override {}
  void abort(Stream) noexcept override {}

 protected:
  MPI_Comm comm() const { return comm_; }

 private:
  static int count(const Buffer& buffer) { return static_cast<int>(element_count(buffer.shape)); }
  static int bytes(const Buffer& buffer) { return count(buffer) * static_cast<int>(buffer.scalar.size); }
  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 1;
};

/// Only Reductions, each by some of its own.
class FewCollectives final : public HostCollectives {
 public:
  using HostCollectives::HostCollectives;
  explicit FewCollectives(MPI_Comm comm, int* calls) : HostCollectives(comm), calls_(calls) {}
  bool any_stream() const override { return false; }
  std::unique_ptr<StreamCollectives> for_one_stream(std::size_t bytes) override {
    bytes_of_own = bytes;
    return std::make_unique<FewCollectives>(comm(), &calls_of_own);
  }
  void allreduce(Stream stream, const void* in, const Buffer& out, ReduceOp op) override {
    if (calls_) ++*calls_;
    HostCollectives::allreduce(stream, in, out, op);
  }

  std::size_t bytes_of_own = 0; ///< what the last one was asked for
  int calls_of_own = 0;

 private:
  int* calls_ = nullptr;
};

} // namespace kontor::comm::test
