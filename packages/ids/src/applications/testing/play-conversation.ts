/** Conversations played to an application's parser, and what rules would have seen. For tests only. */
import { BUFFER_FACTS, type BufferName } from "../../rules/buffer-names.ts";
import { type Application, APPLICATION_LIMITS, type ApplicationLimits, type Direction, type Transaction } from "../application.ts";

/** What one side says: `>` to the server, `<` to the client. A number is that many bytes that are missing. */
export type Said = readonly [side: ">" | "<", bytes: string | Uint8Array | number];

/** All that was seen of one transaction at any time: the last instances of each buffer. */
export interface SeenTransaction {
  readonly buffers: ReadonlyMap<string, readonly string[]>;
  readonly events: readonly string[];
  readonly description: Readonly<Record<string, unknown>>;
  readonly numbers: Readonly<Record<string, readonly number[]>>;
}

/** What came of a conversation. */
export interface PlayedApplication {
  readonly transactions: readonly SeenTransaction[];
  /** Protocols that took over. */
  readonly switches: readonly string[];
  /** Bytes that were held at most, and that are held in the end. */
  readonly peakBytes: number;
  readonly heldBytes: number;
  /** Times that something could be inspected. */
  readonly changes: number;
}

/** How a conversation is played. */
export interface PlayOptions {
  /** Bytes that are handed over at once, at most. */
  readonly size?: number;
  readonly limits?: Partial<ApplicationLimits>;
}

const FLOW = { transport: "tcp", clientPort: 40_000, serverPort: 80 } as const;
const DIRECTIONS = ["to-server", "to-client"] as const;

/** Plays it; the memory of each piece is overwritten after the call, as the capture's is. */
export function playApplication(application: Application, said: readonly Said[], { size = 1448, limits = {} }: PlayOptions = {}): PlayedApplication {
  const order: Transaction[] = [];
  const seen = new Map<Transaction, SeenTransaction>();
  const switches: string[] = [];
  let [heldBytes, peakBytes, changes] = [0, 0, 0];
  const look = (transaction: Transaction) => {
    changes += 1;
    if (!order.includes(transaction)) order.push(transaction);
    seen.set(transaction, snapshot(application, transaction, seen.get(transaction)));
  };
  const parser = application.create(
    {
      onChange: look, onEnd: look, onSwitch: (to) => switches.push(to),
      hold: (octets) => {
        heldBytes += octets;
        peakBytes = Math.max(peakBytes, heldBytes);
      },
    },
    { ...APPLICATION_LIMITS, ...limits }, FLOW,
  );
  for (const [side, what] of said) {
    const direction: Direction = side === ">" ? "to-server" : "to-client";
    if (typeof what === "number") {
      parser.gap(direction, what, 0);
      continue;
    }
    const bytes = typeof what === "string" ? Buffer.from(what, "latin1") : what;
    for (let at = 0; at < bytes.length; at += size) {
      const piece = bytes.slice(at, at + size);
      const memory = Uint8Array.from(piece);
      parser.bytes(direction, memory, 0);
      memory.fill(0xee);
    }
  }
  parser.end(0);
  return { transactions: order.map((transaction) => seen.get(transaction) as SeenTransaction), switches, peakBytes, heldBytes, changes };
}

function snapshot(application: Application, transaction: Transaction, before: SeenTransaction | undefined): SeenTransaction {
  const buffers = new Map(before?.buffers);
  for (const direction of DIRECTIONS) {
    for (const [buffer, { stage, grows }] of application.buffers) {
      const side = BUFFER_FACTS.get(buffer)?.direction;
      if ((side !== "any" && side !== direction) || (!grows && transaction.stageOf(direction) < stage)) continue;
      const instances = transaction.instancesOf(buffer, direction);
      if (instances.length > 0) buffers.set(keyOf(buffer, direction), instances.map((bytes) => Buffer.from(bytes).toString("latin1")));
    }
  }
  const numbers = Object.fromEntries([...application.numbers.keys()].flatMap((field) => DIRECTIONS.map((direction) => [`${field} ${direction}`, transaction.numbersOf(field, direction)])));
  return { buffers, events: [...transaction.events].toSorted(), description: transaction.describe(), numbers };
}

/** How a buffer of a direction is found in `buffers`. */
export function keyOf(buffer: BufferName, direction: Direction): string {
  return `${buffer} ${direction}`;
}
