import { HONEYPOT_STAGES, SealedPasswords } from "@lanthorn/contract";
import { createId, derivedId, nextTurn, parseJson } from "@lanthorn/runtime";
import type { Transaction } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { AppendedEvent } from "../../../events/log.ts";
import type { Reaction } from "../../../events/reaction.ts";
import { toEvidenceRows } from "../evidence/rows.ts";
import { putEvidence } from "../evidence/store.ts";
import { addCredentials, keepNewestCommunities, type NewCredential } from "../credentials/store.ts";
import { keepNewest, putSessions, readSessions, type RungRow, type SessionRow } from "./store.ts";

type Hit = AppendedEvent<"honeypot_hit">;
type Tried = AppendedEvent<"honeypot_credentials">;
type Evidence = AppendedEvent<"honeypot_evidence">;
type Changing<T> = { -readonly [K in keyof T]: T[K] };

/** Sessions, credentials, and evidence, of a site: beyond them the oldest go, whatever probes report. */
export const MAX_ROWS_OF_SITE = 10_000;
/** Of evidence, transcripts: the long ones. */
export const MAX_TRANSCRIPTS_OF_SITE = 500;
/** Of credentials, communities of SNMP. */
export const MAX_COMMUNITIES_OF_SITE = 1000;

/** The same for one incident of a probe, however often it is reported. */
export function sessionKey(probeId: string, incidentId: string): string {
  return derivedId("honeypot session", probeId, incidentId);
}

/** How passwords come, and how they are kept. */
export interface PasswordSeals {
  /** A password, for the row of this id. */
  readonly seal: (password: string, id: string) => string;
  /** What a probe sealed of an incident; null where it cannot be opened. */
  readonly open: (sealed: string, incidentId: string) => string | null;
}

/** Keeps what was done at decoys, and what was tried there. A test's hit is kept as all others, raises no alert and calls nobody. */
export function createHoneypotReaction(seals: PasswordSeals): Reaction<"honeypot_hit" | "honeypot_credentials" | "honeypot_evidence"> {
  return {
    types: ["honeypot_hit", "honeypot_credentials", "honeypot_evidence"],
    async react(trx, { tenantId }, events) {
      const hits = events.filter((event): event is Hit => event.type === "honeypot_hit");
      await keepHits(trx, tenantId, hits);
      const tried: NewCredential[] = [];
      for (const event of events.filter((one): one is Tried => one.type === "honeypot_credentials")) {
        tried.push(...credentialsOf(tenantId, event, seals));
        // What a probe sealed takes half a millisecond to open, and a batch has hundreds.
        await nextTurn();
      }
      if (tried.length > 0) {
        await addCredentials(trx, tried);
        for (const siteId of new Set(tried.map(({ site_id: id }) => id))) {
          await keepNewestCommunities(trx, siteId, MAX_COMMUNITIES_OF_SITE);
          await keepNewest(trx, "honeypot_credentials", siteId, MAX_ROWS_OF_SITE);
        }
      }
      await keepEvidence(trx, tenantId, events.filter((event): event is Evidence => event.type === "honeypot_evidence"));
      return { settled: new Set(hits.filter(({ data }) => data.is_test === true).map(({ id }) => id)), quiet: new Set() };
    },
  };
}

async function keepEvidence(trx: Transaction<Schema>, tenantId: string, events: readonly Evidence[]): Promise<void> {
  const rows = new Map(events.flatMap((event) => (event.probe_id === null ? [] : toEvidenceRows(tenantId, event, sessionKey(event.probe_id, event.data.incident_id)))).map((row) => [row.key, row]));
  if (rows.size === 0) return;
  await putEvidence(trx, [...rows.values()]);
  for (const siteId of new Set([...rows.values()].map(({ site_id: id }) => id))) {
    await keepNewest(trx, "honeypot_evidence", siteId, MAX_TRANSCRIPTS_OF_SITE, "transcript");
    await keepNewest(trx, "honeypot_evidence", siteId, MAX_ROWS_OF_SITE);
  }
}

/** Older probes name no incident: of theirs there is the log alone. */
async function keepHits(trx: Transaction<Schema>, tenantId: string, hits: readonly Hit[]): Promise<void> {
  const keyed = hits.flatMap((event) =>
    event.site_id === null || event.probe_id === null || event.data.incident_id === undefined ? []
      : [{ event, siteId: event.site_id, probeId: event.probe_id, key: sessionKey(event.probe_id, event.data.incident_id) }]);
  if (keyed.length === 0) return;
  const sessions = new Map<string, Changing<SessionRow>>((await readSessions(trx, [...new Set(keyed.map(({ key }) => key))])).map((row) => [row.key, { ...row }]));
  const rungs = new Map<string, RungRow>();
  const grown = new Set<string>();
  for (const { event, siteId, probeId, key } of keyed) {
    const { data } = event;
    const known = sessions.get(key);
    const row = known ?? begin(event, { tenantId, siteId, probeId, key });
    if (!known) {
      sessions.set(key, row);
      grown.add(siteId);
    }
    const isHigher = !known || HONEYPOT_STAGES.indexOf(data.stage) > HONEYPOT_STAGES.indexOf(row.stage as Hit["data"]["stage"]);
    if (isHigher) rungs.set(`${row.id} ${data.stage}`, rungOf(row.id, event));
    change(row, event, isHigher);
  }
  await putSessions(trx, [...sessions.values()], [...rungs.values()]);
  for (const siteId of grown) await keepNewest(trx, "honeypot_sessions", siteId, MAX_ROWS_OF_SITE);
}

function begin({ data, occurred_at: at }: Hit, of: { readonly tenantId: string; readonly siteId: string; readonly probeId: string; readonly key: string }): Changing<SessionRow> {
  return {
    id: createId(), key: of.key, tenant_id: of.tenantId, site_id: of.siteId, probe_id: of.probeId, decoy: data.decoy ?? "", device_id: null, source_ip: data.source_ip, source_mac: data.source_mac,
    destination_ip: data.destination_ip ?? "", stage: data.stage, severity: data.severity, services: "[]", usernames: "[]", connections: 0, credentials: 0, mitre_techniques: "[]", detail: "",
    is_test: data.is_test === true ? 1 : 0, started_at: at, last_at: at,
  };
}

/** Counts of one incident only rise, in whatever order its reports come. */
function change(row: Changing<SessionRow>, { data, device_id: deviceId, occurred_at: at }: Hit, isHigher: boolean): void {
  if (isHigher) Object.assign(row, { stage: data.stage, severity: data.severity });
  row.device_id = deviceId ?? row.device_id;
  row.source_mac = data.source_mac || row.source_mac;
  row.connections = Math.max(row.connections, data.count ?? 1);
  row.credentials = Math.max(row.credentials, data.credentials ?? 0);
  row.services = merged(row.services, data.services ?? [data.service], 32);
  row.usernames = merged(row.usernames, data.usernames ?? [], 16);
  row.mitre_techniques = merged(row.mitre_techniques, data.mitre_techniques ?? [], 32);
  row.detail = data.detail;
  if (at > row.last_at) row.last_at = at;
  if (at < row.started_at) row.started_at = at;
}

function merged(list: string, more: readonly string[], most: number): string {
  return JSON.stringify([...new Set([...JSON.parse(list) as string[], ...more])].slice(0, most));
}

function rungOf(sessionId: string, { id, data, occurred_at: at }: Hit): RungRow {
  return {
    session_id: sessionId, stage: data.stage, at, event_id: id, service: data.service, source_port: data.source_port, destination_port: data.destination_port, username: data.username,
    detail: data.detail,
  };
}

function credentialsOf(tenantId: string, { data, site_id: siteId, probe_id: probeId, occurred_at: at }: Tried, seals: PasswordSeals): readonly NewCredential[] {
  if (siteId === null || probeId === null) return [];
  const passwords = passwordsOf(data, seals);
  return data.tried.flatMap(({ service, username, is_bait: isBait }, place) => {
    const password = passwords[place] ?? null;
    if (password === null) return [];
    const id = createId();
    return [{
      id, tenant_id: tenantId, site_id: siteId, session_key: sessionKey(probeId, data.incident_id), decoy: data.decoy, service, username, password_sealed: seals.seal(password, id),
      is_bait: isBait ? 1 : 0, tried_at: at,
    }];
  });
}

/** In the order of `tried`. Older probes send them as they are. */
function passwordsOf({ incident_id: incidentId, tried, passwords_sealed: sealed }: Tried["data"], { open }: PasswordSeals): readonly (string | null)[] {
  if (sealed === undefined) return tried.map(({ password }) => password);
  return SealedPasswords.safeParse(parseJson(open(sealed, incidentId) ?? "")).data ?? [];
}
