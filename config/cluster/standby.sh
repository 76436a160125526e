#!/bin/sh
# Starts a standby by the name of its argument: the first time from a copy of the primary.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  until pg_basebackup --pgdata="$PGDATA" --write-recovery-conf --wal-method=stream \
    --dbname="host=postgres-a user=standby application_name=$1"; do
    echo 'the primary is not there yet'
    find "$PGDATA" -mindepth 1 -delete
    sleep 1
  done
  chmod 700 "$PGDATA"
fi
# The copy has the primary's settings with it; the quorum is for whoever is promoted.
exec postgres
