/** Who has a port that is in use, as far as this process may see, and what to do then. @see proc_net(5), proc_pid_fd(5) */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Place } from "./listener.ts";

/** Programs that often have port 53, and how they make room. Nothing of theirs is changed for them. */
const ADVICE: Readonly<Record<string, string>> = {
  "systemd-resolve": "systemd-resolved listens on 127.0.0.53 only: leave that address to it and name another one in listen, or set DNSStubListener=no in /etc/systemd/resolved.conf",
  dnsmasq: "dnsmasq: set port=0 in its configuration to keep its DHCP only, or listen-address and bind-interfaces to leave this address free",
  unbound: "unbound: take this address out of its interface lines, or forward to it from another address",
  named: "BIND: take this address out of listen-on",
  "pihole-FTL": "Pi-hole: only one of the two can serve this address",
  AdGuardHome: "AdGuard Home: only one of the two can serve this address",
};

/** @returns Text to stand behind "is in use"; without a name where the holder cannot be seen. */
export function portHolder({ port }: Place, protocol: "udp" | "tcp"): string {
  const name = holderOf(port, protocol);
  if (name === null) return `: find who has it with \`ss -lnp sport = :${port}\` as root, and stop it or name another address in listen`;
  return ` by ${name}. ${ADVICE[name] ?? "Stop it, or name another address in listen"}`;
}

function holderOf(port: number, protocol: "udp" | "tcp"): string | null {
  try {
    const inodes = new Set([protocol, `${protocol}6`].flatMap((table) => inodesOf(`/proc/net/${table}`, port)));
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) if (holds(pid, inodes)) return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    // Without /proc nobody knows.
  }
  return null;
}

/** The second column is the local address and port in hexadecimal, the tenth the socket's inode. */
function inodesOf(table: string, port: number): readonly string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return readFileSync(table, "utf8").split("\n").slice(1).map((line) => line.trim().split(/\s+/))
    .filter((columns) => columns[1]?.endsWith(suffix) === true).map((columns) => columns[9] ?? "");
}

function holds(pid: string, inodes: ReadonlySet<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      const target = readlinkSync(`/proc/${pid}/fd/${fd}`);
      return target.startsWith("socket:[") && inodes.has(target.slice(8, -1));
    });
  } catch {
    return false;
  }
}
