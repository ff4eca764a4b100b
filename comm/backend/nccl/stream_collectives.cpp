// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NCCL's collective operations. Data that are only moved travel as bytes.
#include "backend/nccl/nccl_comm.hpp"
#include "backend/number_reduction.hpp"

#include <fmt/format.h>

namespace kontor::comm::nccl {
namespace {

std::size_t bytes(const Buffer& buffer) { return static_cast<std::size_t>(byte_count(buffer)); }

cudaStream_t native(Stream stream) { return static_cast<cudaStream_t>(stream); }

/// A reduction as NCCL takes it.
struct Reduction {
  ncclDataType_t type;
  ncclRedOp_t op;
  std::size_t count;
};

/// Nothing if NCCL does not have it, such as one of integers of 2 bytes.
std::optional<Reduction> reduction(Scalar scalar, ReduceOp op, std::int64_t elements) {
  constexpr auto none = ncclNumTypes;
  constexpr ncclDataType_t types[] = {ncclInt8,   ncclUint8, none,       none,        ncclInt32,
                                      ncclUint32, ncclInt64, ncclUint64, ncclFloat32, ncclFloat64}; // of NumberType
  const auto numbers = number_reduction(scalar, op, elements);
  const auto type = numbers ? types[static_cast<int>(numbers->type)] : none;
  if (type == none) return std::nullopt;
  const auto nccl_op = op == ReduceOp::sum       ? ncclSum
                       : op == ReduceOp::product ? ncclProd
                       : op == ReduceOp::min     ? ncclMin
                                                 : ncclMax;
  return Reduction{type, nccl_op, static_cast<std::size_t>(numbers->count)};
}

class Collectives final : public StreamCollectives {
 public:
  explicit Collectives(std::shared_ptr<NcclComm> ranks) : ranks_(std::move(ranks)) {}

  bool reduces(Scalar scalar, ReduceOp op, std::int64_t elements) const override {
    return reduction(scalar, op, elements).has_value();
  }

  void allreduce(Stream stream, const void* in, const Buffer& out, ReduceOp op) override {
    const auto as = reduction(out.scalar, op, element_count(out.shape)).value();
    queue("ncclAllReduce", out,
          [&] { return ncclAllReduce(in, out.data, as.count, as.type, as.op, ranks_->get(), native(stream)); });
  }

  void reduce(Stream stream, const Buffer& in, void* out, ReduceOp op, int root) override {
    const auto as = reduction(in.scalar, op, element_count(in.shape)).value();
    queue("ncclReduce", in,
          [&] { return ncclReduce(in.data, out, as.count, as.type, as.op, root, ranks_->get(), native(stream)); });
  }

  void bcast(Stream stream, const Buffer& buffer, int root) override {
    queue("ncclBroadcast", buffer, [&] {
      return ncclBroadcast(buffer.data, buffer.data, bytes(buffer), ncclUint8, root, ranks_->get(), native(stream));
    });
  }

  void allgather(Stream stream, const Buffer& in, void* out) override {
    queue("ncclAllGather", in,
          [&] { return ncclAllGather(in.data, out, bytes(in), ncclUint8, ranks_->get(), native(stream)); });
  }

  void alltoall(Stream stream, const Buffer& in, void* out) override {
    int ranks = 1;
    check(ncclCommCount(ranks_->get(), &ranks), "ncclCommCount", ranks_->get());
    const auto part = bytes(in) / static_cast<std::size_t>(ranks);
    queue("ncclSend and ncclRecv", in, [&] {
      auto code = ncclGroupStart();
      for (int r = 0; r < ranks && code == ncclSuccess; ++r) {
        const auto offset = part * static_cast<std::size_t>(r);
        code = ncclSend(static_cast<const char*>(in.data) + offset, part, ncclUint8, r, ranks_->get(), native(stream));
        if (code == ncclSuccess)
          code = ncclRecv(static_cast<char*>(out) + offset, part, ncclUint8, r, ranks_->get(), native(stream));
      }
      const auto ended = ncclGroupEnd();
      return code == ncclSuccess ? ended : code;
    });
  }

  void poll() override { ranks_->poll("collective operations"); }

  void abort(Stream stream) noexcept override {
    if (ranks_->failed() || query(native(stream)) != cudaSuccess) ranks_->abort();
  }

 private:
  template <class Call>
  void queue(const char* operation, const Buffer& buffer, const Call& call) {
    ranks_->poll(operation);
    const auto code = call();
    if (code != ncclSuccess) [[unlikely]]
      ranks_->fail(code, fmt::format("{} of View '{}'", operation, buffer.label));
  }

  std::shared_ptr<NcclComm> ranks_;
};

} // namespace

std::unique_ptr<StreamCollectives> make_stream_collectives(std::shared_ptr<NcclComm> ranks) {
  return std::make_unique<Collectives>(std::move(ranks));
}

} // namespace kontor::comm::nccl
