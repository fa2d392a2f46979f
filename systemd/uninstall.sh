#!/bin/sh
# Takes the services away again.
#   uninstall.sh probe|collector|all|dns|decoy [--root DIR] [--purge]
# State and configuration stay unless --purge is given.
set -eu

root=
purge=no
units=
while [ $# -gt 0 ]; do
  case $1 in
    probe | collector | dns | decoy) units="$units $1" ;;
    all) units="probe collector dns decoy" ;;
    --root) root=${2:?--root needs a folder}; shift ;;
    --purge) purge=yes ;;
    *) echo "uninstall.sh: unknown argument: $1" >&2; sed -n '2,4p' "$0" >&2; exit 2 ;;
  esac
  shift
done
[ -n "$units" ] || { sed -n '2,4p' "$0" >&2; exit 2; }
[ -n "$root" ] || [ "$(id -u)" = 0 ] || { echo "uninstall.sh: must run as root, or with --root DIR" >&2; exit 1; }

for unit in $units; do
  if [ -z "$root" ]; then systemctl disable --now "lanthorn-$unit.service" 2>/dev/null || true; fi
  if [ "$unit" = dns ]; then
    if [ -z "$root" ]; then systemctl disable --now lanthorn-dns.socket 2>/dev/null || true; fi
    rm -f "$root/usr/lib/systemd/system/lanthorn-dns.socket"
    if [ "$purge" = yes ]; then rm -rf "$root/etc/systemd/system/lanthorn-dns.socket.d" "$root/var/lib/lanthorn/dns"; fi
  fi
  if [ "$unit" = decoy ]; then
    if [ -z "$root" ]; then systemctl stop lanthorn-decoy-addresses.service 2>/dev/null || true; fi
    rm -f "$root/usr/lib/systemd/system/lanthorn-decoy-addresses.service"
    if [ "$purge" = yes ]; then rm -rf "$root/var/lib/lanthorn/decoy" "$root/var/lib/lanthorn-decoy-addresses"; fi
  fi
  rm -f "$root/usr/lib/systemd/system/lanthorn-$unit.service" "$root/usr/bin/lanthorn-$unit"
  if [ "$purge" = yes ]; then rm -rf "$root/var/lib/lanthorn-$unit" "$root/etc/lanthorn/$unit.toml"; fi
done
if [ ! -e "$root/usr/bin/lanthorn-probe" ] && [ ! -e "$root/usr/bin/lanthorn-collector" ] && [ ! -e "$root/usr/lib/systemd/system/lanthorn-dns.service" ] \
  && [ ! -e "$root/usr/lib/systemd/system/lanthorn-decoy.service" ]; then
  rm -rf "$root/usr/lib/lanthorn" "$root/usr/bin/lanthorn" "$root/usr/lib/sysusers.d/lanthorn.conf" "$root/usr/lib/tmpfiles.d/lanthorn.conf"
  if [ "$purge" = yes ]; then rm -rf "$root/etc/lanthorn"; fi
fi
if [ -z "$root" ]; then systemctl daemon-reload; fi
echo "removed:$units"
