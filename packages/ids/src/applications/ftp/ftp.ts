/** FTP's control connection for rules: a command with its replies is a transaction. @see RFC 959, RFC 2428 */
import { type Application, type ApplicationOutput, type ApplicationParser, type BufferStage, type Direction, STAGE_DONE } from "../application.ts";
import { FieldTransaction } from "../field-transaction.ts";
import { WaitingBytes } from "../waiting-bytes.ts";

/** Longer lines end their side; Suricata cuts them there. */
const MAX_LINE_BYTES = 4096;
/** Lines of one reply that are kept. */
const MAX_REPLIES = 64;
const LINE_FEED = 0x0a;
/** What is behind them is in no buffer and no alert. */
const SECRETS: ReadonlySet<string> = new Set(["PASS", "ACCT"]);

/** One connection. */
class FtpConnection implements ApplicationParser {
  readonly #output: ApplicationOutput;
  readonly #sides: Readonly<Record<Direction, WaitingBytes>>;
  #transaction: FieldTransaction | null = null;
  #replies = 0;
  #waitsForTls = false;
  #isOver = false;

  constructor(output: ApplicationOutput) {
    this.#output = output;
    this.#sides = { "to-server": new WaitingBytes(output, MAX_LINE_BYTES), "to-client": new WaitingBytes(output, MAX_LINE_BYTES) };
  }

  bytes(direction: Direction, bytes: Uint8Array): void {
    if (this.#isOver) return;
    this.#sides[direction].read(bytes, (all) => this.#take(direction, all));
    if (this.#hasEnded()) this.#output.onSwitch("tls");
  }

  gap(direction: Direction): void {
    this.#sides[direction].close();
  }

  end(): void {
    this.#isOver = true;
    this.#close();
    for (const side of Object.values(this.#sides)) side.close();
  }

  /** What was read may have ended it. */
  #hasEnded(): boolean {
    return this.#isOver;
  }

  #close(): void {
    this.#transaction?.close(this.#output);
    this.#transaction = null;
  }

  #take(direction: Direction, bytes: Uint8Array): number {
    const end = bytes.indexOf(LINE_FEED);
    if (end < 0) return 0;
    const line = Buffer.from(bytes.subarray(0, end)).toString("latin1").trimEnd();
    if (direction === "to-server") this.#onCommand(line);
    else this.#onReply(line);
    return end + 1;
  }

  #onCommand(line: string): void {
    const [command = ""] = line.split(" ", 1);
    if (command === "") return;
    this.#close();
    this.#replies = 0;
    const transaction = new FieldTransaction("ftp");
    const verb = command.toUpperCase();
    const data = SECRETS.has(verb) ? "" : line.slice(command.length + 1);
    transaction.hold(this.#output, line.length);
    transaction.add("to-server", "ftp.command", Buffer.from(command, "latin1"));
    transaction.add("to-server", "ftp.command_data", Buffer.from(data, "latin1"));
    transaction.note("command", verb);
    if (data !== "") transaction.note("command_data", data);
    transaction.setStage("to-server", STAGE_DONE);
    this.#waitsForTls = verb === "AUTH" && /^(?:tls|ssl)/i.test(data);
    this.#transaction = transaction;
    this.#output.onChange(transaction, "to-server");
  }

  #onReply(line: string): void {
    const [, code, isMore, text = ""] = /^(\d{3})([ -])?(.*)$/s.exec(line) ?? [];
    const transaction = (this.#transaction ??= new FieldTransaction("ftp"));
    this.#replies += 1;
    if (this.#replies <= MAX_REPLIES) {
      transaction.hold(this.#output, line.length);
      if (code !== undefined) transaction.add("to-client", "ftp.completion_code", Buffer.from(code, "latin1"));
      transaction.add("to-client", "ftp.reply", Buffer.from(code === undefined ? line : text, "latin1"));
    }
    if (code === undefined || isMore === "-" || code.startsWith("1")) return;
    transaction.note("completion_code", code);
    transaction.setStage("to-client", STAGE_DONE);
    this.#output.onChange(transaction, "to-client");
    if (this.#waitsForTls && code === "234") this.end();
    else this.#close();
  }
}

const GROWS: BufferStage = { stage: STAGE_DONE, grows: true };
const WHOLE: BufferStage = { stage: STAGE_DONE, grows: false };

/** FTP, without its data connections. */
export const FTP_APPLICATION: Application = {
  name: "ftp",
  transports: ["tcp"],
  create: (output) => new FtpConnection(output),
  buffers: new Map([["ftp.command", WHOLE], ["ftp.command_data", WHOLE], ["ftp.reply", GROWS], ["ftp.completion_code", GROWS]]),
  numbers: new Map(),
  words: new Map(),
  events: new Set(),
  service: "ftp",
  recognize: null,
};
