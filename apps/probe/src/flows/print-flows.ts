import { once } from "node:events";
import type { Clock } from "@lanthorn/runtime";
import { ProbeError } from "../errors.ts";
import { describeFlow, FLOW_HEAD } from "./describe-flow.ts";
import { readFlows } from "./read-flows.ts";

/**
 * Prints the flows of capture files, one a line, and then what was read.
 * @throws ProbeError `failed` for files that were not read to their end.
 */
export async function printFlows({ paths, isJson, clock }: { readonly paths: readonly string[]; readonly isJson: boolean; readonly clock: Pick<Clock, "monotonic"> }): Promise<void> {
  const line = isJson ? (flow: object) => JSON.stringify(flow) : describeFlow;
  const print = async (text: string) => {
    if (!process.stdout.write(text)) await once(process.stdout, "drain");
  };
  if (!isJson) await print(`${FLOW_HEAD}\n`);
  const startedAt = clock.monotonic();
  const { counters, problems } = await readFlows({
    paths, random: Math.random, onMessage: () => {}, print: (flows) => print(flows.map((flow) => `${line(flow)}\n`).join("")),
  });
  const { frames, octets, flows, notIp, notUnderstood, fragments } = counters;
  const seconds = Math.round(clock.monotonic() - startedAt) / 1000;
  process.stderr.write(`${JSON.stringify({ frames, octets, flows: flows.opened, records: flows.records, not_ip: notIp, not_understood: notUnderstood, fragments: fragments.fragments, datagrams: fragments.whole, seconds })}\n`);
  if (problems.length > 0) throw new ProbeError("failed", problems.join("; "));
}
