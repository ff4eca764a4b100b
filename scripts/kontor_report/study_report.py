# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of a study's folder: what its sections are."""

from .comparison_section import comparison_sections
from .limits_section import limits_sections
from .provenance_section import failure_section, provenance_section
from .report_parts import Section
from .scaling_section import scaling_sections
from .series import series_of
from .study import Study
from .summary_section import summary_section
from .time_section import time_sections


def study_sections(study: Study) -> list[Section]:
    series = series_of(study)
    return [summary_section(study, series), *scaling_sections(study, series), *comparison_sections(series), *time_sections(study, series),
            *limits_sections(study, series), failure_section(study), provenance_section(study)]
