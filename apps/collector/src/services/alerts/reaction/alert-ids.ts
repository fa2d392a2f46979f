import { alertIdOf, createId } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { Finding } from "./finding.ts";
import { takenAlertIds } from "./store.ts";
import type { Verdict } from "./verdicts.ts";

/** Gives new alerts their ids. */
export interface AlertIds {
  /** The id that the probe knows the alert by, if it has said which incident it is; a new one where an alert has that already. */
  take(finding: Finding, verdict: Verdict): string;
}

/** @param verdicts Of which alerts may be made. Which of their ids are taken is read once for all. */
export async function loadAlertIds(trx: Transaction<Schema>, verdicts: readonly Verdict[]): Promise<AlertIds> {
  const wanted = [...new Set(verdicts.flatMap((verdict) => (verdict.finding ? knownId(verdict.finding, verdict) ?? [] : [])))];
  const taken = new Set(await takenAlertIds(trx, wanted));
  return {
    take(finding, verdict) {
      const id = knownId(finding, verdict);
      if (id === null || taken.has(id)) return createId();
      taken.add(id);
      return id;
    },
  };
}

function knownId({ incidentId }: Finding, { event }: Verdict): string | null {
  return incidentId === undefined || event.probe_id === null ? null : alertIdOf(event.probe_id, incidentId);
}
