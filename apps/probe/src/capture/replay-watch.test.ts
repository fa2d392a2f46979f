import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openReplay } from "@lanthorn/packet-io";
import { createPcapWriter } from "@lanthorn/packets";
import { systemClock } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createReplayWatch } from "./replay-watch.ts";

test("a capture file is up until its end, so that nobody's silence counts after it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "replay-watch-"));
  const path = join(folder, "one.pcap");
  const writer = createPcapWriter({ linkType: 1 });
  writeFileSync(path, Buffer.concat([writer.header(), writer.record({ seconds: 1, nanoseconds: 0, bytes: new Uint8Array(60) })]));
  const upAtFrame: (boolean | undefined)[] = [];
  let end: (problem: string | null) => void = () => undefined;
  const ended = new Promise<string | null>((resolve) => {
    end = resolve;
  });
  const watch = createReplayWatch({
    path, networks: [], openReplay, clock: systemClock, onFrames: () => upAtFrame.push(watch.facts()?.up), onEnd: end,
  });
  expect([watch.facts()?.up, await ended]).toEqual([true, null]);
  expect([upAtFrame, watch.facts()?.up, watch.facts()?.addresses.length, watch.counters().frames]).toEqual([[true], false, 5, 1]);
  await watch.close();
  rmSync(folder, { recursive: true });
});
