/** Content codings of HTTP that are undone as the bytes come: gzip and deflate, in whichever wrapping they really are. @see RFC 9110 section 8.4.1 */
import { Inflater, type InflateSink } from "./inflater.ts";

/** What a sender names it; what it sends may be another. */
export type Coding = "deflate" | "gzip";
type Wrapping = "gzip" | "raw" | "zlib";

/** The rest of a coding that has a name; tried in this order until one gives something. As Suricata does. */
const WRAPPINGS: Readonly<Record<Coding, readonly Wrapping[]>> = { gzip: ["gzip", "raw", "zlib"], deflate: ["raw", "zlib", "gzip"] };

/** Bytes at the beginning that give nothing yet; beyond them the coding is given up. */
const MAX_SILENT_BYTES = 4096;
/** What one layer may become: of several layers, one could grow without the next giving anything. */
const MAX_LAYER_BYTES = 1024 * 1024;
const NOTHING = new Uint8Array(0);

/** One layer. */
export interface ContentDecoder {
  /** Decodes the next bytes. @returns Whether more is wanted. */
  push(bytes: Uint8Array): boolean;
  /** Bytes that it keeps. */
  readonly kept: number;
}

/** What a layer may report. */
export type DecoderFault = "compression_bomb" | "gzip_decompression_failed";

/**
 * Where the bytes are of no known wrapping, they are handed on as they are. Where they break off later, what came before stays. What follows the
 * first member of gzip is left out.
 * @param sink Is given what comes out, in order.
 */
export function createContentDecoder(coding: Coding, sink: InflateSink, onFault: (fault: DecoderFault) => void): ContentDecoder {
  const wrappings = WRAPPINGS[coding];
  let tried = 0;
  let head = NOTHING;
  let given = 0;
  let isPlain = false;
  let isOver = false;
  let inflater: Inflater | null = null;

  const give: InflateSink = (bytes) => {
    if (given === 0) head = NOTHING;
    given += bytes.length;
    if (given > MAX_LAYER_BYTES) onFault("compression_bomb");
    isOver ||= given > MAX_LAYER_BYTES || !sink(bytes);
    return !isOver;
  };

  function inflate(bytes: Uint8Array): void {
    const state = inflater?.push(bytes) ?? "broken";
    if (state === "more") return;
    if (state === "broken" && given === 0 && !isOver) {
      retry();
      return;
    }
    if (state === "broken") onFault("gzip_decompression_failed");
    isOver = true;
  }

  function retry(): void {
    inflater = null;
    tried += 1;
    onFault("gzip_decompression_failed");
    start();
  }

  /** Tries what there is as the wrapping that is next. */
  function start(): void {
    const wrapping = wrappings[tried];
    if (wrapping === undefined) {
      isPlain = true;
      give(head);
      return;
    }
    const from = wrapping === "raw" ? 0 : wrapping === "zlib" ? zlibBody(head) : gzipBody(head);
    if (from === "none") retry();
    else if (from !== "more") {
      inflater = new Inflater(give);
      inflate(head.subarray(from));
    }
  }

  return {
    get kept() {
      return head.length + (inflater ? 4096 : 0);
    },
    push(bytes) {
      if (isOver || bytes.length === 0) return !isOver;
      if (isPlain) return give(bytes);
      if (given > 0) inflate(bytes);
      else {
        head = joined(head, bytes);
        if (head.length > MAX_SILENT_BYTES + bytes.length) tried = wrappings.length;
        if (inflater) inflate(bytes);
        else start();
      }
      return !isOver;
    },
  };
}

function joined(head: Uint8Array, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(head.length + bytes.length);
  all.set(head);
  all.set(bytes, head.length);
  return all;
}

/** Where the stream begins behind its header. */
type Body = number | "more" | "none";

/** @see RFC 1950 section 2.2 */
function zlibBody(head: Uint8Array): Body {
  if (head.length < 2) return "more";
  const [method = 0, flags = 0] = head;
  return (method & 0x0f) === 8 && (method * 256 + flags) % 31 === 0 && (flags & 0x20) === 0 ? 2 : "none";
}

const FLAG = { crc: 2, extra: 4, name: 8, comment: 16 } as const;

/** @see RFC 1952 section 2.3 */
function gzipBody(head: Uint8Array): Body {
  if (head.length < 10) return startsGzip(head) ? "more" : "none";
  if (!startsGzip(head)) return "none";
  const flags = head[3] as number;
  let at = 10;
  if ((flags & FLAG.extra) !== 0) at += 2 + (head[at] ?? 0) + (head[at + 1] ?? 0) * 256;
  for (const flag of [FLAG.name, FLAG.comment]) {
    if ((flags & flag) === 0) continue;
    const end = at < head.length ? head.indexOf(0, at) : -1;
    if (end < 0) return "more";
    at = end + 1;
  }
  if ((flags & FLAG.crc) !== 0) at += 2;
  return at <= head.length ? at : "more";
}

function startsGzip(head: Uint8Array): boolean {
  const signature = [0x1f, 0x8b, 8];
  return signature.every((byte, index) => head.length <= index || head[index] === byte);
}
