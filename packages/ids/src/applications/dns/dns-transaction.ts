import type { BufferName } from "../../rules/buffer-names.ts";
import { type Direction, STAGE_DONE, type Transaction, type TransactionNumber } from "../application.ts";
import type { DnsEntry, RuleDnsMessage } from "./dns-message.ts";

const NO_BUFFERS: readonly Uint8Array[] = [];
const NO_NUMBERS: readonly number[] = [];
const NO_WORDS: readonly string[] = [];
const NO_EVENTS: ReadonlySet<string> = new Set();

const isFull = ({ length }: Uint8Array): boolean => length > 0;
const namesOf = (entries: readonly DnsEntry[]): Uint8Array[] => entries.map(({ name }) => name).filter(isFull);
const targetsOf = (entries: readonly DnsEntry[]): Uint8Array[] => entries.flatMap(({ target }) => target ?? []).filter(isFull);

/** One message. What rules ask of it is put together when the first of them asks: most messages are asked for little. */
export class DnsTransaction implements Transaction {
  readonly application = "dns";
  readonly events: ReadonlySet<string>;
  readonly #message: RuleDnsMessage;
  readonly #direction: Direction;
  #queries: readonly Uint8Array[] | null = null;
  #others: Map<BufferName, readonly Uint8Array[]> | null = null;

  constructor(message: RuleDnsMessage, direction: Direction) {
    this.#message = message;
    this.#direction = direction;
    this.events = message.events.length === 0 ? NO_EVENTS : new Set(message.events);
  }

  /** Of the other direction it has nothing, its events neither. */
  stageOf(direction: Direction): number {
    return direction === this.#direction ? STAGE_DONE : 0;
  }

  instancesOf(buffer: BufferName, direction: Direction): readonly Uint8Array[] {
    if (direction !== this.#direction) return NO_BUFFERS;
    if (buffer === "dns.query" || buffer === "dns.queries.rrname") {
      return buffer === "dns.query" && direction === "to-client" ? NO_BUFFERS : (this.#queries ??= namesOf(this.#message.questions));
    }
    const others = (this.#others ??= new Map());
    const known = others.get(buffer);
    if (known) return known;
    const found = direction === "to-client" ? this.#recordsOf(buffer) : NO_BUFFERS;
    others.set(buffer, found);
    return found;
  }

  numbersOf(field: TransactionNumber, direction: Direction): readonly number[] {
    const { opcode, responseCode, questions, answers } = this.#message;
    if (direction !== this.#direction) return NO_NUMBERS;
    if (field === "dns.opcode") return [opcode];
    if (field === "dns.rcode") return direction === "to-client" ? [responseCode] : NO_NUMBERS;
    return field === "dns.rrtype" ? [...questions, ...answers].map(({ type }) => type) : NO_NUMBERS;
  }

  wordsOf(): readonly string[] {
    return NO_WORDS;
  }

  describe(): Readonly<Record<string, unknown>> {
    const { isResponse, responseCode, questions: [first] } = this.#message;
    const question = first ? { query: Buffer.from(first.name).toString("latin1").slice(0, 512), rrtype: first.type } : {};
    return isResponse ? { ...question, rcode: responseCode } : question;
  }

  #recordsOf(buffer: BufferName): readonly Uint8Array[] {
    const { questions, answers, authorities, additionals } = this.#message;
    if (buffer === "dns.answers.rrname") return namesOf(answers);
    if (buffer === "dns.authorities.rrname") return namesOf(authorities);
    if (buffer === "dns.additionals.rrname") return namesOf(additionals);
    if (buffer !== "dns.response.rrname") return NO_BUFFERS;
    const records = [...answers, ...authorities, ...additionals];
    return [...namesOf(questions), ...namesOf(records), ...targetsOf(records)];
  }
}
