import { createLiveClient, type Socket } from "@lanthorn/client";
import type { StreamFrame } from "@lanthorn/contract";
import { type Clock, createBackoff } from "@lanthorn/runtime";
import type { Connection } from "../connection.ts";
import { siteFilter } from "../site-id.ts";
import { printable } from "../table.ts";

/** `site` is a name or an id. `since` is a sequence number: events after it come first; without it, events from now on. */
export interface WatchOptions {
  readonly json: boolean;
  readonly events?: readonly string[];
  readonly site?: string;
  readonly since?: number;
}

/**
 * Prints events as they come, one line each, until it is stopped or the login ends.
 * @returns Why it ended.
 */
export async function watch({ session, rest }: Connection, options: WatchOptions, deps: {
  readonly connect: (url: string) => Socket;
  readonly clock: Clock;
  readonly random: () => number;
  readonly print: (line: string) => void;
  readonly note: (line: string) => void;
  readonly stopped: Promise<unknown>;
}): Promise<string> {
  let end: (reason: string) => void = () => undefined;
  const ended = new Promise<string>((resolve) => {
    end = resolve;
  });
  const { site_id: siteId } = await siteFilter(rest, options.site);
  const live = createLiveClient({
    url: session.url,
    token: () => session.access_token,
    ...(options.events === undefined ? {} : { events: options.events }),
    ...(siteId === undefined ? {} : { siteId }),
    since: options.since ?? null,
    connect: deps.connect,
    clock: deps.clock,
    backoff: createBackoff({ firstMs: 1000, longestMs: 30_000, random: deps.random }),
    onFrame: (frame) => deps.print(options.json ? JSON.stringify(frame) : formatFrame(frame)),
    onState: (state) => deps.note(
      state === "connected" ? `watching ${session.url}; stop with Ctrl-C` : "the connection was lost; trying again",
    ),
    onClosed: (reason) => end(`the stream has ended: ${reason}`),
  });
  await Promise.race([ended, deps.stopped]);
  live.close();
  end("");
  return ended;
}

/** Fields that say most of each event, in the order in which they are read. */
const TELLING_FIELDS: Readonly<Partial<Record<StreamFrame["event"], readonly string[]>>> = {
  host_found: ["ip", "mac", "hostname", "vendor"],
  port_found: ["ip", "port", "protocol", "state", "service", "version"],
  scan_complete: ["target", "profile", "hosts_up", "ports_open"],
  neighbor_discovered: ["protocol", "system_name", "port_id", "local_interface"],
  probe_health_alert: ["state", "message"],
  ids_alert: ["severity", "signature", "source_ip", "destination_ip"],
  honeypot_hit: ["severity", "service", "stage", "source_ip"],
  rogue_detected: ["severity", "kind", "ip", "mac", "detail"],
  vuln_found: ["severity", "cve_id", "ip", "matched_service"],
  dns_threat: ["severity", "state", "category", "client_ip", "query_name", "campaign", "count", "reason"],
  config_changed: ["hostname", "ip", "version"],
  pcap_ready: ["file_name", "size_bytes", "reason"],
  baseline_diff_alert: ["severity", "kind", "ip", "observed"],
  error: ["code", "message"],
};

/** One frame as a line to read: local time, event, and what says most of it. */
export function formatFrame(frame: StreamFrame): string {
  const values = (TELLING_FIELDS[frame.event] ?? []).map((field) => frame.data[field])
    .filter((value) => value !== undefined && value !== null && value !== "");
  const time = new Date(frame.timestamp).toLocaleTimeString("en-GB");
  return `${time}  ${frame.event.padEnd(19)}  `
    + values.map((value) => printable(typeof value === "string" ? value : JSON.stringify(value))).join("  ");
}
