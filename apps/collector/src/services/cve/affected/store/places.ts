import { type RawBuilder, type Selectable, sql } from "kysely";
import type { Schema } from "../../../../db/schema.ts";

/** A place where software runs, or ran: a service of a device, or the device itself. */
export interface PlaceRow extends Selectable<Schema["service_software"]> {
  readonly ip: string;
  readonly hostname: string;
  readonly site_id: string;
  /** When it was seen there last. */
  readonly seen_at: string;
}

/** Where software runs that a CVE concerns: tables as the conditions name them. @param cveId An id, or a column that has one. */
export function placesOf(cveId: string | RawBuilder<unknown>): RawBuilder<PlaceRow> {
  return sql<PlaceRow>`select ss.*, d.ip, d.hostname, d.site_id, coalesce(ports.last_scanned, d.last_seen) as seen_at
    from service_software ss join devices d on d.id = ss.device_id join cve_judgments j on j.software_id = ss.software_id and j.cve_id = ${cveId}
    left join ports on ports.device_id = ss.device_id and ports.port = ss.port and ports.protocol = ss.protocol`;
}
