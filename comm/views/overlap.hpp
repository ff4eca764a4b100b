// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <kontor/comm/views/buffer.hpp>

#include <string>

namespace kontor::comm {

/// Whether some byte belongs to elements of both arrays, whatever their strides. Arrays that interleave, such as two
/// columns, do not share one.
bool share_memory(const Buffer&, const Buffer&);

/// "some of its elements share memory (strides 1, 1)"
std::string overlap_words(const Shape&);

} // namespace kontor::comm
