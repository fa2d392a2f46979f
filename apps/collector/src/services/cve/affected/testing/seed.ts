import { createHash } from "node:crypto";
import { createId } from "@lanthorn/runtime";
import type { Kysely } from "kysely";
import type { Schema } from "../../../../db/schema.ts";
import { NO_SOFTWARE } from "../../../../software/columns.ts";
import { toEvidence } from "../../matching/evidence.ts";
import {
  addSoftware, type AssignmentRow, type JudgmentRow, type MatchedCveRow, putAssignments, putJudgments, putMatchedCves,
} from "../../matching/store/match-rows.ts";

/** When what a test seeds was first there. */
export const SEEDED_AT = "2026-01-01T00:00:00.000Z";

/** A CVE as it lies beside its matches: `risk` orders by exploitation, EPSS and CVSS. */
export function cveRow(id: string, more: Partial<MatchedCveRow> = {}): MatchedCveRow {
  const [, year = "0", number = "0"] = id.split("-");
  const row = { severity: "high", score: 8.1, is_kev: 0, epss: 0.1, ...more };
  return {
    cve_id: id, description: `What ${id} is.`, published: "2024-07-01T12:15:00.000Z", links: '["https://example.org/advisory"]', techniques: '["T1190"]',
    risk: row.is_kev * 1e9 + Math.round((row.epss ?? 0) * 1e4) * 1e4 + Math.round((row.score ?? 0) * 10), number: Number(year) * 1e9 + Number(number), ...row, ...more,
  };
}

/** Writes software of a product and version with its judgments. @returns The software's id. */
export async function seedSoftware(
  db: Kysely<Schema>, { product, version, packageVersion = "" }: { readonly product: string; readonly version: string; readonly packageVersion?: string },
  judgments: readonly (Partial<JudgmentRow> & { readonly cve_id: string })[],
): Promise<string> {
  const id = createId();
  const { text: evidence } = toEvidence({ ...NO_SOFTWARE, product_version: version, package_version: packageVersion }, []);
  const fingerprint = createHash("sha256").update(id).digest("hex");
  await db.transaction().execute(async (trx) => {
    await addSoftware(trx, [{ id, fingerprint, evidence, product, lineage: "a", generation: 1, basis: "", is_reported: 1, judged_at: SEEDED_AT }]);
    await putJudgments(trx, judgments.map((judgment) => ({
      software_id: id, cpe: `cpe:2.3:a:${product}:*:*:*:*:*:*:*:*`, version_range: "< 9.8", confidence: "confirmed", status: "open", is_counted: 1,
      reasons: '["The record names this version."]', remedies: JSON.stringify([{ product, fixed: ["9.8"], last_affected: [] }]), since: SEEDED_AT, until: null, ...judgment,
    })));
  });
  return id;
}

/** Writes that software runs at a port of a device, or on the device itself where `port` is null. */
export async function seedService(
  db: Kysely<Schema>, device: { readonly tenantId: string; readonly id: string }, software: { readonly id: string; readonly product: string },
  more: Partial<AssignmentRow> = {},
): Promise<void> {
  const port = more.port === undefined ? 22 : more.port;
  const row = {
    id: createId(), tenant_id: device.tenantId, device_id: device.id, service_key: port === null ? `host/snmp/${software.product}` : `tcp/${port}`, port,
    protocol: port === null ? "" : "tcp", service: port === null ? "snmp" : "ssh", software_id: software.id, product: software.product, since: SEEDED_AT, until: null, ...more,
  };
  await db.transaction().execute((trx) => putAssignments(trx, [row]));
}

/** Writes what is shown of CVEs. */
export function seedCves(db: Kysely<Schema>, rows: readonly MatchedCveRow[]): Promise<void> {
  return db.transaction().execute((trx) => putMatchedCves(trx, rows));
}
