# SPDX-License-Identifier: Apache-2.0
"""The pipeline is right in every order in which its streams may run."""

import numpy as np
import pytest
from pipeline import Pipeline

import aclnn_py as acl
from aclnn_py.testing import assert_before, record


@pytest.mark.acl_schedules(50)
def test_the_result_is_right_in_every_order(acl_context, acl_device, values, expected):
    pipeline = Pipeline(acl_device, values.shape)
    pipeline.run(values)
    np.testing.assert_allclose(pipeline.numpy(), expected, rtol=1e-5)
    pipeline.close()


def test_the_copy_comes_behind_the_operator(acl_context, acl_device, values):
    pipeline = Pipeline(acl_device, values.shape)
    with record() as recording:
        pipeline.run(values)
        pipeline.numpy()
    assert_before("aclnnSoftmax", "aclrtMemcpyAsync", recording)
    pipeline.close()


def test_c_names_in_a_context_of_their_own(acl_context):
    stream = acl.aclrtCreateStream()
    event = acl.aclrtCreateEvent()
    acl.aclrtRecordEvent(event, stream)
    acl.aclrtSynchronizeEvent(event)
    acl.aclrtDestroyEvent(event)
    acl.aclrtDestroyStream(stream)
