/** SMTP for rules: each mail is a transaction, with what was said before it. @see RFC 5321 */
import type { BufferName } from "../../rules/buffer-names.ts";
import { type Application, type ApplicationLimits, type ApplicationOutput, type ApplicationParser, type BufferStage, type Direction, STAGE_DONE } from "../application.ts";
import { FieldTransaction } from "../field-transaction.ts";
import { createWaitingBytes } from "../waiting-bytes.ts";
import { createMimeReader, type MimeFile, type MimeReader } from "./mime-reader.ts";

/** Suricata's `content-inspect-min-size`: nothing of a file is looked at before, unless it has ended. */
const MIN_INSPECTED = 32 * 1024;
/** Bytes between one look at a file and the next. */
const STEP_BYTES = 16 * 1024;
/** Longer lines are read in pieces, those of commands are cut. */
const MAX_LINE_BYTES = 4096;
const MAX_RECIPIENTS = 100;
const LINE_FEED = 0x0a;
const RETURN = 0x0d;

const MAIL_FIELDS = [
  ["from", "email.from"], ["subject", "email.subject"], ["to", "email.to"], ["cc", "email.cc"], ["date", "email.date"], ["message-id", "email.message_id"],
  ["x-mailer", "email.x_mailer"], ["received", "email.received"],
] as const satisfies readonly (readonly [string, BufferName])[];

const bytesOf = (text: string) => Buffer.from(text, "latin1");

function createParser(output: ApplicationOutput, limits: ApplicationLimits): ApplicationParser {
  const sides = { "to-server": createWaitingBytes(output, MAX_LINE_BYTES + 1), "to-client": createWaitingBytes(output, MAX_LINE_BYTES + 1) };
  let transaction: FieldTransaction | null = null;
  let mode: "command" | "data" | "login" | "over" = "command";
  let chunkLeft = 0;
  let helo = "";
  let recipients = 0;
  let waitsForTls = false;
  let mail: MimeReader | null = null;
  let isMailNew = false;
  const shown = new Map<MimeFile, number>();
  let isChanged = false;

  function current(): FieldTransaction {
    if (transaction) return transaction;
    transaction = new FieldTransaction("smtp");
    recipients = 0;
    if (helo !== "") note("smtp.helo", helo);
    return transaction;
  }

  function note(buffer: BufferName, value: string): void {
    const one = current();
    const bytes = bytesOf(value.slice(0, MAX_LINE_BYTES));
    one.hold(output, bytes.length);
    one.add("to-server", buffer, bytes);
    one.note(buffer.replace(/^(?:smtp|email)\./, ""), value);
    isChanged = true;
  }

  function close(): void {
    mail?.end();
    showMail();
    transaction?.close(output);
    mail?.clear();
    shown.clear();
    transaction = null;
    mail = null;
  }

  function onCommand(line: string): void {
    const one = current();
    const [verb = ""] = line.trim().split(/\s/, 1);
    const rest = line.trim().slice(verb.length);
    switch (verb.toUpperCase()) {
      case "HELO":
      case "EHLO":
        helo = rest.trim().split(/\s/, 1)[0] ?? "";
        if (helo !== "") note("smtp.helo", helo);
        break;
      case "MAIL":
        if (/^\s*from:/i.test(rest)) note("smtp.mail_from", addressOf(rest));
        break;
      case "RCPT":
        recipients += 1;
        if (/^\s*to:/i.test(rest) && recipients <= MAX_RECIPIENTS) note("smtp.rcpt_to", addressOf(rest));
        break;
      case "DATA":
        beginMail();
        mode = "data";
        break;
      case "BDAT":
        chunkLeft = Math.min(Number(/^\s*(\d{1,12})/.exec(rest)?.[1] ?? 0), Number.MAX_SAFE_INTEGER);
        if (!mail) beginMail();
        break;
      case "AUTH":
        mode = "login";
        break;
      case "STARTTLS":
        waitsForTls = true;
        break;
      case "RSET":
        close();
        break;
      default:
        one.setStage("to-server", 1);
    }
  }

  function beginMail(): void {
    current();
    mail = createMimeReader(limits.bodyBytes, (octets) => output.hold(octets));
    isMailNew = true;
  }

  /** Puts what is new of the mail where rules look. */
  function showMail(): void {
    if (!mail || !transaction) return;
    if (isMailNew && mail.head) {
      isMailNew = false;
      for (const [name, buffer] of MAIL_FIELDS) for (const value of mail.head.fields.get(name) ?? []) note(buffer, value);
    }
    const isNews = mail.files.filter((file) => {
      const seen = shown.get(file) ?? -1;
      const { length } = file.bytes;
      if (seen === length || (!file.isOver && (length < MIN_INSPECTED || length - seen < STEP_BYTES))) return false;
      shown.set(file, length);
      return true;
    }).length > 0;
    if (!isNews) return;
    const visible = mail.files.filter((file) => shown.has(file));
    transaction.set("to-server", "file.data", visible.map(({ bytes }) => bytes.view));
    transaction.set("to-server", "file.name", visible.map(({ name }) => bytesOf(name)));
    isChanged = true;
  }

  function endMail(): void {
    mode = "command";
    mail?.end();
    showMail();
    const one = current();
    for (const url of mail?.urls ?? []) note("email.url", url);
    for (const { octets, isOver } of mail?.files ?? []) if (isOver) one.addNumbers("to-server", "file.size", octets);
    close();
  }

  function takeClient(bytes: Uint8Array): number {
    if (mode === "over") return bytes.length;
    const limit = chunkLeft > 0 ? Math.min(chunkLeft, bytes.length) : bytes.length;
    const end = bytes.subarray(0, Math.min(limit, MAX_LINE_BYTES)).indexOf(LINE_FEED);
    if (end < 0 && limit < MAX_LINE_BYTES && limit !== chunkLeft) return 0;
    const taken = end < 0 ? Math.min(limit, MAX_LINE_BYTES) : end + 1;
    const to = end < 0 ? taken : end > 0 && bytes[end - 1] === RETURN ? end - 1 : end;
    const line = bytes.subarray(0, to);
    if (chunkLeft > 0) {
      chunkLeft -= taken;
      mail?.line(line, end >= 0);
    } else if (mode === "data") {
      if (line.length === 1 && line[0] === 0x2e) endMail();
      else mail?.line(line, end >= 0);
    } else if (mode === "login") mode = "command";
    else onCommand(Buffer.from(line).toString("latin1"));
    return taken;
  }

  function onReply(code: number): void {
    if (waitsForTls) {
      waitsForTls = false;
      if (code >= 200 && code < 300) mode = "over";
      else current().raise("tls_rejected");
    } else if (mode === "data" && code >= 400) {
      mode = "command";
      current().raise("data_command_rejected");
    }
    // Each line of a login has a reply of its own; 334 asks for one more.
    mode = code === 334 ? "login" : mode === "login" ? "command" : mode;
  }

  function takeServer(bytes: Uint8Array): number {
    const end = bytes.indexOf(LINE_FEED);
    if (end < 0) return bytes.length > MAX_LINE_BYTES ? -1 : 0;
    const reply = /^(\d{3})(?:[ \r\n]|$)/.exec(Buffer.from(bytes.subarray(0, Math.min(end + 1, 8))).toString("latin1"))?.[1];
    if (reply !== undefined) onReply(Number(reply));
    return end + 1;
  }

  function settle(direction: Direction): void {
    showMail();
    if (isChanged && transaction) output.onChange(transaction, direction);
    isChanged = false;
  }

  return {
    bytes(direction, bytes) {
      if (mode === "over") return;
      sides[direction].read(bytes, direction === "to-server" ? takeClient : takeServer);
      settle("to-server");
      // Read again: a reply may have ended it.
      if ((mode as string) !== "over") return;
      this.end(0);
      output.onSwitch("tls");
    },
    gap(direction) {
      sides[direction].close();
    },
    end() {
      if (mail) endMail();
      close();
      for (const side of Object.values(sides)) side.close();
    },
  };
}

/** What is between angle brackets with them, or the first word. */
function addressOf(rest: string): string {
  const value = rest.slice(rest.indexOf(":") + 1).trim();
  const close = value.startsWith("<") ? value.indexOf(">") : -1;
  return close > 0 ? value.slice(0, close + 1) : (value.split(/\s/, 1)[0] ?? "");
}

const GROWS: BufferStage = { stage: STAGE_DONE, grows: true };

/** SMTP. */
export const SMTP_APPLICATION: Application = {
  name: "smtp",
  transports: ["tcp"],
  create: createParser,
  buffers: new Map((["smtp.helo", "smtp.mail_from", "smtp.rcpt_to", "file.data", "file.name", "email.url", ...MAIL_FIELDS.map(([, buffer]) => buffer)] as const).map((name) => [name, GROWS])),
  numbers: new Map([["file.size", GROWS]]),
  words: new Map(),
  events: new Set(["data_command_rejected", "tls_rejected"]),
  service: "smtp",
  recognize: null,
};
