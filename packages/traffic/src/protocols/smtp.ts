/** SMTP: commands and replies, never the message. @see RFC 5321, RFC 3207 (STARTTLS), RFC 4954 (AUTH), RFC 3030 (BDAT) */
import { countLineEnds, createReplyCollector, findLine, findReplyLine, lineText, type ReplyCollector, type TextReply } from "./text-lines.ts";
import type { Hold, Intake, MessageOrigin, StreamParser } from "./stream-parser.ts";

interface SmtpOrigin extends MessageOrigin {
  readonly protocol: "smtp";
}

/** A command of the client. */
export interface SmtpCommand extends SmtpOrigin {
  readonly kind: "command";
  /** In upper case: `EHLO`, `MAIL`, `RCPT`, `STARTTLS`, `AUTH`, … */
  readonly verb: string;
  /** As it was sent; of AUTH the mechanism alone. */
  readonly argument: string;
  /** Of MAIL and RCPT, without brackets; empty for the null sender. Null with other commands. */
  readonly address: string | null;
  /** Credentials followed the command in its line. */
  readonly hasCredentials: boolean;
}

/** A reply of the server; the greeting is the one without a command. */
export interface SmtpReply extends SmtpOrigin {
  readonly kind: "reply";
  readonly code: number;
  readonly lines: readonly string[];
  /** The verb of the command that it answers, or null. */
  readonly command: string | null;
}

/** What client and server say around the messages. */
export type SmtpMessage = SmtpCommand | SmtpReply;

/** A client may send more than a line must take, in AUTH. RFC 4954 section 4. */
const MAX_LINE_BYTES = 16 * 1024;
const MAX_WAITING = 128;
const END_OF_DATA = Buffer.from("\r\n.\r\n");
/** Blanks before the argument are still there. */
const COMMAND = /^([A-Za-z]{3,12})(?:[ \t](.*))?$/;
/** Of others the argument is not shown: where the count of replies is lost, a line of a message could look like one. */
const KNOWN: ReadonlySet<string> = new Set([
  "AUTH", "BDAT", "DATA", "EHLO", "ETRN", "EXPN", "HELO", "HELP", "LHLO", "MAIL", "NOOP", "QUIT", "RCPT", "RSET", "STARTTLS", "VRFY", "XCLIENT", "XFORWARD",
]);
/** Ends a login where the server's answer is not seen. */
const AFTER_LOGIN = /^(?:MAIL FROM:|RSET$|NOOP$|QUIT$)/i;
const PATH = /^(?:FROM|TO):\s*<([^>]*)>|^(?:FROM|TO):\s*(\S+)/i;

type Mode = "body" | "command" | "secret";

/** @returns The parser of one connection. */
export function createSmtpParser(emit: (message: SmtpMessage) => void, hold: Hold): StreamParser {
  const replies: readonly [ReplyCollector, ReplyCollector] = [createReplyCollector(hold), createReplyCollector(hold)];
  const awaited = createAwaitedReplies();
  let client: 0 | 1 | null = null;
  let mode: Mode = "command";
  let isBodyBegin = false;
  /** Commands and replies do not belong together any more. */
  let isLost = false;
  let releasedTo: "" | "tls" = "";

  function expectReply(command: string): void {
    isLost ||= !awaited.expect(command);
  }

  function onReply(side: 0 | 1, { code, lines }: TextReply, at: number): void {
    const command = awaited.commandOf(code);
    emit({ protocol: "smtp", kind: "reply", side, at, code, lines, command });
    if (command === "AUTH" && code !== 334) mode = "command";
    if (command === "DATA" && code !== 354) mode = "command";
    else if (command === "DATA" && mode !== "body") [mode, isBodyBegin] = ["body", true];
    if (command === "STARTTLS" && code === 220) releasedTo = "tls";
  }

  /** @returns Bytes of a chunk that follow. */
  function onCommand(side: 0 | 1, line: string, at: number): number {
    const command = parseCommand(line);
    if (!command) return 0;
    emit({ protocol: "smtp", kind: "command", side, at, ...command });
    expectReply(command.verb);
    if (command.verb === "AUTH") mode = "secret";
    return chunkOf(command);
  }

  function skipBody(bytes: Uint8Array): number {
    const taken = skipMessage(bytes, isBodyBegin);
    isBodyBegin &&= taken === 0;
    if (taken >= 0) return taken;
    mode = "command";
    expectReply("message");
    return -taken;
  }

  function readClient(intake: Intake, bytes: Uint8Array, at: number): number {
    // A client waits for the answer to DATA: where it was not seen, what follows is taken for the message. RFC 2920 section 3.1.
    if (mode === "command" && awaited.has("DATA")) [mode, isBodyBegin] = ["body", true];
    if (mode === "body") return skipBody(bytes);
    const size = countLineEnds(bytes) || findLine(intake, bytes, MAX_LINE_BYTES);
    // Commands begin with a letter; what is no command, and a secret whose end the server says, is nobody's.
    if (size === 0 || !isLetter(bytes[0]) || (mode === "secret" && awaited.isServerSeen)) return size;
    const line = lineText(bytes, size);
    if (mode === "secret" && AFTER_LOGIN.test(line)) mode = "command";
    return size + (mode === "secret" ? 0 : onCommand(intake.side, line, at));
  }

  return {
    maxPendingBytes: MAX_LINE_BYTES,
    get releasedTo() {
      return releasedTo;
    },
    read(intake, bytes, at) {
      intake.isOver = isLost;
      if (isLost) return bytes.length;
      client ??= isDigit(bytes[0]) ? otherSide(intake.side) : intake.side;
      if (intake.side === client) return readClient(intake, bytes, at);
      const size = findReplyLine(replies[intake.side], intake, bytes, MAX_LINE_BYTES);
      const reply = replies[intake.side].add(bytes, size);
      if (reply) onReply(intake.side, reply, at);
      return size;
    },
    gap() {
      // What is a command and what the message is not known any more.
      isLost = true;
      return false;
    },
    end: () => undefined,
  };
}

/** Commands without a reply yet. Of a server that is not seen the last one alone waits. */
function createAwaitedReplies() {
  const waiting: string[] = [];
  let isServerSeen = false;
  return {
    get isServerSeen() {
      return isServerSeen;
    },
    has: (command: string) => waiting.includes(command),
    /** @returns False where too many wait for commands and replies to belong together. */
    expect(command: string): boolean {
      waiting.push(command);
      if (!isServerSeen) waiting.splice(0, waiting.length - 1);
      return waiting.length <= MAX_WAITING;
    },
    /** The command that a reply is for; null where none is known. */
    commandOf(code: number): string | null {
      isServerSeen = true;
      // AUTH goes on with 334 until it succeeds or fails.
      return (code === 334 ? waiting[0] : waiting.shift()) ?? null;
    },
  };
}

/** @returns Bytes of a message that can be taken; below 0 where it ends behind them. @see RFC 5321 section 4.5.2 */
function skipMessage(bytes: Uint8Array, isBegin: boolean): number {
  if (isBegin && bytes.length < 3) return 0;
  if (isBegin && bytes[0] === 0x2e && bytes[1] === 0x0d && bytes[2] === 0x0a) return -3;
  const found = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(END_OF_DATA);
  return found < 0 ? Math.max(0, bytes.length - END_OF_DATA.length + 1) : -(found + END_OF_DATA.length);
}

/** @returns The verb, its argument as it may be shown, and whether credentials stood behind it; null where it is no command. */
function parseCommand(line: string) {
  const [, word = "", behind = ""] = COMMAND.exec(line) ?? [];
  const sent = behind.replace(/^[ \t]+/, "");
  const verb = word.toUpperCase();
  if (verb === "") return null;
  const [mechanism = "", secret = ""] = verb === "AUTH" ? sent.split(/[ \t]+/, 2) : [];
  const path = verb === "MAIL" || verb === "RCPT" ? PATH.exec(sent) : null;
  const argument = verb === "AUTH" ? mechanism : KNOWN.has(verb) ? sent : "";
  return { verb, argument, address: path ? path[1] ?? path[2] ?? "" : null, hasCredentials: secret !== "" };
}

/** @see RFC 3030 section 2 */
function chunkOf({ verb, argument }: Pick<SmtpCommand, "argument" | "verb">): number {
  return verb === "BDAT" ? Number(/^\d{1,10}/.exec(argument)?.[0] ?? 0) : 0;
}

function isLetter(byte: number | undefined): boolean {
  return byte !== undefined && (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

function otherSide(side: 0 | 1): 0 | 1 {
  return side === 0 ? 1 : 0;
}
