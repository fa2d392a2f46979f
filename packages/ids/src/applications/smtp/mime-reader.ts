/** Mail as it comes, line by line: its fields, its files, and addresses of pages in its text. @see RFC 2046 section 5.1 */
import { GrowingBytes } from "../growing-bytes.ts";
import { type MimeHead, readMimeHead } from "./mime-text.ts";
import { createPartDecoder, type PartDecoder } from "./part-decoder.ts";

/** A part that has the name of a file. */
export interface MimeFile {
  readonly name: string;
  readonly bytes: GrowingBytes;
  /** Decoded bytes, beyond what is kept too. */
  octets: number;
  isOver: boolean;
}

/** What a mail has so far. */
export interface MimeReader {
  /** Of the mail itself, when they are whole. */
  readonly head: MimeHead | null;
  readonly files: readonly MimeFile[];
  /** Addresses without `http://`. */
  readonly urls: readonly string[];
  /** A line, or a piece of a long one where `isWhole` is false. */
  line(bytes: Uint8Array, isWhole: boolean): void;
  end(): void;
  /** Forgets what is held. */
  clear(): void;
}

const MAX_FILES = 64;
const MAX_DEPTH = 16;
const MAX_HEAD_BYTES = 32 * 1024;
const MAX_URLS = 100;
/** The end is found by hand: addresses are short, and the text is the sender's. */
const URL = /https?:\/\/([^\s"'<>()\\]{1,2000})/gi;
const DASH = 0x2d;

function findUrls(bytes: Uint8Array, urls: string[]): void {
  if (bytes.length < 8 || urls.length >= MAX_URLS) return;
  for (const [, url = ""] of Buffer.from(bytes).toString("latin1").matchAll(URL)) if (urls.length < MAX_URLS) urls.push(url);
}

/** @returns Which of the boundaries a line is; -1 for none. */
function findBoundary(bytes: Uint8Array, boundaries: readonly string[]): { readonly index: number; readonly isLast: boolean } {
  if (bytes[0] !== DASH || bytes[1] !== DASH || boundaries.length === 0) return { index: -1, isLast: false };
  const text = Buffer.from(bytes.subarray(2, 300)).toString("latin1").trimEnd();
  const index = boundaries.findLastIndex((boundary) => text === boundary || text === `${boundary}--`);
  return { index, isLast: index >= 0 && text !== boundaries[index] };
}

/** @param maxBytes Of each file. */
export function createMimeReader(maxBytes: number, hold: (octets: number) => void): MimeReader {
  const files: MimeFile[] = [];
  const urls: string[] = [];
  const boundaries: string[] = [];
  let mail: MimeHead | null = null;
  let lines: string[] | null = [];
  let headBytes = 0;
  let isCut = false;
  let file: MimeFile | null = null;
  let decoder: PartDecoder | null = null;

  function endPart(): void {
    if (file) file.isOver = true;
    file = null;
    decoder = null;
  }

  function beginBody(): void {
    const head = readMimeHead(lines ?? []);
    mail ??= head;
    lines = null;
    if (head.boundary !== null && boundaries.length < MAX_DEPTH) boundaries.push(head.boundary);
    else if (head.fileName !== null && files.length < MAX_FILES) beginFile(head, head.fileName);
    else if (head.type === "message/rfc822") beginHead();
    else if (head.type === "" || head.type.startsWith("text/")) decoder = createPartDecoder(head.encoding, (bytes) => findUrls(bytes, urls));
  }

  function beginFile(head: MimeHead, name: string): void {
    const begun: MimeFile = { name, bytes: new GrowingBytes(maxBytes, hold), octets: 0, isOver: false };
    files.push(begun);
    file = begun;
    decoder = createPartDecoder(head.encoding, (bytes) => {
      begun.bytes.add(bytes);
      begun.octets += bytes.length;
    });
  }

  function beginHead(): void {
    lines = [];
    headBytes = 0;
  }

  /** @returns Whether the line is a boundary of one of the parts that are open. */
  function takeBoundary(bytes: Uint8Array): boolean {
    const { index, isLast } = findBoundary(bytes, boundaries);
    if (index < 0) return false;
    endPart();
    boundaries.length = isLast ? index : index + 1;
    if (isLast) lines = null;
    else beginHead();
    return true;
  }

  return {
    get head() {
      return mail;
    },
    files,
    urls,
    line(bytes, isWhole) {
      const isBeginning = !isCut;
      isCut = !isWhole;
      if (isBeginning && takeBoundary(bytes)) return;
      if (!lines) decoder?.line(bytes, isWhole);
      else if (bytes.length === 0 && isBeginning) beginBody();
      else if (headBytes < MAX_HEAD_BYTES) {
        headBytes += bytes.length + 1;
        lines.push(Buffer.from(bytes).toString("latin1"));
      }
    },
    end() {
      if (lines && lines.length > 0) beginBody();
      endPart();
    },
    clear() {
      for (const { bytes } of files) bytes.clear();
    },
  };
}
