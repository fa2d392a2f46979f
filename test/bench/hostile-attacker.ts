import { text } from "node:stream/consumers";
import { ATTACKS } from "./hostile-attacks.ts";
import type { AttackOrder } from "./hostile-order.ts";

/** One attack in a process of its own. It ends when its time is over, whatever hangs. */
const order = JSON.parse(await text(process.stdin)) as AttackOrder;
const attack = ATTACKS[order.attack];
if (!attack) throw new Error(`there is no attack called ${order.attack}`);
const tally = createTally();
await Promise.race([
  attack(order, tally).catch((error: unknown) => tally.answer(`failed: ${error instanceof Error ? error.message : String(error)}`)),
  new Promise<void>((resolve) => {
    setTimeout(resolve, (order.seconds + 1) * 1000);
  }),
]);
process.stdout.write(`${JSON.stringify(tally.result())}\n`, () => process.exit());

function createTally() {
  let sent = 0;
  let bytes = 0;
  const answers: Record<string, number> = {};
  return {
    sent(size: number) {
      sent += 1;
      bytes += size;
    },
    answer(what: string, count = 1) {
      answers[what] = (answers[what] ?? 0) + count;
    },
    result: () => ({ sent, bytes, answers }),
  };
}
