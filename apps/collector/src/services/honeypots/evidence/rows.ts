import { createId, derivedId } from "@lanthorn/runtime";
import type { AppendedEvent } from "../../../events/log.ts";
import type { EvidenceRow } from "./store.ts";

/** Kinds of rows: a file that was sent, and a document of the decoy that was read. */
export const [SENT_FILE, READ_FILE] = ["file", "document"] as const;

/** @param sessionKey Of the probe and its incident. @returns What a report has, each a row; those of one report have the same keys whenever it comes. */
export function toEvidenceRows(tenantId: string, { data, site_id: siteId, occurred_at: at }: AppendedEvent<"honeypot_evidence">, sessionKey: string): readonly EvidenceRow[] {
  if (siteId === null) return [];
  const begin = (kind: string, place: number) => ({
    id: createId(), key: derivedId("honeypot evidence", sessionKey, data.evidence_id, kind, `${place}`), tenant_id: tenantId, site_id: siteId, session_key: sessionKey, kind, service: data.service, recorded_at: at,
  });
  return [
    ...(data.transcript === null ? [] : [{ ...begin("transcript", 0), name: "", value: data.transcript, octets: Buffer.byteLength(JSON.stringify(data.transcript)), is_kept: 1 }]),
    ...data.files.map((file, place) => ({ ...begin(file.direction === "read" ? READ_FILE : SENT_FILE, place), name: file.name, value: file.sha256, octets: file.octets, is_kept: file.is_kept ? 1 : 0 })),
    ...data.fingerprints.map(({ kind, value }, place) => ({ ...begin(kind, place), name: "", value, octets: 0, is_kept: 1 })),
  ];
}
