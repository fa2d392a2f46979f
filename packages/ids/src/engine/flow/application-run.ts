/** The application of one flow: found out by its first bytes, then read by its parser, whose transactions rules look at. */

import type { Application, ApplicationFlow, ApplicationOutput, ApplicationParser, Direction } from "../../applications/application.ts";
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

/** One flow's. */
export class ApplicationRun {
  /** The handshake is over: rules see no more of the flow. */
  isEncrypted = false;
  onHold: (octets: number) => void = () => {};
  readonly #context: FlowContext;
  readonly #state: FlowState;
  readonly #owner: TransactionOwner;
  #parser: ApplicationParser | null = null;
  #transactions: TransactionInspector | null = null;
  #first: { readonly "to-server": Uint8Array; readonly "to-client": Uint8Array } | null = null;
  #attempts = 0;
  #isOver = false;
  #switchTo: "" | "any" | "tls" = "";

  constructor(context: FlowContext, state: FlowState, owner: TransactionOwner) {
    this.#context = context;
    this.#state = state;
    this.#owner = owner;
  }

  /** Finds out what a connection speaks, with the next bytes of a side. Nothing of them is handed on yet. */
  recognize(direction: Direction, bytes: Uint8Array): void {
    if (this.#isOver || this.#state.application !== "") return;
    const first = this.#first ?? { "to-server": NO_BYTES, "to-client": NO_BYTES };
    const own = join(first[direction], bytes.subarray(0, MAX_FIRST_BYTES));
    const other = first[direction === "to-server" ? "to-client" : "to-server"];
    const found = recognize({ flow: this.#flow("tcp"), direction, bytes: own, other }, this.#context.evaluator.base.applications);
    if (found.kind === "found") {
      this.#begin(found.name, found.application, "tcp");
      this.#replay(first);
      return;
    }
    this.#first = { ...first, [direction]: own };
    this.onHold(own.length - first[direction].length);
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
    const transactions = new TransactionInspector(this.#context, this.#owner);
    this.#transactions = transactions;
    const done = { "to-server": false, "to-client": false };
    const output: ApplicationOutput = {
      onChange: (transaction, direction) => {
        if (this.#transactions !== transactions) return;
        transactions.change(transaction, direction);
        if (ENCRYPTED.has(name) && transaction.stageOf(direction) === WHOLE) done[direction] = true;
        if (done["to-server"] && done["to-client"]) this.isEncrypted = true;
      },
      onEnd: (transaction) => {
        if (this.#transactions === transactions) transactions.end(transaction);
      },
      hold: (octets) => this.onHold(octets),
      onSwitch: (to) => {
        this.#switchTo = to;
      },
    };
    this.#parser = application.create(output, this.#context.limits.application, this.#flow(transport));
  }

  /** What was said before anything was known. */
  #replay(first: { readonly "to-server": Uint8Array; readonly "to-client": Uint8Array }): void {
    const held = first["to-server"].length + first["to-client"].length;
    this.#first = null;
    if (held === 0) return;
    for (const direction of ["to-server", "to-client"] as const) if (first[direction].length > 0) this.#parser?.bytes(direction, first[direction], this.#state.lastAt);
    this.onHold(-held);
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
    this.onHold(-held);
    this.#state.application = "failed";
  }

  #flow(transport: "tcp" | "udp"): ApplicationFlow {
    return { transport, clientPort: this.#state.client.port, serverPort: this.#state.server.port };
  }
}

const WHOLE = 255;

function join(before: Uint8Array, bytes: Uint8Array): Uint8Array {
  if (before.length === 0) return bytes.slice();
  const joined = new Uint8Array(before.length + bytes.length);
  joined.set(before);
  joined.set(bytes, before.length);
  return joined;
}
