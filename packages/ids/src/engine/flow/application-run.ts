/** The application of one flow: found out by its first bytes, then read by its parser, whose transactions rules look at. */

import { type Application, type ApplicationFlow, type ApplicationOutput, type ApplicationParser, type Direction, STAGE_DONE, type Transaction } from "../../applications/application.ts";
import type { FlowContext } from "./context.ts";
import type { FlowState } from "./flow-state.ts";
import { recognize } from "./recognition.ts";
import { TransactionInspector, type TransactionOwner } from "./transaction-inspector.ts";

/** Bytes of a side that are looked at before its protocol is given up. */
const MAX_FIRST_BYTES = 2048;
/** Datagrams of a flow that are looked at before it is given up. */
const MAX_DATAGRAMS = 6;
const NO_BYTES = new Uint8Array(0);

/** Behind their handshake nothing of them can be read. */
const ENCRYPTED: ReadonlySet<string> = new Set(["tls", "ssh"]);

/** What an application holds is put on its account. */
interface HoldAccount {
  /** So many bytes more, or fewer. */
  onHeld(octets: number): void;
}

/** One flow's; its parser speaks to it. */
export class ApplicationRun implements ApplicationOutput {
  /** The handshake is over: rules see no more of the flow. */
  isEncrypted = false;
  /** The streams' of its connection; `null` without them. */
  account: HoldAccount | null = null;
  readonly #context: FlowContext;
  readonly #state: FlowState;
  readonly #owner: TransactionOwner;
  #parser: ApplicationParser | null = null;
  #transactions: TransactionInspector | null = null;
  #first: { readonly "to-server": Uint8Array; readonly "to-client": Uint8Array } | null = null;
  #attempts = 0;
  #isOver = false;
  #switchTo: "" | "any" | "tls" = "";
  /** Directions whose handshake is over: 1 to the server, 2 to the client. */
  #handshakes = 0;

  constructor(context: FlowContext, state: FlowState, owner: TransactionOwner) {
    this.#context = context;
    this.#state = state;
    this.#owner = owner;
  }

  /** Finds out what a connection speaks, with the next bytes of a side. Nothing of them is handed on yet. */
  recognize(direction: Direction, bytes: Uint8Array): void {
    if (this.#isOver || this.#state.application !== "") return;
    const first = this.#first ?? { "to-server": NO_BYTES, "to-client": NO_BYTES };
    const before = first[direction];
    const fitting = bytes.subarray(0, MAX_FIRST_BYTES);
    const own = before.length === 0 ? fitting : join(before, fitting);
    const other = first[direction === "to-server" ? "to-client" : "to-server"];
    const found = recognize({ flow: this.#flow("tcp"), direction, bytes: own, other }, this.#context.evaluator.base.applications);
    if (found.kind === "found") {
      this.#begin(found.name, found.application, "tcp");
      this.#replay(first);
      return;
    }
    this.#first = { ...first, [direction]: before.length === 0 ? own.slice() : own };
    this.hold(own.length - before.length);
    if (found.kind === "nothing") this.#attempts |= direction === "to-server" ? 1 : 2;
    const isLong = own.length >= MAX_FIRST_BYTES || this.#attempts === 3;
    if (isLong) this.#fail();
  }

  /** The next bytes of a side, in order. */
  bytes(direction: Direction, bytes: Uint8Array, at: number): void {
    this.#parser?.bytes(direction, bytes, at);
    this.#afterBytes();
  }

  gap(direction: Direction, octets: number, at: number): void {
    if (this.#state.application === "") this.#fail();
    this.#parser?.gap(direction, octets, at);
    this.#afterBytes();
  }

  datagram(direction: Direction, payload: Uint8Array, at: number): void {
    if (this.#isOver) return;
    if (this.#state.application === "") {
      const found = recognize({ flow: this.#flow("udp"), direction, bytes: payload, other: NO_BYTES }, this.#context.evaluator.base.applications);
      if (found.kind === "found") this.#begin(found.name, found.application, "udp");
      else {
        this.#attempts += 1;
        if (this.#attempts >= MAX_DATAGRAMS) this.#fail();
        return;
      }
    }
    this.#parser?.bytes(direction, payload, at);
    this.#afterBytes();
  }

  /** Nothing more comes. */
  end(at: number): void {
    if (this.#isOver) return;
    this.#parser?.end(at);
    this.#transactions?.endAll();
    this.giveUp();
  }

  /** Forgets all. */
  giveUp(): void {
    this.#isOver = true;
    this.#parser = null;
    this.#transactions = null;
    this.#first = null;
  }

  #begin(name: string, application: Application | null, transport: "tcp" | "udp"): void {
    this.#state.application = name;
    this.#context.work.recognized += 1;
    if (application === null) return;
    this.#transactions = new TransactionInspector(this.#context, this.#owner);
    this.#handshakes = 0;
    this.#parser = application.create(this, this.#context.limits.application, this.#flow(transport));
  }

  onChange(transaction: Transaction, direction: Direction): void {
    if (this.#transactions === null) return;
    this.#transactions.change(transaction, direction);
    if (!ENCRYPTED.has(this.#state.application) || transaction.stageOf(direction) !== STAGE_DONE) return;
    this.#handshakes |= direction === "to-server" ? 1 : 2;
    if (this.#handshakes === 3) this.isEncrypted = true;
  }

  onEnd(transaction: Transaction): void {
    this.#transactions?.end(transaction);
  }

  hold(octets: number): void {
    this.account?.onHeld(octets);
  }

  onSwitch(to: "any" | "tls"): void {
    this.#switchTo = to;
  }

  /** What was said before anything was known. */
  #replay(first: { readonly "to-server": Uint8Array; readonly "to-client": Uint8Array }): void {
    const held = first["to-server"].length + first["to-client"].length;
    this.#first = null;
    if (held === 0) return;
    for (const direction of ["to-server", "to-client"] as const) if (first[direction].length > 0) this.#parser?.bytes(direction, first[direction], this.#state.lastAt);
    this.hold(-held);
  }

  #afterBytes(): void {
    if (this.#switchTo === "") return;
    const to = this.#switchTo;
    this.#switchTo = "";
    this.#parser?.end(this.#state.lastAt);
    this.#transactions?.endAll();
    this.#parser = null;
    this.#transactions = null;
    this.#attempts = 0;
    this.#state.application = "";
    const tls = to === "tls" ? this.#context.evaluator.base.applications.find(({ name }) => name === "tls") : undefined;
    if (to === "tls") this.#begin("tls", tls ?? null, "tcp");
  }

  #fail(): void {
    const held = (this.#first?.["to-server"].length ?? 0) + (this.#first?.["to-client"].length ?? 0);
    this.#first = null;
    this.hold(-held);
    this.#state.application = "failed";
  }

  #flow(transport: "tcp" | "udp"): ApplicationFlow {
    return { transport, clientPort: this.#state.client.port, serverPort: this.#state.server.port };
  }
}

function join(before: Uint8Array, bytes: Uint8Array): Uint8Array {
  const joined = new Uint8Array(before.length + bytes.length);
  joined.set(before);
  joined.set(bytes, before.length);
  return joined;
}
