// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Stands before a loop whose iterations are independent, for the compiler to vectorise it without looking for aliases.
#if defined(__clang__)
#define KONTOR_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define KONTOR_INDEPENDENT _Pragma("GCC ivdep")
#endif
