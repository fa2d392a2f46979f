/** SMTP for rules: each mail is a transaction, with what was said before it. @see RFC 5321 */
import type { BufferName } from "../../rules/buffer-names.ts";
import { type Application, type ApplicationLimits, type ApplicationOutput, type ApplicationParser, type BufferStage, type Direction, STAGE_DONE } from "../application.ts";
import { FieldTransaction } from "../field-transaction.ts";
import { WaitingBytes } from "../waiting-bytes.ts";
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

/** One connection. */
class SmtpConnection implements ApplicationParser {
  readonly #output: ApplicationOutput;
  readonly #limits: ApplicationLimits;
  readonly #sides: Readonly<Record<Direction, WaitingBytes>>;
  #transaction: FieldTransaction | null = null;
  #mode: "command" | "data" | "login" | "over" = "command";
  #chunkLeft = 0;
  #helo = "";
  #recipients = 0;
  #waitsForTls = false;
  #mail: MimeReader | null = null;
  #isMailNew = false;
  /** How much of each file rules have seen. */
  readonly #shown = new Map<MimeFile, number>();
  #isChanged = false;

  constructor(output: ApplicationOutput, limits: ApplicationLimits) {
    this.#output = output;
    this.#limits = limits;
    this.#sides = { "to-server": new WaitingBytes(output, MAX_LINE_BYTES + 1), "to-client": new WaitingBytes(output, MAX_LINE_BYTES + 1) };
  }

  bytes(direction: Direction, bytes: Uint8Array): void {
    if (this.#mode === "over") return;
    this.#sides[direction].read(bytes, direction === "to-server" ? (there) => this.#takeClient(there) : (there) => this.#takeServer(there));
    this.#showMail();
    if (this.#isChanged && this.#transaction) this.#output.onChange(this.#transaction, "to-server");
    this.#isChanged = false;
    if (!this.#isOver()) return;
    this.end();
    this.#output.onSwitch("tls");
  }

  gap(direction: Direction): void {
    this.#sides[direction].close();
  }

  end(): void {
    if (this.#mail) this.#endMail();
    this.#close();
    for (const side of Object.values(this.#sides)) side.close();
  }

  /** What was read may have ended it. */
  #isOver(): boolean {
    return this.#mode === "over";
  }

  #current(): FieldTransaction {
    if (this.#transaction) return this.#transaction;
    this.#transaction = new FieldTransaction("smtp");
    this.#recipients = 0;
    if (this.#helo !== "") this.#note("smtp.helo", this.#helo);
    return this.#transaction;
  }

  #note(buffer: BufferName, value: string): void {
    const one = this.#current();
    const bytes = bytesOf(value.slice(0, MAX_LINE_BYTES));
    one.hold(this.#output, bytes.length);
    one.add("to-server", buffer, bytes);
    one.note(buffer.replace(/^(?:smtp|email)\./, ""), value);
    this.#isChanged = true;
  }

  #close(): void {
    this.#mail?.end();
    this.#showMail();
    this.#transaction?.close(this.#output);
    this.#mail?.clear();
    this.#shown.clear();
    this.#transaction = null;
    this.#mail = null;
  }

  #onCommand(line: string): void {
    const one = this.#current();
    const [verb = ""] = line.trim().split(/\s/, 1);
    const rest = line.trim().slice(verb.length);
    switch (verb.toUpperCase()) {
      case "HELO":
      case "EHLO":
        this.#helo = rest.trim().split(/\s/, 1)[0] ?? "";
        if (this.#helo !== "") this.#note("smtp.helo", this.#helo);
        break;
      case "MAIL":
        if (/^\s*from:/i.test(rest)) this.#note("smtp.mail_from", addressOf(rest));
        break;
      case "RCPT":
        this.#recipients += 1;
        if (/^\s*to:/i.test(rest) && this.#recipients <= MAX_RECIPIENTS) this.#note("smtp.rcpt_to", addressOf(rest));
        break;
      case "DATA":
        this.#beginMail();
        this.#mode = "data";
        break;
      case "BDAT":
        this.#chunkLeft = Math.min(Number(/^\s*(\d{1,12})/.exec(rest)?.[1] ?? 0), Number.MAX_SAFE_INTEGER);
        if (!this.#mail) this.#beginMail();
        break;
      case "AUTH":
        this.#mode = "login";
        break;
      case "STARTTLS":
        this.#waitsForTls = true;
        break;
      case "RSET":
        this.#close();
        break;
      default:
        one.setStage("to-server", 1);
    }
  }

  #beginMail(): void {
    this.#current();
    this.#mail = createMimeReader(this.#limits.bodyBytes, (octets) => this.#output.hold(octets));
    this.#isMailNew = true;
  }

  #showMail(): void {
    if (!this.#mail || !this.#transaction) return;
    if (this.#isMailNew && this.#mail.head) {
      this.#isMailNew = false;
      for (const [name, buffer] of MAIL_FIELDS) for (const value of this.#mail.head.fields.get(name) ?? []) this.#note(buffer, value);
    }
    const isNews = this.#mail.files.filter((file) => {
      const seen = this.#shown.get(file) ?? -1;
      const { length } = file.bytes;
      if (seen === length || (!file.isOver && (length < MIN_INSPECTED || length - seen < STEP_BYTES))) return false;
      this.#shown.set(file, length);
      return true;
    }).length > 0;
    if (!isNews) return;
    const visible = this.#mail.files.filter((file) => this.#shown.has(file));
    this.#transaction.set("to-server", "file.data", visible.map(({ bytes }) => bytes.view));
    this.#transaction.set("to-server", "file.name", visible.map(({ name }) => bytesOf(name)));
    this.#isChanged = true;
  }

  #endMail(): void {
    this.#mode = "command";
    this.#mail?.end();
    this.#showMail();
    const one = this.#current();
    for (const url of this.#mail?.urls ?? []) this.#note("email.url", url);
    for (const { octets, isOver } of this.#mail?.files ?? []) if (isOver) one.addNumbers("to-server", "file.size", octets);
    this.#close();
  }

  #takeClient(bytes: Uint8Array): number {
    if (this.#mode === "over") return bytes.length;
    const limit = this.#chunkLeft > 0 ? Math.min(this.#chunkLeft, bytes.length) : bytes.length;
    const end = bytes.subarray(0, Math.min(limit, MAX_LINE_BYTES)).indexOf(LINE_FEED);
    if (end < 0 && limit < MAX_LINE_BYTES && limit !== this.#chunkLeft) return 0;
    const taken = end < 0 ? Math.min(limit, MAX_LINE_BYTES) : end + 1;
    const to = end < 0 ? taken : end > 0 && bytes[end - 1] === RETURN ? end - 1 : end;
    const line = bytes.subarray(0, to);
    if (this.#chunkLeft > 0) {
      this.#chunkLeft -= taken;
      this.#mail?.line(line, end >= 0);
    } else if (this.#mode === "data") {
      if (line.length === 1 && line[0] === 0x2e) this.#endMail();
      else this.#mail?.line(line, end >= 0);
    } else if (this.#mode === "login") this.#mode = "command";
    else this.#onCommand(Buffer.from(line).toString("latin1"));
    return taken;
  }

  #onReply(code: number): void {
    if (this.#waitsForTls) {
      this.#waitsForTls = false;
      if (code >= 200 && code < 300) this.#mode = "over";
      else this.#current().raise("tls_rejected");
    } else if (this.#mode === "data" && code >= 400) {
      this.#mode = "command";
      this.#current().raise("data_command_rejected");
    }
    // Each line of a login has a reply of its own; 334 asks for one more.
    this.#mode = code === 334 ? "login" : this.#mode === "login" ? "command" : this.#mode;
  }

  #takeServer(bytes: Uint8Array): number {
    const end = bytes.indexOf(LINE_FEED);
    if (end < 0) return bytes.length > MAX_LINE_BYTES ? -1 : 0;
    const reply = /^(\d{3})(?:[ \r\n]|$)/.exec(Buffer.from(bytes.subarray(0, Math.min(end + 1, 8))).toString("latin1"))?.[1];
    if (reply !== undefined) this.#onReply(Number(reply));
    return end + 1;
  }
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
  create: (output, limits) => new SmtpConnection(output, limits),
  buffers: new Map((["smtp.helo", "smtp.mail_from", "smtp.rcpt_to", "file.data", "file.name", "email.url", ...MAIL_FIELDS.map(([, buffer]) => buffer)] as const).map((name) => [name, GROWS])),
  numbers: new Map([["file.size", GROWS]]),
  words: new Map(),
  events: new Set(["data_command_rejected", "tls_rejected"]),
  service: "smtp",
  recognize: null,
};
