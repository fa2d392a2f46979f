import type { EventData } from "@lanthorn/contract";
import { createId, systemClock, toInstant } from "@lanthorn/runtime";
import { createEventLog } from "../../../events/log.ts";
import { createReactions } from "../../../events/reaction.ts";
import { honeypotCredentials } from "../../../ingest/projections/honeypot-credentials.ts";
import { honeypotEvidence } from "../../../ingest/projections/honeypot-evidence.ts";
import { REACTION_ORDER, REACTIONS } from "../../../reactions.ts";
import type { Stack } from "../../agents/testing/stack.ts";
import { createAlertReaction } from "../../alerts/reaction/reaction.ts";
import { passwordSeals } from "../credentials/password-seals.ts";
import { createHoneypotReaction } from "../sessions/reaction.ts";

type Hit = EventData<"honeypot_hit">;
type Tried = EventData<"honeypot_credentials">;
type Evidence = EventData<"honeypot_evidence">;

export const INCIDENT = createId();
/** How an incident begins. */
export const HIT: Hit = {
  service: "ssh", stage: "touch", severity: "low", source_ip: "192.0.2.66", source_mac: "", source_port: 40_000, destination_port: 22, username: "", detail: "1 connection to ssh", decoy: "files2",
  destination_ip: "192.0.2.9", report: "first", services: ["ssh"], count: 1, credentials: 0, usernames: [], mitre_techniques: ["T1046"], incident_id: INCIDENT,
  since: "2026-06-01T12:00:00.000Z", last_at: "2026-06-01T12:00:00.000Z",
};
/** The same one, once passwords were tried. */
export const GUESS: Hit = {
  ...HIT, stage: "credential", severity: "high", report: "rise", username: "root", usernames: ["root"], count: 3, credentials: 2, services: ["ssh", "ftp"], service: "ftp", destination_port: 21,
  mitre_techniques: ["T1046", "T1110.001"], detail: "3 connections to ssh, ftp; 2 passwords tried for root",
};

/**
 * Appends what a probe reports of its decoys, as ingest does, to the log with the reactions of decoys and of alerts.
 * @param options.at Milliseconds since the epoch. @param options.onDelivered The names of events for which webhooks would be called.
 */
export async function appendOfDecoys(
  stack: Stack, probeId: string, type: "honeypot_hit" | "honeypot_credentials" | "honeypot_evidence", all: readonly object[],
  options: { readonly at?: number; readonly onDelivered?: (types: readonly string[]) => void } = {},
): Promise<void> {
  const log = createEventLog({
    reads: stack.database.reads, reactions: createReactions(REACTIONS, REACTION_ORDER, {
      honeypots: createHoneypotReaction(passwordSeals(stack.sealing)), alerts: createAlertReaction({ maxOpen: 100 }),
      deliveries: {
        types: [],
        async react(_, __, events: readonly { readonly type: string }[]) {
          options.onDelivered?.(events.map(({ type: name }) => name));
        },
      },
    }),
  });
  const at = toInstant(options.at ?? systemClock.now());
  await stack.database.db.transaction().execute((trx) => log.append(trx, stack.tenantId, all.map((data) => {
    const logged = type === "honeypot_credentials" ? honeypotCredentials.apply({ type, occurred_at: at, data: data as Tried }, {} as never).logged
      : type === "honeypot_evidence" ? honeypotEvidence.apply({ type, occurred_at: at, data: data as Evidence }, {} as never).logged : undefined;
    return { type, siteId: stack.siteId, probeId, deviceId: null, queueId: null, probeSeq: null, occurredAt: at, receivedAt: at, data: data as Hit & Tried & Evidence, ...(logged && { logged }) };
  })));
}
