import type { Credential, CredentialType } from "@lanthorn/contract";
import { ownerOfCredential } from "../../sealing/sealed-columns.ts";
import { isUnreadable, type Sealing } from "../../sealing/sealing.ts";
import type { CredentialRow } from "./store.ts";

/** The parts of a credential's secret by their names. @throws CollectorError `secret-unreadable`. */
export function secretOf(sealing: Sealing, row: Pick<CredentialRow, "id" | "secret_sealed">): Record<string, string> {
  return JSON.parse(sealing.open(row.secret_sealed, ownerOfCredential(row.id))) as Record<string, string>;
}

/** A credential as the API shows it: without its secret. */
export function toCredential(sealing: Sealing, row: CredentialRow): Credential {
  return {
    id: row.id, name: row.name, type: row.type as CredentialType, settings: JSON.parse(row.settings) as Credential["settings"],
    parts: partsOf(sealing, row), networks: JSON.parse(row.networks) as string[], site_ids: [...row.assigned.site_ids],
    probe_ids: [...row.assigned.probe_ids], created_at: row.created_at, updated_at: row.updated_at,
  };
}

/** None where the secret was sealed with a key that is lost: the rest of the record can still be read, and a new secret be set. */
function partsOf(sealing: Sealing, row: CredentialRow): string[] {
  try {
    return Object.keys(secretOf(sealing, row)).toSorted();
  } catch (error) {
    if (isUnreadable(error)) return [];
    throw error;
  }
}
