import type { BaselineFactKind, BaselineOutcome, EventData } from "@lanthorn/contract";
import type { NewEvent } from "../../../events/log.ts";
import type { DifferenceRow } from "../store/differences.ts";

type Kind = EventData<"baseline_diff_alert">["kind"];

/** What events call each difference. */
const KINDS: Readonly<Record<BaselineFactKind, { readonly [O in BaselineOutcome]?: Kind } & { readonly changed: Kind }>> = {
  device: { appeared: "new_device", gone: "missing_device", changed: "replaced_device" },
  dhcp_server: { appeared: "new_dhcp_server", gone: "missing_dhcp_server", changed: "changed_dhcp_server" },
  gateway: { appeared: "new_gateway", gone: "missing_gateway", changed: "changed_gateway" },
  dns_server: { appeared: "new_dns_server", gone: "missing_dns_server", changed: "new_dns_server" },
  port: { appeared: "new_port", gone: "closed_port", changed: "new_port" },
  service: { changed: "changed_service" },
  host_key: { changed: "changed_host_key", replaced: "replaced_device" },
  certificate: { changed: "changed_certificate" },
  neighbor: { appeared: "new_neighbor", gone: "missing_neighbor", changed: "changed_neighbor" },
  presence: { changed: "unusual_time" },
};

/** Where a difference is seen. `mac` is empty where it is not one device's. */
export interface DifferencePlace {
  readonly ip: string;
  readonly mac: string;
}

/**
 * The event that reports a difference, or its end where its row is `accepted` or `ended`.
 * @param at When it is reported.
 * @param baselineAt When the baseline was learned or approved last.
 */
export function differenceEvent(row: DifferenceRow, place: DifferencePlace, { at, baselineAt }: { readonly at: string; readonly baselineAt: string }): NewEvent {
  const fact = row.kind as BaselineFactKind;
  const outcome = row.outcome as BaselineOutcome;
  const [, protocol, port] = /^(tcp|udp)\/(\d+)/.exec(row.key) ?? [];
  const data: EventData<"baseline_diff_alert"> = {
    kind: KINDS[fact][outcome] ?? KINDS[fact].changed, severity: row.severity as EventData<"baseline_diff_alert">["severity"],
    ip: place.ip, mac: place.mac, port: port === undefined ? null : Number(port),
    protocol: protocol === undefined ? null : (protocol as "tcp" | "udp"), expected: row.expected, observed: row.observed, baseline_at: baselineAt,
    state: row.state === "open" ? "seen" : "ended", outcome, fact, key: row.key, difference_id: row.id, baseline_id: row.baseline_id,
    expected_at: row.expected_at, observed_at: row.observed_at,
  };
  return {
    type: "baseline_diff_alert", data, siteId: row.site_id, probeId: null, deviceId: row.device_id, queueId: null, probeSeq: null, occurredAt: at,
    receivedAt: at,
  };
}
