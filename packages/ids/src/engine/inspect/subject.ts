/** What rules are held against at one moment: a packet, a chunk of a stream, or a transaction. */

import type { WatchedPacket } from "@lanthorn/traffic";
import type { Direction, Transaction } from "../../applications/application.ts";
import type { BufferSource } from "../../inspection/match-rule.ts";
import type { BufferName } from "../../rules/buffer-names.ts";
import type { Transform } from "../../rules/transform.ts";
import type { FlowState } from "../flow/flow-state.ts";
import { headerOf } from "./packet-buffers.ts";
import { createTransforms, type Transforms } from "./transforms.ts";

const NONE: readonly Uint8Array[] = [];
const NO_TRANSFORMS: readonly Transform[] = [];

/** Has the payload of a direction, for when a rule asks: most that is looked at asks for none. */
export interface PayloadLender {
  payloadIn(direction: Direction): Uint8Array | null;
}

/** One object of an engine, filled anew for each moment. */
export class Subject implements BufferSource {
  flow: FlowState | null = null;
  direction: Direction = "to-server";
  at = 0;
  frameNumber = 0;
  /** `null` at the end of a flow, where there is none. */
  packet: WatchedPacket | null = null;
  transaction: Transaction | null = null;
  /** Whether the flow was open when the packet came. */
  isEstablished = false;
  readonly #transforms: Transforms = createTransforms();
  #payload: Uint8Array | null = null;
  /** The payload as a list; `null` as long as nobody asked for it. */
  #instances: readonly Uint8Array[] | null = null;
  #lender: PayloadLender | null = null;

  get isLittleEndian(): boolean {
    return this.transaction?.isLittleEndian ?? false;
  }

  get payload(): Uint8Array | null {
    this.#takeLent();
    return this.#payload;
  }

  set payload(bytes: Uint8Array | null) {
    this.#lender = null;
    this.#payload = bytes;
    this.#instances = null;
  }

  /** The payload is what the lender has of the direction once a rule asks for it. */
  borrowPayload(lender: PayloadLender): void {
    this.#lender = lender;
  }

  #takeLent(): void {
    if (this.#lender !== null) this.payload = this.#lender.payloadIn(this.direction);
  }

  #payloads(): readonly Uint8Array[] {
    const { payload } = this;
    this.#instances ??= payload === null ? NONE : [payload];
    return this.#instances;
  }

  /** Sets that rules fill are not kept. */
  dataset(): boolean {
    return false;
  }

  instancesOf(buffer: BufferName, transforms: readonly Transform[] = NO_TRANSFORMS): readonly Uint8Array[] {
    const instances = this.#untransformed(buffer);
    return transforms.length === 0 || instances.length === 0 ? instances : this.#transforms.apply(instances, transforms);
  }

  #untransformed(buffer: BufferName): readonly Uint8Array[] {
    if (buffer === "payload") return this.#payloads();
    if (this.transaction !== null) return this.transaction.instancesOf(buffer, this.direction);
    const header = this.packet === null ? null : headerOf(this.packet, buffer);
    return header === null ? NONE : [header];
  }
}
