# SPDX-License-Identifier: Apache-2.0
"""The twin with a fault: nobody lets the copy wait. On threads it passes on most days."""

import numpy as np
import pytest
from pipeline import Pipeline


class ForgetfulPipeline(Pipeline):
    def wait_for_result(self) -> None:
        pass


@pytest.mark.acl_schedules(50)
def test_the_result_is_right_in_every_order(acl_context, acl_device, values, expected):
    pipeline = ForgetfulPipeline(acl_device, values.shape)
    pipeline.run(values)
    np.testing.assert_allclose(pipeline.numpy(), expected, rtol=1e-5)
    pipeline.close()
