import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { formatPortRanges, type ProbeEvent } from "@lanthorn/contract/uplink";
import { createId } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { bundleProgram } from "../../../../test/lab/bundle-program.ts";
import { portsOf } from "./ports/port-lists.ts";
import { createAnsweringNetwork } from "./testing/answering-network.ts";
import { whyNoNamespaces } from "../discover/testing/real-lan.ts";

const CHILD = fileURLToPath(new URL("testing/one-scan.ts", import.meta.url));
const reason = whyNoNamespaces();
if (reason) console.warn(`a first scan: ${reason}`);

describe.skipIf(reason !== null)("a scan right after the probe's start", () => {
  test("tells of no port before its host, and by its MAC: the collector keeps none of a device that it does not know", async () => {
    const network = createAnsweringNetwork();
    try {
      network.live("10.66.0.1/32");
      await network.listen([22, 80, 443]);
      const order = JSON.stringify({ scan_id: createId(), target: "10.66.0.0/28", profile: "quick", excluded: [] });
      const node = [process.execPath, bundleProgram(CHILD), order];
      const child = spawn("ip", ["netns", "exec", network.scanner, ...node], { stdio: ["pipe", "pipe", "inherit"] });
      const events: ProbeEvent[] = [];
      const lines = createInterface({ input: child.stdout });
      lines.on("line", (line) => line.startsWith('{"type"') && events.push(JSON.parse(line) as ProbeEvent));
      await new Promise<void>((resolve) => child.once("close", () => resolve()));

      const known = new Set<string>();
      const early: unknown[] = [];
      for (const event of events) {
        if (event.type === "host_found") known.add(event.data.mac);
        if (event.type === "port_found" && !known.has(event.data.mac)) early.push(event.data);
      }
      expect(early).toEqual([]);
      const ports = events.flatMap((event) => (event.type === "port_found" ? [event.data.port] : []));
      expect(new Set(ports)).toEqual(new Set([22, 80, 443]));

      // What the collector closes ports by: which were asked, as many as were counted, and the counts behind the open ports.
      const [asked] = events.flatMap((event) => (event.type === "scan_started" ? [event.data.ports] : []));
      const counted = events.findIndex(({ type, data }) => type === "scan_results" && data.hosts.some(({ port_counts: counts }) => counts));
      const [tcp] = events.flatMap((event) => (event.type === "scan_results" ? event.data.hosts.flatMap(({ port_counts: counts }) => counts?.tcp ?? []) : []));
      expect(events.findLastIndex((event) => event.type === "port_found" && event.data.service === "")).toBeLessThan(counted);
      expect(asked).toEqual({ tcp: formatPortRanges(portsOf("quick").tcp), udp: "" });
      expect(tcp).toEqual({ open: 3, closed: portsOf("quick").tcp.length - 3, filtered: 0, "open|filtered": 0 });
    } finally {
      network.close();
    }
  });
});
