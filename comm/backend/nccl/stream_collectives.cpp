// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NCCL's collective operations. Data that are only moved travel as bytes.
#include "backend/nccl/stream_collectives.hpp"

#include "backend/nccl/check.hpp"
#include "backend/nccl/reduction.hpp"

#include <fmt/format.h>

#include <exception>

namespace kontor::comm::nccl {
namespace {

std::size_t bytes(const Buffer& buffer) {
  return static_cast<std::size_t>(element_count(buffer.shape)) * buffer.scalar.size;
}

cudaStream_t native(Stream stream) {
  return static_cast<cudaStream_t>(stream);
}

class Collectives final : public StreamCollectives {
 public:
  explicit Collectives(std::shared_ptr<NcclComm> ranks) : ranks_(std::move(ranks)) {}

  bool reduces(Scalar scalar, ReduceOp op, std::int64_t) const override {
    return reduction(scalar, op).has_value();
  }

  void allreduce(Stream stream, const void* in, const Buffer& out, ReduceOp op) override {
    const auto as = reduction(out.scalar, op).value();
    const auto count = static_cast<std::size_t>(element_count(out.shape) * as.per_element);
    queue("ncclAllReduce", out,
          [&] { return ncclAllReduce(in, out.data, count, as.type, as.op, ranks_->get(), native(stream)); });
  }

  void reduce(Stream stream, const Buffer& in, void* out, ReduceOp op, int root) override {
    const auto as = reduction(in.scalar, op).value();
    const auto count = static_cast<std::size_t>(element_count(in.shape) * as.per_element);
    queue("ncclReduce", in, [&] {
      return ncclReduce(in.data, out, count, as.type, as.op, root, ranks_->get(), native(stream));
    });
  }

  void bcast(Stream stream, const Buffer& buffer, int root) override {
    queue("ncclBroadcast", buffer, [&] {
      return ncclBroadcast(buffer.data, buffer.data, bytes(buffer), ncclUint8, root, ranks_->get(),
                           native(stream));
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
        code = ncclSend(static_cast<const char*>(in.data) + offset, part, ncclUint8, r, ranks_->get(),
                        native(stream));
        if (code == ncclSuccess)
          code =
              ncclRecv(static_cast<char*>(out) + offset, part, ncclUint8, r, ranks_->get(), native(stream));
      }
      const auto ended = ncclGroupEnd();
      return code == ncclSuccess ? ended : code;
    });
  }

  void poll() override { ranks_->poll("collective operations"); }

  void give_up(Stream stream) noexcept override {
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
