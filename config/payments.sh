#!/bin/sh
# Runs an operators' command with the settings of the service under systemd. docs/operations.md says how to install it.
set -aef
cd /opt/payments
export $(systemctl show payments --property Environment --value)
[ ! -e /etc/payments/environment ] || . /etc/payments/environment
exec npx payments "$@"
