#!/bin/sh
# Installs the probe, the collector or both from this checkout as systemd services.
#   install.sh probe|collector|all [--root DIR] [--no-start]
# --root DIR puts the files below DIR and starts nothing: for packages and images.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
source_tree=$(dirname "$here")
root=
start=yes
units=

while [ $# -gt 0 ]; do
  case $1 in
    probe | collector) units="$units $1" ;;
    all) units="probe collector" ;;
    --root) root=${2:?--root needs a folder}; start=no; shift ;;
    --no-start) start=no ;;
    *) echo "install.sh: unknown argument: $1" >&2; sed -n '2,4p' "$0" >&2; exit 2 ;;
  esac
  shift
done
[ -n "$units" ] || { sed -n '2,4p' "$0" >&2; exit 2; }
[ -n "$root" ] || [ "$(id -u)" = 0 ] || { echo "install.sh: must run as root, or with --root DIR" >&2; exit 1; }

(cd "$source_tree" && node packages/toolchain/src/set-up.mjs && node packages/toolchain/src/build.mjs)

library=$root/usr/lib/lanthorn
echo "installing into $library"
fresh=$library.new
rm -rf "$fresh"
mkdir -p "$fresh/bin"
(cd "$source_tree" && tar -cf - --exclude=src --exclude=samples --exclude=.turbo --exclude=packages/toolchain \
  package.json package-lock.json LICENSE node_modules packages/*/package.json packages/*/dist apps/*/package.json apps/*/dist test/package.json) |
  tar -xf - -C "$fresh"
# Development packages stay behind; nothing is fetched.
(cd "$fresh" && npm prune --omit=dev --offline --ignore-scripts --loglevel=error --no-audit --no-fund >/dev/null && rm -rf test package-lock.json)
for app in probe collector; do
  cat >"$fresh/bin/lanthorn-$app" <<EOF
#!/bin/sh
exec node --max-semi-space-size=2 "\$(dirname "\$(readlink -f "\$0")")/../apps/$app/dist/main.js" "\$@"
EOF
done
cat >"$fresh/bin/lanthorn" <<'EOF'
#!/bin/sh
exec node "$(dirname "$(readlink -f "$0")")/../apps/cli/dist/main.js" "$@"
EOF
chmod 755 "$fresh"/bin/*
rm -rf "$library.old"
[ ! -d "$library" ] || mv "$library" "$library.old"
mv "$fresh" "$library"
rm -rf "$library.old"

mkdir -p "$root/usr/bin" "$root/usr/lib/systemd/system" "$root/usr/lib/sysusers.d" "$root/usr/lib/tmpfiles.d" "$root/etc/lanthorn/credentials"
chmod 700 "$root/etc/lanthorn/credentials"
ln -sfn ../lib/lanthorn/bin/lanthorn "$root/usr/bin/lanthorn"
install -m 644 "$here/sysusers.conf" "$root/usr/lib/sysusers.d/lanthorn.conf"
install -m 644 "$here/tmpfiles.conf" "$root/usr/lib/tmpfiles.d/lanthorn.conf"

secret() { # NAME BYTES: made once, kept after that
  file=$root/etc/lanthorn/credentials/$1
  [ -s "$file" ] || (umask 077 && node -e "process.stdout.write(require('crypto').randomBytes($2).toString('base64url'))" >"$file")
}

for unit in $units; do
  ln -sfn "../lib/lanthorn/bin/lanthorn-$unit" "$root/usr/bin/lanthorn-$unit"
  install -m 644 "$here/lanthorn-$unit.service" "$root/usr/lib/systemd/system/lanthorn-$unit.service"
  [ -e "$root/etc/lanthorn/$unit.toml" ] || install -m 644 "$here/$unit.toml" "$root/etc/lanthorn/$unit.toml"
  if [ "$unit" = collector ]; then
    secret token-secret 48
    secret admin-password 18
  fi
done

if [ -z "$root" ]; then
  systemd-sysusers
  systemd-tmpfiles --create
  systemctl daemon-reload
fi
if [ "$start" = yes ]; then
  for unit in $units; do
    if [ "$unit" = probe ] && [ ! -d /var/lib/lanthorn-probe/identity ]; then
      systemctl enable lanthorn-probe.service
      echo "The probe is not enrolled yet. Set its interface in /etc/lanthorn/probe.toml, then:"
      echo "  lanthorn-probe enroll --collector https://COLLECTOR:8443 --token TOKEN && systemctl start lanthorn-probe"
    else
      systemctl enable --now "lanthorn-$unit.service"
    fi
  done
fi
case $units in
  *collector*) echo "User admin's first password is in /etc/lanthorn/credentials/admin-password." ;;
esac
echo "installed:$units"
