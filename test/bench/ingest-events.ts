import type { ProbeEvent } from "@lanthorn/contract";
import type { Random } from "@lanthorn/runtime";

/** Hosts of the one site: more than most, so that a batch does not meet the same few over and over. */
const HOSTS = 4000;

const START = Date.UTC(2026, 10, 20, 8);
const VENDORS = [
  "Hewlett Packard", "Apple, Inc.", "Intel Corporate", "Espressif Inc.", "Cisco Systems, Inc", "Brother Industries, LTD.",
  "Samsung Electronics Co.,Ltd", "",
];
const SERVICES = [
  ["http", 80, "nginx 1.22.1"], ["ssh", 22, "OpenSSH 9.2p1 Debian-2+deb12u3"], ["domain", 53, "dnsmasq 2.90"], ["https", 443, ""],
  ["ipp", 631, "CUPS 2.4"],
] as const;

interface Host {
  readonly mac: string;
  ip: string;
  hostname: string;
  readonly vendor: string;
  online: boolean;
}

/**
 * What a probe of a large site sends in some days, drawn from a seed: all hosts are found first, then they come, go, change
 * addresses and names, show ports, and are reported present, with now and then an alert.
 */
export function* makeEvents(count: number, random: Random): Generator<ProbeEvent> {
  const hosts = Array.from({ length: HOSTS }, (_, index) => makeHost(index, random));
  for (let index = 0; index < count; index += 1) {
    const at = new Date(START + index * 400).toISOString();
    const host = index < HOSTS ? hosts[index] as Host : hosts[random(HOSTS)] as Host;
    yield index < HOSTS ? { type: "host_found", occurred_at: at, data: stateOf(host, at) } : draw(host, hosts, at, random);
  }
}

/** Shares of a thousand. */
function draw(host: Host, hosts: readonly Host[], at: string, random: Random): ProbeEvent {
  const share = random(1000);
  const { ip, mac } = host;
  if (share < 280) return presenceReport(hosts, at, random);
  if (share < 580) {
    const [service, port, version] = SERVICES[random(SERVICES.length)] as (typeof SERVICES)[number];
    const isOpen = random(20) > 0;
    return {
      type: "port_found", occurred_at: at,
      data: {
        ip, mac, port, protocol: "tcp", state: isOpen ? "open" : "closed", service, version, banner: isOpen ? `${version} ready\r\n` : "",
        scan_id: null,
      },
    };
  }
  if (share < 750) {
    const renamed = random(3) === 0;
    if (renamed) host.hostname = `host-${random(100_000)}`;
    else host.ip = `10.${20 + random(4)}.${random(256)}.${1 + random(254)}`;
    return { type: "host_changed", occurred_at: at, data: { ...stateOf(host, at), changed: renamed ? ["hostname"] : ["ip", "addresses"] } };
  }
  if (share < 950) {
    host.online = !host.online;
    if (host.online) return { type: "host_online", occurred_at: at, data: { ip, mac, last_seen_at: at } };
    return {
      type: "host_offline", occurred_at: at,
      data: { ip, mac, last_seen_at: new Date(Date.parse(at) - 150_000).toISOString(), missed_checks: 3 },
    };
  }
  if (share < 980) {
    return {
      type: "dns_threat", occurred_at: at,
      data: {
        client_ip: ip, client_mac: mac, query_name: `cdn-${random(5000)}.example.net`, query_type: "A", action: "blocked",
        feed: "example-feed",
        reason: "listed as a malware distribution point", severity: "high", listed_since: null,
      },
    };
  }
  return {
    type: "probe_health_alert", occurred_at: at,
    data: {
      metric: "cpu", state: random(2) === 0 ? "raised" : "cleared", severity: "medium", value: 91.5, threshold: 90, unit: "%",
      message: "CPU above 90 % for 5 minutes",
    },
  };
}

function presenceReport(hosts: readonly Host[], at: string, random: Random): ProbeEvent {
  const chosen = Array.from({ length: 6 + random(8) }, () => hosts[random(hosts.length)] as Host);
  return {
    type: "presence_report", occurred_at: at,
    data: { hosts: chosen.map(
      ({ ip, mac, online }) => ({ ip, mac, last_seen_at: at, presence_state: online ? "online" as const : "offline" as const }),
    ) },
  };
}

function stateOf({ ip, mac, hostname, vendor }: Host, at: string) {
  const evidence = (field: string, value: string, source: string, confidence: number) => (value === "" ? [] : [{
    field, value, source, confidence, seen_at: at,
  }]);
  return {
    ip, mac, hostname, vendor, addresses: [ip],
    evidence: [
      ...evidence("ip", ip, "arp", 0.9), ...evidence("hostname", hostname, "dhcp", 0.8), ...evidence("vendor", vendor, "oui", 0.6),
    ],
  };
}

function makeHost(index: number, random: Random): Host {
  const hex = (value: number) => (value & 0xff).toString(16).padStart(2, "0");
  return {
    mac: `3c:22:fb:${hex(index >> 16)}:${hex(index >> 8)}:${hex(index)}`, ip: `10.20.${index >> 8}.${index & 0xff}`,
    hostname: `host-${index}`, vendor: VENDORS[random(VENDORS.length)] as string, online: true,
  };
}
