import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPcapWriter } from "@lanthorn/packets";
import { createPcapSession, type PcapSession } from "../capture/pcap-binding.ts";

/** What libpcap offers beside, for files. */
interface FileSession extends PcapSession {
  open_offline(...options: Parameters<PcapSession["open_live"]>): string;
}

const ETHERNET = 1;
const MAX_FRAME = 65_535;

/**
 * Which frames libpcap lets through a filter. For tests only.
 * @returns One answer for each frame.
 * @throws Error with libpcap's message for a filter that it does not take.
 */
export function passesFilter(filter: string, frames: readonly Uint8Array[]): readonly boolean[] {
  const folder = mkdtempSync(join(tmpdir(), "filter-"));
  try {
    const file = join(folder, "frames.pcap");
    const writer = createPcapWriter({ linkType: ETHERNET, resolution: "microseconds" });
    // Each has its number for a time.
    const records = frames.map((bytes, seconds) => writer.record({ seconds, nanoseconds: 0, bytes, originalLength: bytes.length }));
    writeFileSync(file, Buffer.concat([writer.header(), ...records]));
    const header = Buffer.alloc(16);
    const passed = new Set<number>();
    const session = createPcapSession() as FileSession;
    session.open_offline(file, filter, 0, MAX_FRAME, "", () => void passed.add(header.readUInt32LE(0)), false, 0, () => undefined, false);
    session.dispatch(Buffer.alloc(MAX_FRAME), header);
    session.close();
    return frames.map((_, seconds) => passed.has(seconds));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
