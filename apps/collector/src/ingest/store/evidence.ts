import { VERDICT_FIELDS } from "@lanthorn/fingerprints";
import { listQuery } from "../../db/query/list-query.ts";

/** All evidence of these devices that says what they are, whoever brought it. */
export const readVerdictEvidence = listQuery((db, deviceIds: readonly string[]) =>
  db.selectFrom("evidence").selectAll().where("device_id", "in", deviceIds).where("field", "in", [...VERDICT_FIELDS]));
