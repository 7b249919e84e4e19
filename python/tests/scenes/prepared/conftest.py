"""These tests count what a Worker has loaded, so each class has one of its own."""

import pytest
from simpler.worker import Worker


@pytest.fixture(scope="class")
def st_worker(request, st_platform):
    worker = Worker(level=2, device_id=0, platform=st_platform, runtime=request.cls._st_runtime)
    worker.init()
    yield worker
    worker.close()
