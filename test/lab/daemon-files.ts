import { BRANCH } from "./hard-hosts.ts";
import { type HostPlan, LAN } from "./host-plan.ts";
import { lines } from "./lines.ts";
import { NATURES } from "./natures.ts";

/** The configuration files of the hosts' daemons. */

export function dnsmasqConf(hosts: readonly HostPlan[]): string {
  const records = hosts
    .filter((host) => host.inDns === true)
    .flatMap((host) => host.addresses.map((address) => `host-record=${host.name}.${LAN.domain},${address.split("/")[0]}`));
  const { first, last, seconds } = LAN.leases;
  return lines(
    "user=root",
    "interface=eth0",
    "except-interface=lo",
    "bind-interfaces",
    "no-resolv",
    "no-hosts",
    "bogus-priv",
    `domain=${LAN.domain}`,
    `local=/${LAN.domain}/`,
    `dhcp-range=${first},${last},255.255.255.0,${seconds}`,
    `dhcp-option=option:router,${LAN.gateway}`,
    `dhcp-option=option:dns-server,${LAN.dnsServer}`,
    "dhcp-authoritative",
    "dhcp-leasefile=/run/dnsmasq.leases",
    "pid-file=/run/dnsmasq.pid",
    "log-facility=-",
    "log-dhcp",
    /** It would ping an address for three seconds before it offers it; here nobody takes an address of the range for himself. */
    "no-ping",
    ...records,
    ...BRANCH.hosts.map((address, index) => `host-record=${BRANCH.names[index]}.${LAN.domain},${address}`),
  );
}

export function nginxConf(plan: HostPlan): string {
  const listen = (plan.webPorts ?? [80]).flatMap((port) => [`listen ${port};`, `listen [::]:${port};`]).join(" ");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path /run/nginx/${kind};`).join(" ");
  return lines(
    "daemon off; master_process off; pid /run/nginx.pid;",
    "events { worker_connections 64; }",
    `http { access_log off; ${temporary}`,
    `  server { ${listen} server_name ${plan.name}; default_type text/html;`,
    `    location / { return 200 "<!doctype html><title>${NATURES[plan.name]?.title ?? plan.name}</title><h1>${plan.name}</h1>\\n"; } } }`,
  );
}

export function snmpdConf(plan: HostPlan): string {
  const description = `sysDescr ${NATURES[plan.name]?.systemDescription ?? `${plan.name} of the lab`}`;
  // As Debian's own has none, the kernel is its description.
  const names = [`sysName ${plan.name}`, ...(plan.isGuarded ? [] : [description]), "sysLocation lab"];
  return lines("agentaddress udp:161,udp6:161", "rocommunity public default", "rocommunity6 public default", ...names);
}

export function avahiConf(plan: HostPlan): string {
  return lines(
    "[server]",
    `host-name=${plan.name}`,
    "allow-interfaces=eth0",
    "enable-dbus=no",
    "[wide-area]",
    "enable-wide-area=no",
    "[publish]",
    "publish-workstation=no",
    "publish-hinfo=no",
  );
}

/** What an avahi host offers: what its nature is to offer, else its web pages where it has some, else only itself. @see avahi.service(5) */
export function avahiService(plan: HostPlan): string {
  const offers = NATURES[plan.name]?.offers ?? [
    plan.daemons.includes("nginx") ? ["_http._tcp", 80] as const : ["_device-info._tcp", 0] as const,
  ];
  return lines(
    '<?xml version="1.0" standalone="no"?><!DOCTYPE service-group SYSTEM "avahi-service.dtd">',
    '<service-group><name replace-wildcards="yes">%h</name>',
    ...offers.map(([type, port, ...txt]) =>
      `<service><type>${type}</type><port>${port}</port>${txt.map((text) => `<txt-record>${text}</txt-record>`).join("")}</service>`),
    "</service-group>",
  );
}

export function dhcpScript(busybox: string, ip: string): string {
  return lines(
    "#!/bin/sh",
    `ip() { ${ip} "$@"; }`,
    'case "$1" in',
    "deconfig)",
    '  ip link set "$interface" up; ip -4 addr flush dev "$interface" ;;',
    "bound|renew)",
    '  ip addr replace "$ip/$mask" broadcast "${broadcast:-+}" dev "$interface"',
    '  for one in $router; do ip route replace default via "$one" dev "$interface"; done',
    `  [ "$1" = renew ] || ${busybox} arping -U -q -c 1 -w 1 -I "$interface" "$ip" & ;;`,
    "esac",
    "exit 0",
  );
}
