/** An empty cache that has no room. @see https://github.com/memcached/memcached/blob/1.6.9/doc/protocol.txt */
import type { Service, Stage } from "../service.ts";
import { createLineReader, splitCommand } from "../line-reader.ts";

const STORES: ReadonlySet<string> = new Set(["SET", "ADD", "REPLACE", "APPEND", "PREPEND", "CAS"]);
const READS: ReadonlySet<string> = new Set(["GET", "GETS", "GAT", "GATS"]);

/** As Debian sets it up. */
const SETTINGS: readonly (readonly [name: string, value: number | string])[] = [
  ["maxbytes", 67_108_864], ["maxconns", 1024], ["tcpport", 11_211], ["udpport", 0], ["inter", "0.0.0.0"], ["verbosity", 0], ["oldest", 0], ["evictions", "on"], ["domain_socket", "NULL"], ["umask", 700],
  ["growth_factor", "1.25"], ["chunk_size", 48], ["num_threads", 4], ["num_threads_per_udp", 4], ["stat_key_prefix", ":"], ["detail_enabled", "no"], ["reqs_per_event", 20], ["cas_enabled", "yes"],
  ["tcp_backlog", 1024], ["binding_protocol", "auto-negotiate"], ["auth_enabled_sasl", "no"], ["auth_enabled_ascii", "no"], ["item_size_max", 1_048_576], ["maxconns_fast", "yes"], ["hashpower_init", 0],
];

/** Of a server that nobody uses: it counts only itself. */
function statsOf(stage: Stage, nowMs: number): readonly (readonly [name: string, value: number | string])[] {
  const own = stage.derive("memcached", 8);
  const uptime = Math.floor((nowMs - stage.startedMs) / 1000) + 86_400 * (3 + own.readUInt16BE(0) % 60) + own.readUInt16BE(2);
  const counts = ["cmd_get", "cmd_set", "cmd_flush", "cmd_touch", "get_hits", "get_misses", "delete_misses", "delete_hits", "bytes_read", "bytes_written", "bytes", "curr_items", "total_items", "evictions", "reclaimed"];
  return [
    ["pid", 400 + own.readUInt16BE(4) % 900], ["uptime", uptime], ["time", Math.floor(nowMs / 1000)], ["version", stage.persona.memcached], ["libevent", "2.1.12-stable"], ["pointer_size", 64],
    ["rusage_user", (uptime / 23_000).toFixed(6)], ["rusage_system", (uptime / 19_000).toFixed(6)], ["max_connections", 1024], ["curr_connections", 2], ["total_connections", 3 + own.readUInt16BE(6) % 40],
    ["rejected_connections", 0], ["connection_structures", 3], ["threads", 4], ["limit_maxbytes", 67_108_864], ["accepting_conns", 1], ["hash_power_level", 16], ["hash_bytes", 524_288], ...counts.map((name) => [name, 0] as const),
  ];
}

function toText(stats: readonly (readonly [name: string, value: number | string])[]): string {
  return `${stats.map(([name, value]) => `STAT ${name} ${value}\r\n`).join("")}END\r\n`;
}

/** Knows no key and keeps none. */
export const memcached: Service = (peer, stage) => {
  let isData = false;
  return createLineReader((line) => {
    if (isData) {
      isData = false;
      return peer.send("SERVER_ERROR out of memory storing object\r\n");
    }
    const { verb, rest } = splitCommand(line);
    if (verb === "QUIT") return peer.end();
    if (verb === "VERSION") return peer.send(`VERSION ${stage.persona.memcached}\r\n`);
    peer.reached("command", "", line.slice(0, 256));
    if (STORES.has(verb)) {
      // The value follows as a line of its own.
      isData = rest.split(" ").length >= 4;
      if (!isData) peer.send("ERROR\r\n");
    } else if (READS.has(verb)) peer.send("END\r\n");
    else if (verb === "STATS") peer.send(toText(/^settings\b/.test(rest) ? SETTINGS : rest === "" ? statsOf(stage, peer.now().getTime()) : []));
    else peer.send(verb === "FLUSH_ALL" ? "OK\r\n" : "ERROR\r\n");
  });
};
