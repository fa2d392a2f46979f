import type { IdsStats } from "@lanthorn/contract";
import { type Clock, toInstant } from "@lanthorn/runtime";
import { requireSite } from "../../../gateway/errors.ts";
import type { CountedSignature, CountsStore } from "./counts-store.ts";
import type { NoiseStore } from "./store.ts";

const DAY_MS = 86_400_000;
const NOISIEST = 20;
/** What matched more often than this, and makes more than so much of all, is suggested to be suppressed. */
const [NOISY_ALERTS, NOISY_SHARE] = [20, 0.05];
/** A host that has so much of a signature's alerts is the only one that is named. */
const ONE_HOST_SHARE = 0.9;

/** How much there is, and of what. */
export interface StatsService {
  read(tenantId: string, query: { readonly site_id?: string | undefined; readonly days: number }): Promise<IdsStats>;
}

/** Of what the collector counted. */
export function createStatsService({ counts, store, clock }: { readonly counts: CountsStore; readonly store: Pick<NoiseStore, "siteExists">; readonly clock: Pick<Clock, "now"> }): StatsService {
  return {
    async read(tenantId, { site_id: siteId, days }) {
      await requireSite(store, tenantId, siteId);
      const now = clock.now();
      const rows = await counts.since(tenantId, toInstant(now - (days - 1) * DAY_MS).slice(0, 10), siteId);
      const first = await counts.firstDay(tenantId);
      const sum = (field: "alerts" | "suppressed" | "would_block") => rows.reduce((total, row) => total + row[field], 0);
      const alerts = sum("alerts");
      return {
        days, alerts, suppressed: sum("suppressed"), would_block: sum("would_block"), is_first_week: first === null || now - Date.parse(first) < 7 * DAY_MS,
        noisiest: noisiestOf(rows, alerts),
      };
    },
  };
}

function noisiestOf(rows: readonly CountedSignature[], all: number): IdsStats["noisiest"] {
  const bySignature = new Map<string, CountedSignature[]>();
  for (const row of rows) {
    const key = `${row.generator_id}:${row.signature_id}`;
    const known = bySignature.get(key);
    if (known) known.push(row);
    else bySignature.set(key, [row]);
  }
  return [...bySignature.values()].flatMap((own) => noiseOf(own, all) ?? []).toSorted((a, b) => b.alerts - a.alerts || b.suppressed - a.suppressed).slice(0, NOISIEST);
}

function noiseOf(own: readonly CountedSignature[], all: number): IdsStats["noisiest"][number] | null {
  const [first] = own;
  if (!first) return null;
  const total = (field: "alerts" | "suppressed") => own.reduce((sum, row) => sum + row[field], 0);
  const alerts = total("alerts");
  const share = all === 0 ? 0 : alerts / all;
  const loudest = own.toSorted((a, b) => b.alerts - a.alerts)[0];
  const isOneHost = loudest !== undefined && loudest.host !== "" && loudest.alerts >= ONE_HOST_SHARE * alerts;
  const isNoisy = alerts >= NOISY_ALERTS && share >= NOISY_SHARE && first.signature_id > 0;
  return {
    generator_id: first.generator_id, signature_id: first.signature_id, signature: first.signature, category: first.category, alerts, suppressed: total("suppressed"),
    hosts: own.filter(({ host }) => host !== "").length, share,
    suggestion: !isNoisy ? null : {
      signature_id: first.signature_id, generator_id: first.generator_id, ...(isOneHost && { network: loudest.host }), reason: `${first.signature.slice(0, 150)} is normal here`,
    },
  };
}
