#!/bin/sh
# Run once by the image of PostgreSQL when its data folder is made: the role and database of the service, the role of the
# standbys, and the quorum without which nothing is acknowledged.
set -eu
psql -v ON_ERROR_STOP=1 --username postgres <<'SQL'
create role payments login password 'example';
create database payments owner payments;
grant pg_monitor to payments;
create role standby login replication password 'example';
alter system set synchronous_standby_names = 'ANY 1 (b, c)';
SQL
echo 'host replication standby all scram-sha-256' >> "$PGDATA/pg_hba.conf"
