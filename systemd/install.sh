#!/bin/sh
# Installs the probe, the collector or both, and the site's DNS resolver and decoys, from this checkout as systemd services.
#   install.sh probe|collector|all|dns|decoy [--listen ADDRESS]... [--root DIR] [--no-start]
# --listen ADDRESS is where dns answers: an address of this machine. --root DIR puts the files below DIR and starts nothing: for packages and
# images.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
source_tree=$(dirname "$here")
root=
start=yes
units=
listen=

while [ $# -gt 0 ]; do
  case $1 in
    probe | collector | dns | decoy) units="$units $1" ;;
    all) units="probe collector" ;;
    --listen) listen="$listen ${2:?--listen needs an address of this machine (see: ip address)}"; shift ;;
    --root) root=${2:?--root needs a folder}; start=no; shift ;;
    --no-start) start=no ;;
    *) echo "install.sh: unknown argument: $1" >&2; sed -n '2,5p' "$0" >&2; exit 2 ;;
  esac
  shift
done
[ -n "$units" ] || { sed -n '2,5p' "$0" >&2; exit 2; }
[ -n "$root" ] || [ "$(id -u)" = 0 ] || { echo "install.sh: must run as root, or with --root DIR" >&2; exit 1; }

(cd "$source_tree" && node packages/toolchain/src/set-up.mjs && node packages/toolchain/src/build.mjs)

library=$root/usr/lib/lanthorn
echo "installing into $library"
fresh=$library.new
rm -rf "$fresh"
mkdir -p "$fresh/bin"
chmod 755 "$fresh" "$fresh/bin"
# What runs: the compiled apps and packages, and the libraries that those need; nothing that builds or tests. Nothing is fetched.
files() {
  printf '%s\n' package.json LICENSE
  for folder in packages/* apps/*; do
    if [ -d "$folder/dist" ]; then printf '%s\n' "$folder/package.json" "$folder/dist"; fi
  done
  # It also finds fault with what is not ours to mend; what matters is the list.
  { npm ls --all --omit=dev --parseable -w @lanthorn/probe -w @lanthorn/collector -w @lanthorn/cli 2>/dev/null || true; } |
    while IFS= read -r path; do
      case $path in "$source_tree"/*node_modules/*) printf '%s\n' "${path#"$source_tree"/}" ;; esac
    done
}
(cd "$source_tree" && files | tar -cf - --owner=0 --group=0 --mode=u=rwX,go=rX -T -) | tar -xpf - -C "$fresh"
for name in lanthorn:cli lanthorn-collector:collector lanthorn-probe:probe; do
  # Collector: V8 makes its space for young objects as small as 1 MB between bursts; with a thousand probes a third of the processor time
  # went into emptying it ten times a second. Probe: one thread that helps V8 instead of four, and one heap of the C library for all threads
  # instead of one for each: 4 MB less; what it gives back in pieces of 16 KiB and more goes back to the system: 1.5 MB less.
  environment= flags=
  case $name in
    lanthorn-collector:*) flags="--min-semi-space-size=16 " ;;
    lanthorn-probe:*) environment="MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=16384 " flags="--v8-pool-size=1 " ;;
  esac
  cat >"$fresh/bin/${name%:*}" <<EOF
#!/bin/sh
exec env ${environment}node $flags"\$(dirname "\$(readlink -f "\$0")")/../apps/${name#*:}/dist/main.js" "\$@"
EOF
done
chmod 755 "$fresh"/bin/*
for name in lanthorn lanthorn-collector lanthorn-probe; do
  "$fresh/bin/$name" --version >/dev/null || { echo "install.sh: $name does not run from $fresh; nothing was changed" >&2; exit 1; }
done
rm -rf "$library.old"
[ ! -d "$library" ] || mv "$library" "$library.old"
mv "$fresh" "$library"
rm -rf "$library.old"

mkdir -p "$root/usr/bin" "$root/usr/lib/systemd/system" "$root/usr/lib/sysusers.d" "$root/usr/lib/tmpfiles.d" "$root/etc/lanthorn/credentials"
chmod 700 "$root/etc/lanthorn/credentials"
ln -sfn ../lib/lanthorn/bin/lanthorn "$root/usr/bin/lanthorn"
install -m 644 "$here/sysusers.conf" "$root/usr/lib/sysusers.d/lanthorn.conf"
install -m 644 "$here/tmpfiles.conf" "$root/usr/lib/tmpfiles.d/lanthorn.conf"

for unit in $units; do
  # Resolver and decoys are commands of the probe's program: their units name that.
  [ "$unit" = dns ] || [ "$unit" = decoy ] || ln -sfn "../lib/lanthorn/bin/lanthorn-$unit" "$root/usr/bin/lanthorn-$unit"
  install -m 644 "$here/lanthorn-$unit.service" "$root/usr/lib/systemd/system/lanthorn-$unit.service"
  # The collector's may hold secrets; tmpfiles.conf gives it to the service's group. No secret is made here: every machine that a
  # package is installed on would have the same. The collector makes its own at its first start.
  mode=644
  [ "$unit" != collector ] || mode=640
  [ -e "$root/etc/lanthorn/$unit.toml" ] || install -m "$mode" "$here/$unit.toml" "$root/etc/lanthorn/$unit.toml"
done
case $units in
  *decoy*) install -m 644 "$here/lanthorn-decoy-addresses.service" "$root/usr/lib/systemd/system/lanthorn-decoy-addresses.service" ;;
esac
case $units in
  *dns*)
    install -m 644 "$here/lanthorn-dns.socket" "$root/usr/lib/systemd/system/lanthorn-dns.socket"
    if [ -n "$listen" ]; then
      drop_in=$root/etc/systemd/system/lanthorn-dns.socket.d
      mkdir -p "$drop_in"
      {
        echo "[Socket]"
        for address in $listen; do
          case $address in *:*) address="[$address]" ;; esac
          printf 'ListenDatagram=%s:53\nListenStream=%s:53\n' "$address" "$address"
        done
      } >"$drop_in/listen.conf"
    fi ;;
esac

if [ -z "$root" ]; then
  systemd-sysusers
  systemd-tmpfiles --create
  # Before the first start makes them: who enrolls as root writes for the service's user.
  for unit in $units; do
    if [ "$unit" != dns ] && [ "$unit" != decoy ]; then
      install -d -m 700 -o "lanthorn-$unit" -g "lanthorn-$unit" "/var/lib/lanthorn-$unit"
    elif [ ! -d "/var/lib/lanthorn/$unit" ]; then
      # Where the probe and that service meet: block lists for the resolver, and the sockets. A probe that runs sees it after its next start.
      install -d -m 755 /var/lib/lanthorn
      install -d -m 2750 -o lanthorn-probe -g "lanthorn-$unit" "/var/lib/lanthorn/$unit"
      [ "$start" = no ] || systemctl try-restart lanthorn-probe.service 2>/dev/null || true
    fi
  done
  systemctl daemon-reload
fi
if [ "$start" = yes ]; then
  for unit in $units; do
    # Not only started with it: one that runs already is the former version.
    [ "$unit" != decoy ] || systemctl try-restart lanthorn-decoy-addresses.service 2>/dev/null || true
    if [ "$unit" = dns ] && [ ! -e /etc/systemd/system/lanthorn-dns.socket.d/listen.conf ]; then
      echo "DNS listens nowhere yet. Set its upstreams in /etc/lanthorn/dns.toml, then: systemd/install.sh dns --listen ADDRESS"
    elif [ "$unit" = dns ]; then
      systemctl enable lanthorn-dns.socket lanthorn-dns.service
      systemctl restart lanthorn-dns.socket lanthorn-dns.service
    elif [ "$unit" = decoy ] && ! grep -q '^\[\[decoys' /etc/lanthorn/decoy.toml; then
      echo "There is no decoy yet. Name one in /etc/lanthorn/decoy.toml, then: systemctl enable --now lanthorn-decoy"
    elif [ "$unit" = probe ] && [ ! -d /var/lib/lanthorn-probe/identity ]; then
      systemctl enable lanthorn-probe.service
      echo "The probe is not enrolled yet. Set its interface in /etc/lanthorn/probe.toml, then:"
      echo "  lanthorn-probe enroll --collector https://COLLECTOR:8443 --token TOKEN && systemctl start lanthorn-probe"
    else
      systemctl enable "lanthorn-$unit.service"
      # Not only started: one that runs already is the former version.
      systemctl restart "lanthorn-$unit.service"
    fi
  done
fi
case $units in
  *collector*) echo "The first start makes user admin's password: $root/var/lib/lanthorn-collector/admin-password." ;;
esac
case $units in
  *probe*) [ -n "$root" ] || command -v nmap >/dev/null || echo "Scans of the profile deep need nmap, which is not here: apt-get install nmap" ;;
esac
echo "installed:$units"
