import type { Selectable } from "kysely";
import type { Schema } from "../../../db/schema.ts";

/** A suppression as stored. */
export type SuppressionRow = Selectable<Schema["cve_suppressions"]>;

/** A tenant's suppressions, sorted by how they are looked for. */
export interface SuppressionPlan {
  readonly all: readonly SuppressionRow[];
  /** Products of which nothing counts anywhere. */
  readonly products: readonly string[];
  /** CVEs and products that do not count anywhere. */
  readonly pairs: readonly (readonly [cve: string, product: string])[];
  /** Those of one device or site. */
  readonly local: {
    readonly cves: readonly string[];
    readonly products: readonly string[];
    /** Whether one of them is of every CVE and product. */
    readonly hasAny: boolean;
  } | null;
}

/** Of a tenant that suppresses nothing. */
export const NO_SUPPRESSIONS: SuppressionPlan = { all: [], products: [], pairs: [], local: null };

/** @param rows Those of a tenant that have not expired; each has a product, a device or a site. */
export function planSuppressions(rows: readonly SuppressionRow[]): SuppressionPlan {
  const wide = rows.filter(({ device_id: device, site_id: site }) => device === null && site === null);
  const local = rows.filter((row) => !wide.includes(row));
  return {
    all: rows,
    products: wide.flatMap(({ cve_id: cve, product }) => (cve === null && product !== null ? [product] : [])),
    pairs: wide.flatMap(({ cve_id: cve, product }) => (cve !== null && product !== null ? [[cve, product] as const] : [])),
    local: local.length === 0 ? null : {
      cves: local.flatMap(({ cve_id: cve }) => (cve === null ? [] : [cve])),
      products: local.flatMap(({ cve_id: cve, product }) => (cve === null && product !== null ? [product] : [])),
      hasAny: local.some(({ cve_id: cve, product }) => cve === null && product === null),
    },
  };
}

/** Whether a suppression of one device or site may concern a CVE of a product. */
export function isLocallyConcerned({ local }: SuppressionPlan, cve: string, product: string): boolean {
  return local !== null && (local.hasAny || local.cves.includes(cve) || local.products.includes(product));
}

/** The suppression that a match falls under, the oldest where there are several; null for none. */
export function suppressionOf(
  { all }: SuppressionPlan, match: { readonly cve_id: string; readonly product: string; readonly device_id: string; readonly site_id: string },
): SuppressionRow | null {
  const fits = (wanted: string | null, given: string) => wanted === null || wanted === given;
  return all.find(({ cve_id: cve, product, device_id: device, site_id: site }) =>
    fits(cve, match.cve_id) && fits(product, match.product) && fits(device, match.device_id) && fits(site, match.site_id)) ?? null;
}
