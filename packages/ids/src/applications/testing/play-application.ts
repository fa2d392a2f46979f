/** Plays conversations to an application's parser, and keeps what rules would see. For tests only. */
import * as fc from "fast-check";
import { expect } from "vitest";
import { APPLICATION_LIMITS, type Application, type ApplicationFlow, type Direction, type Transaction } from "../application.ts";

/** What one side says at once. */
export type Turn = readonly [direction: Direction, bytes: Uint8Array];

/** @param text `>` and `<` begin what client and server say, in base64. */
export function turns(text: string): readonly Turn[] {
  return (text.match(/[<>][^<>]*/g) ?? []).map((turn) => [turn.startsWith(">") ? "to-server" : "to-client", Uint8Array.from(Buffer.from(turn.slice(1), "base64"))]);
}

/** What a transaction had when it ended: `tls.sni to-server` → its instances, one character a byte. Nothing where nothing is. */
export interface Seen {
  readonly [field: string]: readonly (string | number)[];
}

interface Played {
  readonly transactions: readonly Seen[];
  /** `direction stage` at each change. */
  readonly changes: readonly string[];
  readonly held: number;
  readonly mostHeld: number;
}

const DIRECTIONS: readonly Direction[] = ["to-server", "to-client"];

/** @param size Bytes that come at once; all of a turn unless given. */
export function play(application: Application, turns: readonly Turn[], { size = 0, flow = {} }: { readonly size?: number; readonly flow?: Partial<ApplicationFlow> } = {}): Played {
  const transactions: Seen[] = [];
  const changes: string[] = [];
  let held = 0;
  let mostHeld = 0;
  const parser = application.create({
    onChange: (transaction, direction) => changes.push(`${direction} ${transaction.stageOf(direction)}`),
    onEnd: (transaction) => transactions.push(seen(application, transaction)),
    hold: (octets) => {
      held += octets;
      mostHeld = Math.max(mostHeld, held);
    },
    onSwitch: (to) => changes.push(`switch ${to}`),
  }, APPLICATION_LIMITS, { transport: "tcp", clientPort: 40_000, serverPort: 1, ...flow });
  for (const [direction, bytes] of turns) {
    for (let at = 0; at < bytes.length; at += size || bytes.length) {
      // A copy that is overwritten afterwards: views are good during the call only.
      const piece = bytes.slice(at, at + (size || bytes.length));
      parser.bytes(direction, piece, 0);
      piece.fill(0xee);
    }
  }
  parser.end(0);
  return { transactions, changes, held, mostHeld };
}

function seen(application: Application, transaction: Transaction): Seen {
  const fields: [string, readonly (string | number)[]][] = [["events", [...transaction.events]]];
  for (const direction of DIRECTIONS) {
    for (const buffer of application.buffers.keys()) {
      fields.push([`${buffer} ${direction}`, transaction.instancesOf(buffer, direction).map((bytes) => Buffer.from(bytes).toString("latin1"))]);
    }
    for (const field of application.numbers.keys()) fields.push([`${field} ${direction}`, transaction.numbersOf(field, direction)]);
    for (const field of application.words.keys()) fields.push([`${field} ${direction}`, transaction.wordsOf(field, direction)]);
  }
  return Object.fromEntries(fields.filter(([, values]) => values.length > 0));
}

/** Expects the same transactions however TCP cuts the bytes, and nothing kept afterwards. */
export function expectSameHoweverCut(application: Application, turns: readonly Turn[], flow: Partial<ApplicationFlow> = {}): void {
  const whole = play(application, turns, { flow });
  expect(whole.held).toBe(0);
  for (const size of [1, 2, 3, 7, 64, 536]) {
    const played = play(application, turns, { size, flow });
    expect({ size, transactions: played.transactions, held: played.held }).toEqual({ size, transactions: whole.transactions, held: 0 });
  }
}

/** Expects no throw and bounded memory from damaged, cut off and random bytes. */
export function expectSafe(application: Application, turns: readonly Turn[], flow: Partial<ApplicationFlow> = {}): void {
  const check = (damaged: readonly Turn[]) => {
    const { held, mostHeld } = play(application, damaged, { flow });
    expect(held).toBe(0);
    expect(mostHeld).toBeLessThanOrEqual(APPLICATION_LIMITS.bytesPerFlow);
  };
  const total = turns.reduce((sum, [, bytes]) => sum + bytes.length, 0);
  fc.assert(fc.property(fc.nat(total), fc.array(fc.tuple(fc.nat(total), fc.nat(255)), { maxLength: 8 }), (end, changes) => {
    let begin = 0;
    check(turns.map(([direction, bytes]) => {
      const copy = bytes.slice(0, Math.max(0, end - begin));
      for (const [at, value] of changes) if (at >= begin && at < begin + copy.length) copy[at - begin] = value;
      begin += bytes.length;
      return [direction, copy];
    }));
  }), { numRuns: 150 });
  fc.assert(fc.property(fc.array(fc.tuple(fc.constantFrom(...DIRECTIONS), fc.uint8Array({ maxLength: 300 }))), check), { numRuns: 150 });
}
