#!/bin/sh
# Creates Temporal's two databases and brings their schema up to this server's version.
# Safe to run again: a database that is there is left alone, a schema only moves forward.
set -eu

tool() {
    db=$1
    shift
    temporal-sql-tool --plugin "$DB" --ep "$POSTGRES_SEEDS" -p "$DB_PORT" -u "$POSTGRES_USER" \
        --db "$db" "$@"
}

for pair in "$DBNAME temporal" "$VISIBILITY_DBNAME visibility"; do
    # shellcheck disable=SC2086
    set -- $pair
    tool "$1" create || echo "$1 is there"
    # It refuses where a version is recorded already, which is what a second run finds.
    tool "$1" setup-schema -v 0.0 || echo "$1 has a schema"
    tool "$1" update-schema -d "/etc/temporal/schema/postgresql/v12/$2/versioned"
done
