/**
 * The newer capture file: blocks in sections, each with its own interfaces. Blocks of frames and interfaces are read, all
 * others passed over.
 * @see https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcapng/
 */
import type { CaptureFormat, CaptureStep } from "./capture-file-framing.ts";
import { readU32 } from "./capture-file-order.ts";
import { HEAD_BYTES, MIN_BLOCK_BYTES, readBlockBody, type Section, SECTION_HEADER_BLOCK, TRAILER_BYTES } from "./pcapng-blocks.ts";
import type { Reader } from "../reader.ts";

/** How a section header says in which byte order its section is written. */
export const BYTE_ORDER_MAGIC = 0x1a2b3c4d;
const OTHER_BYTE_ORDER_MAGIC = 0x4d3c2b1a;

/**
 * Reads versions 1.x of either byte order, section by section. Malformed are: a record of more than `MAX_CAPTURE_RECORD_BYTES`,
 * an interface description longer than that, a frame of an interface that was not described, and lengths that do not agree.
 */
export function createPcapngFormat(): CaptureFormat {
  let section: Section | null = null;
  /** The length that the trailer which comes next must repeat, or null between blocks. */
  let trailerOf: number | null = null;

  function readBlock(reader: Reader): CaptureStep {
    if (reader.remaining < HEAD_BYTES) return { kind: "need", bytes: HEAD_BYTES };
    const begun = readSectionStart(reader, section?.index ?? -1);
    if (begun && "kind" in begun) return begun;
    const within = begun ?? section;
    if (!within) return { kind: "malformed", offset: 0 };
    const type = readU32(reader, within.order);
    const totalLength = readU32(reader, within.order);
    if (totalLength < MIN_BLOCK_BYTES) return { kind: "malformed", offset: 4 };
    // Some writers leave the padding out of the length, though not out of the file.
    const step = readBlockBody(type, { reader, length: Math.ceil(totalLength / 4) * 4 }, within);
    if (step.kind === "take") {
      section = within;
      trailerOf = totalLength;
    }
    return step;
  }

  function readTrailer(reader: Reader, { order }: Section, length: number): CaptureStep {
    if (reader.remaining < TRAILER_BYTES) return { kind: "need", bytes: TRAILER_BYTES };
    if (readU32(reader, order) !== length) return { kind: "malformed", offset: 0 };
    trailerOf = null;
    return { kind: "take", bytes: TRAILER_BYTES, record: null };
  }

  return {
    layer: "pcapng",
    step: (reader) => (section === null || trailerOf === null ? readBlock(reader) : readTrailer(reader, section, trailerOf)),
    mayEnd: () => section !== null && trailerOf === null,
  };
}

/**
 * Looks at the head of a block without passing it.
 * @param previous The index of the section before.
 * @returns The section that the block begins; null where it begins none; a step where too little of it is there or it is malformed.
 */
function readSectionStart(reader: Reader, previous: number): Section | CaptureStep | null {
  const start = reader.offset;
  const isHeader = reader.u32() === SECTION_HEADER_BLOCK;
  if (isHeader && reader.remaining < 8) return { kind: "need", bytes: HEAD_BYTES + 4 };
  reader.skip(4);
  const magic = isHeader ? reader.u32() : null;
  reader.seek(start);
  if (magic === null) return null;
  if (magic !== BYTE_ORDER_MAGIC && magic !== OTHER_BYTE_ORDER_MAGIC) return { kind: "malformed", offset: 8 };
  return { order: magic === BYTE_ORDER_MAGIC ? "big" : "little", index: previous + 1, interfaces: [] };
}
