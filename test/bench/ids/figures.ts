/** What one engine took and gave in a run. */
export interface EngineFigures {
  readonly rulesLoaded: number;
  readonly rulesRefused: number;
  readonly loadSeconds: number;
  readonly packetSeconds: number;
  readonly rssBytes: number;
  readonly packets: number;
  readonly alerts: number;
  /** Signature, flow and direction of the alerts, without doubles: `alertKey`. */
  readonly keys: readonly string[];
}

/** What alerts of two engines are compared by. */
export function alertKey({ signatureId, protocol, ends, isToServer }: {
  readonly signatureId: number;
  /** Of IP: 6 is TCP. */
  readonly protocol: number;
  /** `address:port`, in any order. */
  readonly ends: readonly [string, string];
  readonly isToServer: boolean;
}): string {
  const [first, second] = ends;
  return `${signatureId} ${protocol} ${first < second ? `${first} ${second}` : `${second} ${first}`} ${isToServer ? ">" : "<"}`;
}

const NUMBERS: Readonly<Record<string, number>> = { ICMP: 1, TCP: 6, UDP: 17, "IPv6-ICMP": 58, GRE: 47, SCTP: 132 };

/** The same of an alert of eve.json. */
export function keyOfEve(alert: Readonly<Record<string, unknown>>): string {
  const { proto, direction, src_ip: source, dest_ip: destination, src_port: from = -1, dest_port: to = -1 } = alert;
  const { signature_id: signatureId } = alert["alert"] as { readonly signature_id: number };
  return alertKey({ signatureId, protocol: NUMBERS[String(proto)] ?? Number(proto), ends: [`${addressOf(source)}:${String(from)}`, `${addressOf(destination)}:${String(to)}`], isToServer: direction !== "to_client" });
}

/** eve.json writes addresses of IPv6 in full. */
function addressOf(value: unknown): string {
  const text = String(value);
  return text.includes(":") ? new URL(`http://[${text}]`).hostname.slice(1, -1) : text;
}
