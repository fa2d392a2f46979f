import type { BaselineFactKind } from "@lanthorn/contract";
import { selectIn } from "../../../db/query/select-in.ts";
import type { FactKey, FactRow } from "./facts.ts";
import type { From } from "./handles.ts";

/**
 * Facts of a baseline, by kind and key.
 * @param page.from Facts to skip, or the fact behind which to go on.
 */
export function facts(
  from: From, baselineId: string, kinds: readonly BaselineFactKind[] | undefined, page: { readonly from: number | Omit<FactKey, "baseline_id">; readonly limit: number },
): Promise<FactRow[]> {
  const query = ofBaseline(from, baselineId, kinds).selectAll().orderBy("kind").orderBy("key").limit(page.limit);
  const { from: begin } = page;
  return (typeof begin === "number" ? query.offset(begin) : query.where((eb) => eb.or([
    eb("kind", ">", begin.kind), eb.and([eb("kind", "=", begin.kind), eb("key", ">", begin.key)]),
  ]))).execute();
}

/** How many facts of these kinds a baseline has. */
export async function countFacts(from: From, baselineId: string, kinds?: readonly BaselineFactKind[]): Promise<number> {
  const { total } = await ofBaseline(from, baselineId, kinds).select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  return total;
}

function ofBaseline(from: From, baselineId: string, kinds: readonly BaselineFactKind[] | undefined) {
  const query = from.selectFrom("baseline_facts").where("baseline_id", "=", baselineId);
  return kinds ? query.where("kind", "in", kinds) : query;
}

/** Those of the ids that no device of the site has. */
export async function missingDevices(
  from: From, { tenantId, siteId }: { readonly tenantId: string; readonly siteId: string }, ids: readonly string[],
): Promise<readonly string[]> {
  const found = await selectIn(ids, (list) => from.selectFrom("devices").select("id").where("tenant_id", "=", tenantId)
    .where("site_id", "=", siteId).where("id", "in", list).execute());
  const known = new Set(found.map(({ id }) => id));
  return ids.filter((id) => !known.has(id));
}
