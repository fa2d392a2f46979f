import type { HoneypotFile, HoneypotTranscripts, HoneypotTranscriptsQuery } from "@lanthorn/contract";
import type { Audit } from "../../../gateway/audit.ts";
import type { Actor } from "../../../gateway/environment.ts";
import { notFound } from "../../../gateway/errors.ts";
import type { SessionsStore } from "../sessions/store.ts";
import { READ_FILE, SENT_FILE } from "./rows.ts";
import type { EvidenceStore } from "./store.ts";

/** Transcripts and files of sessions at decoys. */
export interface HoneypotEvidenceService {
  /** The oldest first, once that is in the audit log: people type passwords in shells. @throws ApiError NOT_FOUND for a session that the tenant does not have. */
  transcripts(actor: Actor, sessionId: string, query: HoneypotTranscriptsQuery): Promise<HoneypotTranscripts>;
  /** The oldest first. @throws ApiError NOT_FOUND. */
  files(tenantId: string, sessionId: string): Promise<{ readonly files: HoneypotFile[] }>;
}

/** @param deps.sessions Sessions by id. */
export function createHoneypotEvidenceService({ store, sessions, audit }: {
  readonly store: EvidenceStore; readonly sessions: Pick<SessionsStore, "byId">; readonly audit: Audit;
}): HoneypotEvidenceService {
  const find = async (tenantId: string, sessionId: string) => {
    const session = await sessions.byId(tenantId, sessionId);
    if (!session) throw notFound("session");
    return session;
  };
  return {
    async transcripts(actor, sessionId, { cursor }) {
      const session = await find(actor.tenantId, sessionId);
      const { rows, hasMore } = await store.transcripts(session.key, cursor);
      await store.transaction((trx) => audit(trx, {
        actor, action: "honeypot_transcript.reveal", target: { type: "honeypot_session", id: sessionId }, before: null,
        after: { decoy: session.decoy, source_ip: session.source_ip, transcripts: rows.length },
      }));
      return { transcripts: rows.map(({ id, service, recorded_at, value }) => ({ id, service, recorded_at, asciicast: value })), next_cursor: hasMore ? (rows.at(-1)?.id ?? null) : null };
    },
    files: async (tenantId, sessionId) => ({
      files: (await store.of((await find(tenantId, sessionId)).key, [SENT_FILE, READ_FILE])).map(({ id, service, recorded_at, name, value, octets, is_kept: isKept, kind }) => ({
        id, service, recorded_at, name, sha256: value, octets, is_kept: isKept === 1, direction: kind === READ_FILE ? "read" as const : "sent" as const,
      })),
    }),
  };
}
