# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of a study's folder: what its sections are."""

from __future__ import annotations

from .report_parts import Section
from .scaling_section import scaling_sections
from .series import series_of
from .study import Study


def study_sections(study: Study) -> list[Section]:
    series = series_of(study)
    return scaling_sections(study, series)
