"""Worker versioning: which version of the code a worker serves."""

from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.worker import WorkerDeploymentConfig

DEPLOYMENT = "quire"


def deployment_config(build_id: str) -> WorkerDeploymentConfig | None:
    """With a build id, a document stays with the code that began it, since it lasts minutes."""
    if not build_id:
        return None
    return WorkerDeploymentConfig(
        version=WorkerDeploymentVersion(deployment_name=DEPLOYMENT, build_id=build_id),
        use_worker_versioning=True,
        default_versioning_behavior=VersioningBehavior.PINNED,
    )
