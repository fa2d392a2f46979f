/** Sockets that systemd opened before this process was there, so that port 53 needs no right here and no question is lost while it starts. @see sd_listen_fds(3) */
import { readFileSync, readlinkSync } from "node:fs";

/** By what they are. */
export interface GivenSockets {
  readonly udp: readonly number[];
  readonly tcp: readonly number[];
}

const FIRST = 3;

/** @returns None where the environment speaks of another process, or of no socket. */
export function givenSockets(environment: Readonly<Record<string, string | undefined>>, pid: number): GivenSockets {
  const count = Number(environment["LISTEN_FDS"] ?? 0);
  if (environment["LISTEN_PID"] !== String(pid) || !Number.isInteger(count) || count < 1 || count > 64) return { udp: [], tcp: [] };
  const datagrams = new Set(["udp", "udp6"].flatMap((table) => inodesOf(`/proc/self/net/${table}`)));
  const all = Array.from({ length: count }, (_, index) => FIRST + index);
  const isDatagram = (fd: number) => datagrams.has(readlinkSync(`/proc/self/fd/${fd}`).replace(/^socket:\[(\d+)\]$/, "$1"));
  return { udp: all.filter(isDatagram), tcp: all.filter((fd) => !isDatagram(fd)) };
}

/** The tenth column. @see proc_net(5) */
function inodesOf(table: string): readonly string[] {
  return readFileSync(table, "utf8").split("\n").slice(1).map((line) => line.trim().split(/\s+/)[9] ?? "");
}
