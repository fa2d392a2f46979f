import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DEFAULT_CAPTURE_SETTINGS } from "@lanthorn/contract/uplink";
import { encodeFrameBlock, type TrafficCaptureOptions } from "@lanthorn/packet-io";
import { readCapture } from "@lanthorn/packets";
import { createId, silentLog, systemClock } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { bundleProgram } from "../../../../../test/lab/bundle-program.ts";
import type { FromProcess } from "../messages.ts";
import { TrafficSettings } from "../settings.ts";
import { at, udpFrame } from "../testing/frames.ts";
import { openParts } from "./open-parts.ts";
import { type Begin, createTrafficProcess } from "./traffic-process.ts";

const PROGRAM = [process.execPath, bundleProgram(fileURLToPath(new URL("../export/testing/exporter.ts", import.meta.url)))];
const HOST = { mac: "02:00:00:00:00:01", ip: "10.0.0.1" };
const FRAMES = 40;

test("an export up to now has what still waits in memory for those who write it", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "lanthorn-traffic-process-"));
  const said: FromProcess[] = [];
  const send = (message: FromProcess) => said.push(message) > 0;
  const begin: Begin = {
    kind: "begin", settings: TrafficSettings.parse({ interfaces: ["lan0"], continuous: { enabled: true, free_floor_megabytes: 0 } }), data_dir: dataDir,
    probe_id: createId(), version: "1", spool_bytes: 1e9, site: DEFAULT_CAPTURE_SETTINGS, gaps: [], home_networks: [],
  };
  const deps = { begin, send, clock: systemClock, log: silentLog };
  const captures: Pick<TrafficCaptureOptions, "allocate" | "onBlock">[] = [];
  const traffic = createTrafficProcess({
    ...deps, random: Math.random, compile: () => ({ program: null }), parts: await openParts({ ...deps, program: PROGRAM, ownNetworks: () => [] }),
    openCapture(options) {
      captures.push(options);
      // So much waits in the kernel that blocks are only copied.
      return { load: () => 0.4, counters: () => ({ frames: 0, droppedByKernel: 0, droppedByInterface: 0 }), close: () => undefined };
    },
  });
  try {
    const now = Date.now();
    for (let frame = 0; frame < FRAMES; frame += 1) {
      const made = encodeFrameBlock([at(now, udpFrame(HOST, HOST, "x".repeat(frame)))]);
      const place = captures[0]?.allocate(made.end) ?? { bytes: Buffer.alloc(0), offset: 0 };
      made.bytes.copy(place.bytes, place.offset, 0, made.end);
      captures[0]?.onBlock({ ...place, end: place.offset + made.end, frames: 1 });
    }
    traffic.onMessage({
      kind: "command", id: 7, command: "pcap_export",
      data: {
        pcap_id: createId(), from: new Date(now - 1000).toISOString(), to: new Date(now + 1000).toISOString(), host: null, peer: null, side: "both", filter: "", bytes: 1e6,
      },
    });
    await expect.poll(() => said.filter(({ kind }) => kind === "reply" || kind === "refusal")).toMatchObject([{ kind: "reply", id: 7 }]);
    const folder = join(dataDir, "captures", "continuous");
    const written = readdirSync(folder).filter((name) => name.endsWith(".pcapng.part")).map((name) => readCapture(new Uint8Array(readFileSync(join(folder, name)))).records.length);
    expect(written).toEqual([FRAMES]);
  } finally {
    await traffic.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
