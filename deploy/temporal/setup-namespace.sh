#!/bin/sh
# Creates the namespace with its retention, or sets the retention of the one that is there.
set -eu

temporal operator cluster health
if temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1; then
    # The server learns of a namespace that has just been made a few seconds late.
    for pause in 1 2 4 8 0; do
        temporal operator namespace update \
            --namespace "$TEMPORAL_NAMESPACE" --retention "$RETENTION" && exit 0
        sleep "$pause"
    done
    exit 1
else
    temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$RETENTION"
fi
