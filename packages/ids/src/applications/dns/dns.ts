/** DNS for rules: each message is a transaction of its own, of one direction, as in Suricata 7. @see RFC 1035 section 4.2 */
import type { BufferName } from "../../rules/buffer-names.ts";
import {
  type Application, type ApplicationOutput, type ApplicationParser, type BufferStage, type Direction, type FirstBytes, type RecognitionVerdict, STAGE_DONE,
} from "../application.ts";
import { WaitingBytes } from "../waiting-bytes.ts";
import { readDnsMessage } from "./dns-message.ts";
import { DnsTransaction } from "./dns-transaction.ts";

const DNS_PORT = 53;
const HEADER_BYTES = 12;
const WHOLE: BufferStage = { stage: STAGE_DONE, grows: false };

const BUFFERS: readonly BufferName[] = [
  "dns.query", "dns.response.rrname", "dns.queries.rrname", "dns.answers.rrname", "dns.authorities.rrname", "dns.additionals.rrname",
];

/** Each message by itself. A class, as there is one for each flow of a client. */
class DatagramParser implements ApplicationParser {
  readonly #output: ApplicationOutput;

  constructor(output: ApplicationOutput) {
    this.#output = output;
  }

  bytes(direction: Direction, bytes: Uint8Array): void {
    this.take(direction, bytes);
  }

  /** @returns Whether it could be read. */
  take(direction: Direction, bytes: Uint8Array): boolean {
    const message = readDnsMessage(bytes);
    if (message?.isResponse !== (direction === "to-client")) return false;
    const transaction = new DnsTransaction(message, direction);
    this.#output.onChange(transaction, direction);
    this.#output.onEnd(transaction);
    return true;
  }

  gap(): void {}

  end(): void {}
}

function createStreamParser(output: ApplicationOutput): ApplicationParser {
  const messages = new DatagramParser(output);
  const sides = { "to-server": new WaitingBytes(output, 2 + 0xffff), "to-client": new WaitingBytes(output, 2 + 0xffff) };
  let isOver = false;

  function takeFromStream(direction: Direction, bytes: Uint8Array): number {
    if (bytes.length < 2) return 0;
    const end = 2 + (((bytes[0] as number) << 8) | (bytes[1] as number));
    if (bytes.length < end) return 0;
    // As in Suricata, one message that cannot be read ends the connection's.
    if (end > 2 && !messages.take(direction, bytes.subarray(2, end))) isOver = true;
    return isOver ? -1 : end;
  }

  return {
    bytes(direction, bytes) {
      if (!isOver) sides[direction].read(bytes, (all) => takeFromStream(direction, all));
    },
    gap(direction) {
      sides[direction].close();
    },
    end() {
      sides["to-server"].close();
      sides["to-client"].close();
    },
  };
}

/** Suricata asks for the server's port; on any other it is no DNS to it. */
function recognize({ flow, direction, bytes }: FirstBytes): RecognitionVerdict {
  if (flow.serverPort !== DNS_PORT) return "no";
  if (flow.transport === "udp") return isMessage(bytes, bytes.length, direction) ? "yes" : "no";
  if (bytes.length < 2 + HEADER_BYTES) return "more";
  const length = ((bytes[0] as number) << 8) | (bytes[1] as number);
  return isMessage(bytes.subarray(2), length, direction) ? "yes" : "no";
}

/** The header is whole, says no more questions and records than there is room for, and is of its direction. */
function isMessage(bytes: Uint8Array, length: number, direction: Direction): boolean {
  if (bytes.length < HEADER_BYTES || length < HEADER_BYTES || (bytes[2] as number) >= 0x80 !== (direction === "to-client")) return false;
  const count = (at: number) => ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
  return HEADER_BYTES + count(4) * 5 + (count(6) + count(8) + count(10)) * 11 <= length || readDnsMessage(bytes.subarray(0, length)) !== null;
}

/** @see https://docs.suricata.io/en/latest/rules/dns-keywords.html */
export const DNS_APPLICATION: Application = {
  name: "dns",
  transports: ["tcp", "udp"],
  create: (output, _limits, { transport }) => (transport === "udp" ? new DatagramParser(output) : createStreamParser(output)),
  buffers: new Map(BUFFERS.map((name) => [name, WHOLE])),
  numbers: new Map([["dns.opcode", WHOLE], ["dns.rcode", WHOLE], ["dns.rrtype", WHOLE]]),
  words: new Map(),
  events: new Set(["z_flag_set", "invalid_opcode", "name_too_long", "too_many_labels", "infinite_loop", "malformed_data", "not_request", "not_response"]),
  service: "dns",
  recognize,
};
