"""Creates the bucket unless it is there. Where and with which keys: boto3's own settings."""

import sys

import boto3
from botocore.exceptions import ClientError

try:
    boto3.client("s3").create_bucket(Bucket=sys.argv[1])
except ClientError as error:
    if error.response["Error"]["Code"] not in ("BucketAlreadyOwnedByYou", "BucketAlreadyExists"):
        raise
