// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/views/buffer.hpp>

namespace kontor::comm {

/// Whether some byte belongs to elements of both arrays. Arrays that interleave, as two columns do, share none.
bool share_memory(const Buffer&, const Buffer&);

/// "some of its elements share memory (strides 1, 1)"
std::string overlap_words(const Shape&);

} // namespace kontor::comm
