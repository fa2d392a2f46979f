import { runEvidence } from "../system/evidence-run.ts";

const ALERTS = 100;

/**
 * Alerts in the lab, one after the other, and whether each has a file that holds and marks its frame, with ten seconds before it: tshark says.
 * Five seconds for each.
 */
export async function run(args: readonly string[]): Promise<void> {
  const alerts = args[0] === undefined ? ALERTS : Number(args[0]);
  if (!(Number.isInteger(alerts) && alerts >= 1 && alerts <= 1000)) throw new Error(`evidence takes one number, how many alerts from 1 to 1000, not ${args[0]}`);
  console.log(JSON.stringify({ bench: "evidence", ...(await runEvidence(alerts)) }));
}
