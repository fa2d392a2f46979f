/** Runs as a process of its own: loads rules, reads a capture, and prints what that took and which alerts came, as one line of JSON. */
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { argv, stdout } from "node:process";
import { createCaptureReader } from "@lanthorn/packets";
import { loadEngine } from "./engine.ts";
import { alertKey, type EngineFigures } from "./figures.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";

/** Some hundred frames: what the reader makes of them dies young, as the probe makes nothing of them at all. */
const CHUNK_BYTES = 32 * 1024;

const [, , rulesPath = "", capturePath = ""] = argv;
const keys = new Set<string>();
let [alerts, packets] = [0, 0];
const beganAt = processorSeconds();
const engine = loadEngine(readFileSync(rulesPath), DEFAULT_SETTINGS, ({ rule, direction, source, destination, flow }) => {
  alerts += 1;
  keys.add(alertKey({ signatureId: rule.id, protocol: flow.protocol, ends: [`${source.ip}:${source.port}`, `${destination.ip}:${destination.port}`], isToServer: direction === "to-server" }));
});
const loadedAt = processorSeconds();
const reader = createCaptureReader();
const file = openSync(capturePath, "r");
// As the ring of the probe: one stretch of memory, used again.
const chunk = new Uint8Array(CHUNK_BYTES);
for (;;) {
  const count = readSync(file, chunk);
  if (count === 0) break;
  for (const { bytes, seconds, nanoseconds, linkType } of reader.push(chunk.subarray(0, count)).records) {
    packets += 1;
    engine.frame({ bytes, at: seconds * 1e6 + Math.floor(nanoseconds / 1000), linkType });
  }
}
closeSync(file);
const seenAt = processorSeconds();
engine.flush();
const figures: EngineFigures = {
  rulesLoaded: engine.rules.length, rulesRefused: engine.refused.length, loadSeconds: loadedAt - beganAt, packetSeconds: seenAt - loadedAt,
  rssBytes: Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync("/proc/self/status", "latin1"))?.[1] ?? 0) * 1024, packets, alerts, keys: [...keys],
};
stdout.write(`${JSON.stringify(figures)}\n`);

/** Of all threads: what the collector of garbage does beside counts too. */
function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
