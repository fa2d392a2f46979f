import { type Pcap, type PcapContents, PcapSummary } from "@lanthorn/contract";
import type { PcapRow } from "./store/pcaps-store.ts";

/** A capture as operators see it. */
export function toPcap(row: PcapRow): Pcap {
  return {
    id: row.id, tenant_id: row.tenant_id, site_id: row.site_id, probe_id: row.probe_id, trigger: row.trigger as Pcap["trigger"],
    state: row.state as Pcap["state"], detail: row.detail, is_cut: row.is_cut === 1, file_name: row.file_name, size_bytes: row.size_bytes,
    sha256: row.sha256 === "" ? null : row.sha256, packets: row.packets, started_at: row.started_at, finished_at: row.finished_at,
    interfaces: JSON.parse(row.interfaces) as string[], filter: row.filter, snap_length: row.snap_length, headers_only: row.headers_only === 1,
    counters: JSON.parse(row.counters) as Pcap["counters"], alert_ids: JSON.parse(row.alert_ids) as string[],
    macs: JSON.parse(row.macs) as string[], ips: JSON.parse(row.ips) as string[],
    limits: row.limits === null ? null : JSON.parse(row.limits) as Pcap["limits"], requested_by: row.requested_by,
    created_at: row.created_at, updated_at: row.updated_at,
    lock: row.locked_at === null ? null : { by: row.locked_by ?? "", at: row.locked_at, reason: row.lock_reason ?? "" },
  };
}

/** What is in a capture. */
export function toContents({ id, packets, summary }: PcapRow): PcapContents {
  return { id, packets, summary: summary === null ? null : PcapSummary.parse(JSON.parse(summary)) };
}

/** As much of a capture as the audit log remembers. */
export function toAudited({ sha256, size_bytes: size, site_id: siteId, probe_id: probeId, trigger, state, filter }: PcapRow): object {
  return { sha256: sha256 || null, size_bytes: size, site_id: siteId, probe_id: probeId, trigger, state, filter };
}

/** A name that is safe in a header and on any disk. */
export function downloadName({ file_name: name, id }: Pick<PcapRow, "file_name" | "id">): string {
  const plain = name.replaceAll(/[^\w.-]+/g, "_").replace(/^\.+/, "").slice(-120);
  return /\.pcap(?:ng)?$/.test(plain) && plain.length > 8 ? plain : `lanthorn-${id}.pcapng`;
}
