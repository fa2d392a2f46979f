import {
  type CaptureBatch,
  type CaptureFormat,
  type CaptureReader,
  type CaptureStep,
  createFramedReader,
} from "./capture-file-framing.ts";
import { createPcapFormat, isPcapMagic } from "./pcap.ts";
import { createPcapngFormat } from "./pcapng.ts";
import { SECTION_HEADER_BLOCK } from "./pcapng-blocks.ts";

const MAGIC_BYTES = 4;

/**
 * Reads a capture file, pcap or pcapng, recognized by its first four bytes; chunks of any size, files of any size.
 * @returns A reader that holds back at most one unfinished record: `MAX_CAPTURE_RECORD_BYTES` and a header.
 */
export function createCaptureReader(): CaptureReader {
  let format: CaptureFormat | null = null;
  return createFramedReader({
    get layer() {
      return format?.layer ?? "capture-file";
    },
    step(reader): CaptureStep {
      if (!format) {
        if (reader.remaining < MAGIC_BYTES) return { kind: "need", bytes: MAGIC_BYTES };
        const magic = reader.u32();
        reader.seek(reader.offset - MAGIC_BYTES);
        if (magic === SECTION_HEADER_BLOCK) format = createPcapngFormat();
        else if (isPcapMagic(magic)) format = createPcapFormat();
        else return { kind: "malformed", offset: 0 };
      }
      return format.step(reader);
    },
    mayEnd: () => format?.mayEnd() ?? false,
  });
}

/** Reads a whole capture file that is in memory. @returns Every record, as views on `file`, and what was wrong at the end. */
export function readCapture(file: Uint8Array): CaptureBatch {
  const reader = createCaptureReader();
  const { records } = reader.push(file);
  return { records, malformed: reader.end() };
}
