# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Read case.py, draw.py, disturb.py, check.py, campaign.py. launch.py and mpirun.py serve other tests, too."""
