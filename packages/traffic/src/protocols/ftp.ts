/** FTP's control connection. @see RFC 959, RFC 2428 (EPRT, EPSV), RFC 4217 (AUTH TLS) */
import { countLineEnds, createReplyCollector, findLine, findReplyLine, lineText, replyCode } from "./text-lines.ts";
import type { Hold, MessageOrigin, StreamParser } from "./stream-parser.ts";

interface FtpOrigin extends MessageOrigin {
  readonly protocol: "ftp";
  /** Where a data connection will go, of PORT and EPRT, and of the replies to PASV and EPSV. */
  readonly endpoint: FtpEndpoint | null;
}

/** Where a data connection will go. */
export interface FtpEndpoint {
  /** As it was sent; null where it is the server's own (EPSV). */
  readonly address: string | null;
  readonly port: number;
}

/** A command of the client. */
export interface FtpCommand extends FtpOrigin {
  readonly kind: "command";
  /** In upper case. */
  readonly verb: string;
  /** As it was sent; empty for PASS and ACCT. USER has the name here. */
  readonly argument: string;
  /** A password was in it. */
  readonly hasCredentials: boolean;
}

/** A reply of the server; the greeting is the one without a command. */
export interface FtpReply extends FtpOrigin {
  readonly kind: "reply";
  readonly code: number;
  readonly lines: readonly string[];
  /** The verb of the command that it answers, or null. */
  readonly command: string | null;
}

/** What client and server say beside the files. */
export type FtpMessage = FtpCommand | FtpReply;

const MAX_LINE_BYTES = 8 * 1024;
const MAX_WAITING = 64;
const SECRETS: ReadonlySet<string> = new Set(["PASS", "ACCT", "ADAT"]);

/** @returns The parser of one connection. */
export function createFtpParser(emit: (message: FtpMessage) => void, hold: Hold): StreamParser {
  const replies = createReplyCollector(hold);
  const waiting: string[] = [];
  let client: 0 | 1 | null = null;
  let releasedTo: "" | "tls" = "";

  function onCommand(side: 0 | 1, line: string, at: number): void {
    // Telnet's urgent signals may stand before ABOR. RFC 959 section 4.1.3.
    const [, word = "", sent = ""] = /^[\xf0-\xff]{0,8}([A-Za-z]{3,8})(?: (.*))?$/.exec(line) ?? [];
    const verb = word.toUpperCase();
    if (verb === "") return;
    const isSecret = SECRETS.has(verb);
    const endpoint = verb === "PORT" ? endpointOfPort(sent) : verb === "EPRT" ? endpointOfEprt(sent) : null;
    emit({ protocol: "ftp", kind: "command", side, at, verb, argument: isSecret ? "" : sent, hasCredentials: isSecret && sent !== "", endpoint });
    if (waiting.length < MAX_WAITING) waiting.push(verb);
  }

  function onReply(side: 0 | 1, code: number, lines: readonly string[], at: number): void {
    // A preliminary reply is followed by another. RFC 959 section 4.2.
    const command = (code < 200 ? waiting[0] : waiting.shift()) ?? null;
    const text = lines.at(-1) ?? "";
    const endpoint = code === 227 ? endpointOfPort(text) : code === 229 ? endpointOfEpsv(text) : null;
    emit({ protocol: "ftp", kind: "reply", side, at, code, lines, command, endpoint });
    if (command === "AUTH" && code === 234) releasedTo = "tls";
  }

  return {
    maxPendingBytes: MAX_LINE_BYTES,
    get releasedTo() {
      return releasedTo;
    },
    read(intake, bytes, at) {
      const isClient = intake.side === client;
      const size = isClient ? countLineEnds(bytes) || findLine(intake, bytes, MAX_LINE_BYTES) : findReplyLine(replies, intake, bytes, MAX_LINE_BYTES);
      if (size === 0) return 0;
      client ??= replyCode(bytes, size) >= 0 ? (intake.side === 0 ? 1 : 0) : intake.side;
      if (intake.side === client) {
        if (mayBeCommand(bytes[0] as number)) onCommand(intake.side, lineText(bytes, size), at);
        return size;
      }
      const reply = replies.add(bytes, size);
      if (reply) onReply(intake.side, reply.code, reply.lines, at);
      return size;
    },
    gap() {
      waiting.length = 0;
      return true;
    },
    end: () => undefined,
  };
}

/** A letter, or a signal of Telnet. */
function mayBeCommand(byte: number): boolean {
  return ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a) || byte >= 0xf0;
}

/** Six numbers, wherever they stand: servers differ in what is around them. */
function endpointOfPort(text: string): FtpEndpoint | null {
  const [found, a, b, c, d, high, low] = /(\d{1,3}),(\d{1,3}),(\d{1,3}),(\d{1,3}),(\d{1,3}),(\d{1,3})/.exec(text) ?? [];
  if (found === undefined || [a, b, c, d, high, low].some((part) => Number(part) > 255)) return null;
  return { address: [a, b, c, d].join("."), port: Number(high) * 256 + Number(low) };
}

/** `|1|192.0.2.1|6275|`; any character may part them. @see RFC 2428 section 2 */
function endpointOfEprt(text: string): FtpEndpoint | null {
  const [, family, address, port] = text.split(text[0] ?? "|", 5);
  return (family === "1" || family === "2") && address !== undefined && isPort(port) ? { address, port: Number(port) } : null;
}

/** `(|||6446|)`. @see RFC 2428 section 3 */
function endpointOfEpsv(text: string): FtpEndpoint | null {
  const port = /\(([!-~])\1\1(\d{1,5})\1\)/.exec(text)?.[2];
  return isPort(port) ? { address: null, port: Number(port) } : null;
}

function isPort(text: string | undefined): boolean {
  return text !== undefined && /^\d{1,5}$/.test(text) && Number(text) <= 0xffff;
}
