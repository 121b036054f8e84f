#!/usr/bin/env bash
# Runs a script on a machine that is this one, copied: processes, network and every file that is written are its own, and are gone
# afterwards. What the copy cannot do is done by a few lines here: packages are those of this machine, the program is that of this
# repository, and units are started from their files by `systemctl` below.
#   unshare --mount --net --pid --fork --kill-child machine.sh REPOSITORY NODE SCRIPT [FILES]
# The files of a folder FILES are there besides.
set -euo pipefail
repository=$1 node=$2 script=$3 files=${4:-}
machine=$(mktemp -d)
mount -t tmpfs tmpfs "$machine"
mkdir "$machine"/{written,work,root}
[ -z "$files" ] || cp -a "$files/." "$machine/written"
mount -t overlay overlay -o "lowerdir=/,upperdir=$machine/written,workdir=$machine/work" "$machine/root"
root=$machine/root
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
ip link set lo up

bin=$root/usr/local/sbin
mkdir -p "$bin" "$root/etc/nginx/conf.d" "$root/etc/systemd/system"
ln -sf "$node" "$root/usr/bin/node"
printf '127.0.0.1 localhost tracker.example node.example\n' > "$root/etc/hosts"
for name in apt-get npm; do printf '#!/bin/sh\n' > "$bin/$name"; done
printf '#!/bin/sh\n[ "$1" != clone ] || ln -s %s "$3"\n' "$repository" > "$bin/git"
printf '#!/bin/sh\nshift; user=$1; shift\nexec runuser -u "$user" -- "$@"\n' > "$bin/sudo"
printf '#!/bin/sh\ncat "/var/log/$2.log"\n' > "$bin/journalctl"
cat > "$bin/systemctl" <<'SYSTEMCTL'
#!/usr/bin/env bash
set -euo pipefail
start() {
  local unit=/etc/systemd/system/$1.service pid=/run/$1.pid
  systemd-analyze verify "$unit"
  of() { sed -n "s/^$1=//p" "$unit"; }
  local file; file=$(of EnvironmentFile); file=${file#-}
  (
    # A service inherits nothing of the terminal.
    for name in $(compgen -e | grep '^RUNNEL_' || true); do unset "$name"; done
    if [ -e "$file" ]; then set -a; while IFS='=' read -r key value; do declare -gx "$key=$value"; done < "$file"; fi
    cd "$(of WorkingDirectory)"
    # Words of the arguments are split, as systemd does with $NAME.
    exec setsid runuser -u "$(of User)" -- $(eval "echo $(of ExecStart)") > "/var/log/$1.log" 2>&1
  ) &
  echo $! > "$pid"
}
case $1 in
  daemon-reload) ;;
  reload) nginx ;;
  enable) start "$3" ;;
  restart) pid=$(cat "/run/$2.pid"); kill "$pid"; tail --pid="$pid" -f /dev/null; start "$2" ;;
esac
SYSTEMCTL
chmod 755 "$bin"/{apt-get,npm,git,sudo,journalctl,systemctl}
cp "$script" "$root/page.sh"
exec chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root bash /page.sh
