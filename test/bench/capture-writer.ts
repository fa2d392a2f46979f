/**
 * The least that captures everything, for `bench -- capture`: `INTERFACE FILE`. Frames go by way of a ring of 64 MiB in memory into a
 * pcapng file. Says "ready", and at SIGTERM what it counted.
 */
import { createFrameCursor, openTrafficCapture } from "@lanthorn/packet-io";
import { createPcapngWriter } from "@lanthorn/packets";
import { systemClock } from "@lanthorn/runtime";
import { open } from "node:fs/promises";

const RING_OCTETS = 64 << 20;
const BUFFER_OCTETS = 1 << 20;
const BUFFERS = 12;

const [name = "", path = ""] = process.argv.slice(2);
const file = await open(path, "w");
const writer = createPcapngWriter({ application: "lanthorn bench", interfaces: [{ linkType: 1, name }] });
await file.write(writer.header());
const free: Buffer[] = Array.from({ length: BUFFERS }, () => Buffer.alloc(BUFFER_OCTETS));
const facts = { interfaceId: 0 };
const cursor = createFrameCursor();
const ring = Buffer.alloc(RING_OCTETS);
let ringAt = 0;
let buffer: Buffer | null = null;
let filled = 0;
let written = 0;
let left = 0;
let pending: Promise<unknown> = Promise.resolve();

function flush(): void {
  const full = buffer;
  const length = filled;
  buffer = null;
  filled = 0;
  if (full) pending = pending.then(() => file.write(full, 0, length)).then(() => void free.push(full));
}

async function end(): Promise<void> {
  flush();
  capture.close();
  await pending;
  await file.close();
  console.log(JSON.stringify({ captured: written, dropped: capture.counters().droppedByKernel + left }));
}

const capture = openTrafficCapture({
  interface: name, snapLength: 262_144, promiscuous: true, clock: systemClock,
  allocate(octets) {
    if (ringAt + octets > RING_OCTETS) ringAt = 0;
    const offset = ringAt;
    ringAt += (octets + 7) & ~7;
    return { bytes: ring, offset };
  },
  onBlock(block) {
    for (cursor.start(block); cursor.next();) {
      buffer ??= free.pop() ?? null;
      let end = buffer ? writer.writeRecord(buffer, filled, cursor, facts) : -1;
      if (end < 0 && buffer) {
        flush();
        buffer = free.pop() ?? null;
        end = buffer ? writer.writeRecord(buffer, 0, cursor, facts) : -1;
      }
      if (end < 0) left += 1;
      else {
        filled = end;
        written += 1;
      }
    }
  },
  onLost: (reason) => console.error(reason.message),
});
process.once("SIGTERM", () => void end());
console.log("ready");
