import type { IdsAlert } from "@lanthorn/ids";
import { formatFlow } from "@lanthorn/traffic";

/** An alert as one object of JSON. */
export function alertRecord(alert: IdsAlert) {
  const { rule, flow } = alert;
  return {
    at: new Date(alert.at / 1000).toISOString(), frame: alert.frameNumber, signature_id: rule.id, gid: rule.gid, revision: rule.revision, message: rule.message, severity: rule.severity,
    class: rule.class?.name ?? null, priority: rule.priority, action: rule.action, would_block: alert.wouldBlock, direction: alert.direction, flow_id: flow.id, protocol: flow.protocol,
    source_ip: alert.source.ip, source_port: portOf(alert.source.port), destination_ip: alert.destination.ip, destination_port: portOf(alert.destination.port),
    application: alert.application === "" ? null : alert.application, techniques: rule.techniques, fields: alert.fields,
    places: alert.places.map(({ buffer, offset, length, bytes }) => ({ buffer, offset, length, bytes: Buffer.from(bytes).toString("base64") })),
  };
}

/** A line for a person. */
export function describeAlert(alert: IdsAlert): string {
  const { rule, source, destination } = alert;
  return [
    new Date(alert.at / 1000).toISOString(), rule.severity.padEnd(8), `${rule.gid}:${rule.id}:${rule.revision}`, rule.message,
    formatFlow({ originator: source, responder: destination }), alert.application === "" ? "-" : alert.application, `frame ${alert.frameNumber}`,
  ].join(" ");
}

function portOf(port: number): number | null {
  return port < 0 ? null : port;
}
