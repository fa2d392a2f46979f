import { formatFlow, type FlowRecord } from "@lanthorn/traffic";

/** The head of the lines that `describeFlow` makes. */
export const FLOW_HEAD = [
  "STARTED".padEnd(27), "SECONDS".padStart(10), "PROTOCOL".padEnd(8), "STATE".padEnd(6), "HISTORY".padEnd(10), "PACKETS".padStart(11), "BYTES".padStart(17), "SERVICE".padEnd(8), "FLOW",
].join(" ");

/** A line for a person: when, how long, what, how it went, how much each way, and between whom. */
export function describeFlow(flow: FlowRecord): string {
  const between = formatFlow({
    originator: { ip: flow.originator_ip, port: flow.originator_port }, responder: { ip: flow.responder_ip, port: flow.responder_port },
  });
  const vlans = [flow.vlan_id, flow.inner_vlan_id].filter((id) => id !== null);
  return [
    flow.started_at, flow.duration.toFixed(6).padStart(10), flow.protocol.padEnd(8), flow.state.padEnd(6), flow.history.padEnd(10),
    `${flow.originator_packets}/${flow.responder_packets}`.padStart(11), `${flow.originator_bytes}/${flow.responder_bytes}`.padStart(17),
    (flow.service ?? "-").padEnd(8), between, ...(vlans.length > 0 ? [`vlan ${vlans.join(".")}`] : []),
    ...(flow.encapsulations.length > 0 ? [`in ${flow.encapsulations.join(", ")}`] : []), ...(flow.missed_bytes > 0 ? [`${flow.missed_bytes} bytes missed`] : []),
    ...(flow.is_midstream ? ["midstream"] : []), ...(flow.is_one_sided ? ["one-sided"] : []),
  ].join(" ");
}
