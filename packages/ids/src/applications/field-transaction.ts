import type { BufferName } from "../rules/buffer-names.ts";
import type { WordCondition } from "../rules/condition.ts";
import { type ApplicationOutput, type Direction, STAGE_DONE, type Transaction, type TransactionNumber } from "./application.ts";

const NO_BUFFERS: readonly Uint8Array[] = [];
const NO_NUMBERS: readonly number[] = [];
const NO_WORDS: readonly string[] = [];
const NO_EVENTS: ReadonlySet<string> = new Set();
/** Of one value in the description of an alert. */
const MAX_DESCRIBED = 512;

/** What one direction of a transaction has. */
interface Fields {
  stage: number;
  buffers: Map<BufferName, readonly Uint8Array[]> | null;
  numbers: Map<TransactionNumber, readonly number[]> | null;
  words: Map<WordCondition["field"], readonly string[]> | null;
}

const createSide = (): Fields => ({ stage: 0, buffers: null, numbers: null, words: null });

/** A transaction whose fields its parser puts in as it finds them. A class: there is one for each message of the busiest protocols. */
export class FieldTransaction implements Transaction {
  readonly application: string;
  isLittleEndian = false;
  readonly #toServer = createSide();
  readonly #toClient = createSide();
  #events: Set<string> | null = null;
  #facts: Record<string, unknown> | null = null;
  #held = 0;

  constructor(application: string) {
    this.application = application;
  }

  get events(): ReadonlySet<string> {
    return this.#events ?? NO_EVENTS;
  }

  stageOf(direction: Direction): number {
    return this.#side(direction).stage;
  }

  instancesOf(buffer: BufferName, direction: Direction): readonly Uint8Array[] {
    return this.#side(direction).buffers?.get(buffer) ?? NO_BUFFERS;
  }

  numbersOf(field: TransactionNumber, direction: Direction): readonly number[] {
    return this.#side(direction).numbers?.get(field) ?? NO_NUMBERS;
  }

  wordsOf(field: WordCondition["field"], direction: Direction): readonly string[] {
    return this.#side(direction).words?.get(field) ?? NO_WORDS;
  }

  describe(): Readonly<Record<string, unknown>> {
    return this.#facts ?? {};
  }

  setStage(direction: Direction, stage: number): void {
    this.#side(direction).stage = stage;
  }

  /** Puts more instances behind those that are there. Empty ones are none: Suricata inspects no buffer without bytes. @param instances Kept, not copied. */
  add(direction: Direction, buffer: BufferName, ...instances: readonly Uint8Array[]): void {
    const full = instances.filter(({ length }) => length > 0);
    if (full.length === 0) return;
    const buffers = (this.#side(direction).buffers ??= new Map());
    const before = buffers.get(buffer);
    buffers.set(buffer, before ? [...before, ...full] : full);
  }

  /** Puts instances in the place of those that were there. @param instances Kept, not copied. */
  set(direction: Direction, buffer: BufferName, instances: readonly Uint8Array[]): void {
    (this.#side(direction).buffers ??= new Map()).set(buffer, instances);
  }

  /** Puts one instance in the place of those that were there. */
  replace(direction: Direction, buffer: BufferName, instance: Uint8Array): void {
    this.#side(direction).buffers?.delete(buffer);
    this.add(direction, buffer, instance);
  }

  addNumbers(direction: Direction, field: TransactionNumber, ...values: readonly number[]): void {
    const numbers = (this.#side(direction).numbers ??= new Map());
    numbers.set(field, [...(numbers.get(field) ?? []), ...values]);
  }

  setWords(direction: Direction, field: WordCondition["field"], ...values: readonly string[]): void {
    (this.#side(direction).words ??= new Map()).set(field, values);
  }

  raise(event: string): void {
    (this.#events ??= new Set()).add(event);
  }

  /** A field for the alert; texts are cut at 512 characters. */
  note(name: string, value: string | number): void {
    (this.#facts ??= {})[name] = typeof value === "string" ? value.slice(0, MAX_DESCRIBED) : value;
  }

  /** Counts bytes that live as long as the transaction. */
  hold(output: ApplicationOutput, octets: number): void {
    this.#held += octets;
    output.hold(octets);
  }

  /** Nothing more comes. @param only The one direction that it has; events count in no other. */
  close(output: ApplicationOutput, only?: Direction): void {
    if (only !== "to-client") this.#toServer.stage = STAGE_DONE;
    if (only !== "to-server") this.#toClient.stage = STAGE_DONE;
    output.onEnd(this);
    if (this.#held > 0) output.hold(-this.#held);
    this.#held = 0;
  }

  #side(direction: Direction): Fields {
    return direction === "to-server" ? this.#toServer : this.#toClient;
  }
}
