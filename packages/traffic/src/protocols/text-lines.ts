/** Lines and replies of SMTP and FTP. @see RFC 5321 section 4.2.1, RFC 959 section 4.2 */
import { latin1 } from "./latin1.ts";
import type { Hold, Intake } from "./stream-parser.ts";

/** Longer lines are cut in messages. RFC 5321 section 4.5.3.1.5 has 512. */
const MAX_SHOWN = 1024;
const MAX_REPLY_LINES = 32;
const SPACE = 0x20;
const HYPHEN = 0x2d;
const NO_CODE = -1;

/**
 * @param maxBytes A line without an end in so many bytes is none: the side is over.
 * @returns The size of the first line, with its end; 0 where it is not whole.
 */
export function findLine(intake: Intake, bytes: Uint8Array, maxBytes: number): number {
  const end = bytes.indexOf(0x0a, intake.scanned);
  if (end < 0) {
    intake.scanned = bytes.length;
    intake.isOver = bytes.length > maxBytes;
  }
  return end + 1;
}

/** @returns The first line without its end; of a long one its beginning. */
export function lineText(bytes: Uint8Array, size: number): string {
  return latin1(bytes.subarray(0, Math.min(lengthOf(bytes, size), MAX_SHOWN)));
}

/** @returns The code that the line begins with, alone or before a mark; -1 where there is none. */
export function replyCode(bytes: Uint8Array, size: number): number {
  const length = lengthOf(bytes, size);
  if (length < 3 || (length > 3 && bytes[3] !== SPACE && bytes[3] !== HYPHEN)) return -1;
  let code = 0;
  for (let at = 0; at < 3; at += 1) {
    const digit = (bytes[at] as number) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    code = code * 10 + digit;
  }
  return code;
}

/** @returns How many bytes at the front are ends of lines: empty lines say nothing, however many there are. */
export function countLineEnds(bytes: Uint8Array): number {
  let count = 0;
  while (bytes[count] === 0x0a || bytes[count] === 0x0d) count += 1;
  return count;
}

function lengthOf(bytes: Uint8Array, size: number): number {
  return size > 1 && bytes[size - 2] === 0x0d ? size - 2 : size - 1;
}

/** A whole reply. */
export interface TextReply {
  readonly code: number;
  /** Without code and mark; the first 32. */
  readonly lines: readonly string[];
}

/** Puts the lines of replies together. */
export interface ReplyCollector {
  /** Whether the lines so far are of a reply that is not whole. */
  readonly isOpen: boolean;
  /** Takes the first line. @param size 0 where it is not whole. @returns The reply that it ends, or null. */
  add(bytes: Uint8Array, size: number): TextReply | null;
}

/** @returns As `findLine`; empty lines between replies are passed over at once. */
export function findReplyLine(collector: ReplyCollector, intake: Intake, bytes: Uint8Array, maxBytes: number): number {
  return (collector.isOpen ? 0 : countLineEnds(bytes)) || findLine(intake, bytes, maxBytes);
}

/** What a line costs beside its text. */
const LINE_OVERHEAD_BYTES = 64;

/** @param hold Is called with what is kept of a reply that is not whole. @returns A collector for one side. */
export function createReplyCollector(hold: Hold): ReplyCollector {
  let code = NO_CODE;
  let lines: string[] = [];
  let held = 0;
  return {
    get isOpen() {
      return code !== NO_CODE;
    },
    add(bytes, size) {
      const found = replyCode(bytes, size);
      if (size === 0 || (code === NO_CODE && found === NO_CODE)) return null;
      // Lines within may begin with anything, in FTP also with another code.
      const isOwn = found !== NO_CODE && (code === NO_CODE || found === code);
      const isEnd = isOwn && bytes[3] !== HYPHEN;
      if (lines.length < MAX_REPLY_LINES) {
        const line = lineText(bytes, size);
        lines.push(isOwn ? line.slice(4) : line);
        if (!isEnd) {
          held += line.length + LINE_OVERHEAD_BYTES;
          hold(line.length + LINE_OVERHEAD_BYTES);
        }
      }
      if (!isEnd) {
        if (isOwn) code = found;
        return null;
      }
      if (held > 0) hold(-held);
      held = 0;
      const reply = { code: found, lines };
      code = NO_CODE;
      lines = [];
      return reply;
    },
  };
}
