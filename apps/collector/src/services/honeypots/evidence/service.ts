import type { HoneypotFile, HoneypotTranscript } from "@lanthorn/contract";
import { notFound } from "../../../gateway/errors.ts";
import type { SessionsStore } from "../sessions/store.ts";
import type { EvidenceStore } from "./store.ts";

/** Transcripts and files of sessions at decoys. */
export interface HoneypotEvidenceService {
  /** The oldest first. @throws ApiError NOT_FOUND for a session that the tenant does not have. */
  transcripts(tenantId: string, sessionId: string): Promise<{ readonly transcripts: HoneypotTranscript[] }>;
  /** The oldest first. @throws ApiError NOT_FOUND. */
  files(tenantId: string, sessionId: string): Promise<{ readonly files: HoneypotFile[] }>;
}

/** @param deps.sessions Sessions by id. */
export function createHoneypotEvidenceService({ store, sessions }: { readonly store: EvidenceStore; readonly sessions: Pick<SessionsStore, "byId"> }): HoneypotEvidenceService {
  const read = async (tenantId: string, sessionId: string, kind: string) => {
    const session = await sessions.byId(tenantId, sessionId);
    if (!session) throw notFound("session");
    return store.of(session.key, [kind]);
  };
  return {
    transcripts: async (tenantId, sessionId) => ({
      transcripts: (await read(tenantId, sessionId, "transcript")).map(({ id, service, recorded_at, value }) => ({ id, service, recorded_at, asciicast: value })),
    }),
    files: async (tenantId, sessionId) => ({
      files: (await read(tenantId, sessionId, "file")).map(({ id, service, recorded_at, name, value, octets, is_kept: isKept }) => ({ id, service, recorded_at, name, sha256: value, octets, is_kept: isKept === 1 })),
    }),
  };
}
