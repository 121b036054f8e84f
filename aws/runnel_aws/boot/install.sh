#!/bin/bash
# Turns a fresh Debian 12 into a host of an experiment: clock, Node, Runnel, one service. cloud-init runs it once, as root.
# What is between at signs is filled in by runnel_aws/user_data.py.
set -euo pipefail
umask 077
trap 'echo "runnel: the installation failed in line $LINENO" >&2' ERR
export DEBIAN_FRONTEND=noninteractive HOME=/root
role=@role@
links=@links@

# Many machines ask the same servers at once: what fails for the moment is tried again.
again() {
  local attempt
  for attempt in 1 2 3 4 5 6; do
    "$@" && return 0
    sleep $((attempt * 5))
  done
  return 1
}

imds_token=$(again curl -sSf -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 300' http://169.254.169.254/latest/api/token)
metadata() {
  again curl -sSf -H "X-aws-ec2-metadata-token: $imds_token" "http://169.254.169.254/latest/meta-data/$1"
}
# Workers are reached inside their VPC.
address=$(metadata "$([ "$role" = worker ] && echo local-ipv4 || echo public-ipv4)")
instance=$(metadata instance-id)

packages=(chrony curl ca-certificates git xz-utils)
case "$role" in
  worker)
    # One for each processor; each is named by its port.
    processors=$(nproc)
    services=()
    for ((port = @worker_port@; port < @worker_port@ + processors && port < @worker_port@ + @max_workers@; port++)); do
      services+=("runnel-worker@$port.service")
    done
    ;;
  *) services=("runnel-$role.service") ;;
esac
if [ "$role" = tracker ]; then
  packages+=(coturn)
  services+=(runnel-stun.service)
fi
again apt-get update -qq
again apt-get install -y -qq --no-install-recommends "${packages[@]}"
if [ "$role" = tracker ]; then systemctl disable --now coturn.service; fi

umask 022
@files@
umask 077
systemctl restart chrony.service

tarball=node-v@node_version@-linux-x64.tar.xz
cd /tmp
again curl -sSfO "https://nodejs.org/dist/v@node_version@/$tarball"
again curl -sSfO "https://nodejs.org/dist/v@node_version@/SHASUMS256.txt"
grep " $tarball\$" SHASUMS256.txt | sha256sum --check --strict
umask 022
mkdir -p /opt/node /opt/runnel
tar -xJf "$tarball" -C /opt/node --strip-components 1
export PATH=/opt/node/bin:$PATH

cd /opt/runnel
git init -q
again git fetch -q --depth 1 @repository@ @revision@
git checkout -q --detach FETCH_HEAD
export NODE_OPTIONS=--max-old-space-size=1400
again npm ci --no-audit --no-fund --loglevel error
node node_modules/typescript/bin/tsc -b packages/node
unset NODE_OPTIONS

umask 077
useradd --system --home-dir /nonexistent --shell /usr/sbin/nologin runnel
mkdir -p /etc/runnel
printf '%s' @token@ >/etc/runnel/token
if [ "$role" = tracker ]; then node packages/node/bin/runnel.js key new /etc/runnel/tracker.key; fi
# How this one process differs from the others of its unit.
case "$role-$links" in
  tracker-*)
    arguments="--public-url ws://$address:30300 --ice-server stun:$address:3478 --degree @degree@ --overlay @overlay@"
    ;;
  worker-*) arguments="--host $address" ;;
  node-webrtc) arguments='--no-websocket-listen' ;;
  node-websocket) arguments='--no-webrtc-enabled' ;;
  # Every second one can be reached by WebSocket, in the mean: nothing but its id tells the machines of a group apart.
  node-mixed) [[ "$instance" =~ [02468ace]$ ]] && arguments='' || arguments='--no-websocket-listen' ;;
esac
if [ "$role" = node ] && [[ "$arguments" != *no-websocket-listen* ]]; then
  arguments+=" --websocket-host 0.0.0.0 --websocket-port 7170 --websocket-public-url ws://$address:7170"
fi
printf 'RUNNEL_ARGUMENTS=%s\n' "$arguments" >/etc/runnel/host.env
if [ "$role" = worker ]; then printf 'RUNNEL_BENCH_TOKEN=%s\n' @token@ >>/etc/runnel/host.env; fi
cat >/etc/runnel/network.json <<'END_OF_FILE'
@network@
END_OF_FILE
chown -R runnel:runnel /etc/runnel

systemctl daemon-reload
systemctl enable --now "${services[@]}"
