import type { Clock, Log } from "@lanthorn/runtime";
import type { DnsFinding } from "../../dns-threats/finding.ts";
import { fromSuspicion } from "../../dns-threats/suspicion.ts";
import type { SiteBehaviour } from "../anomalies/behaviour.ts";
import { createDnsWatch, type DnsWatchCounters } from "../dns/dns-watch.ts";
import { createListedNames } from "../dns/listed-names.ts";
import { toThreatMessage } from "../dns/threat-message.ts";
import type { FromProcess, ProcessCounters, ToProcess } from "../messages.ts";
import { createFindingRate } from "../rules/finding-rate.ts";
import type { FlowNumbers } from "../ring/flow-numbers.ts";
import type { RuleEngine } from "../rules/rule-engine.ts";
import { createFlowSinks, type FlowSinks } from "./flow-sinks.ts";

/** Of a frame that goes with a finding. */
const MAX_PACKET_BYTES = 2048;

/** Flows, with what is looked for in what clients ask. */
export interface WatchedFlows extends FlowSinks {
  /** Names of harmful lists may be others. */
  loadNames(): void;
  dns(): NonNullable<ProcessCounters["dns"]>;
}

/** Flows, with rules and the detectors of threats in what clients ask. */
export function openFlows(
  { begin: { settings: { dns: settings }, data_dir: dataDir }, send, clock, random, log }: {
    readonly begin: Pick<Extract<ToProcess, { kind: "begin" }>, "settings" | "data_dir">; readonly send: (message: FromProcess) => boolean; readonly clock: Clock;
    readonly random: () => number; readonly log: Pick<Log, "info" | "error">;
  },
  { rules, behaviour, numbers }: { readonly rules: RuleEngine; readonly behaviour: SiteBehaviour; readonly numbers: FlowNumbers },
): WatchedFlows {
  const findings = createFindingRate<DnsFinding>({
    clock, send: (finding) => send({ kind: "dns_threat", threat: toThreatMessage(finding) }), kindOf: ({ category, campaign, clientIp }) => ({ wide: `${category} ${campaign}`, narrow: `${category} ${campaign} ${clientIp}` }),
  });
  const watch = createDnsWatch({
    settings, random, onSuspicion: (suspicion) => findings.add(fromSuspicion(suspicion, copyOf(flows.frame()))),
    onListed: (finding) => findings.add({ ...finding, packet: copyOf(flows.frame()) }),
  });
  const names = settings.enabled ? createListedNames({ dataDir, onRead: watch.useLists, log }) : null;
  const flows = createFlowSinks({
    random, clock, watch: rules, behaviour, numbers,
    onMessage(flow, message) {
      watch.onMessage(flow, message);
      behaviour.onMessage(flow, message);
    },
  });
  const [table, inspection] = flows.sinks;
  const close = async () => {
    findings.close();
    await names?.close();
    await inspection.close();
  };
  return { ...flows, sinks: [table, { ...inspection, close }], loadNames: () => names?.load(), dns: () => toDnsHealth(watch.counters()) };
}

/** Of a frame in the ring, whose memory is used again. */
function copyOf(frame: Uint8Array | null): Uint8Array | null {
  return frame && Buffer.from(frame.subarray(0, MAX_PACKET_BYTES));
}

function toDnsHealth({ listedNames, messages, suspicions, evicted, listed }: DnsWatchCounters): NonNullable<ProcessCounters["dns"]> {
  return { messages, suspicions, evicted, listed_names: listedNames, listed };
}
