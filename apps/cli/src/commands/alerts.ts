import type { Query } from "@lanthorn/client";
import { type Alert, type AlertAction, type AlertDecision, type AlertMute, type AlertMuteCreate, AlertSource } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";
import { CliError } from "../errors.ts";
import { parseExpiry } from "../options/expiry.ts";
import { shortTime } from "../short-time.ts";
import { siteFilter } from "../site-id.ts";
import { printable, wrap } from "../table.ts";

type Rest = Pick<Connection, "rest">;

/** Which alerts are muted; at least one of the first four. */
export interface MuteOptions {
  readonly source?: string;
  readonly type?: string;
  readonly subject?: string;
  readonly site?: string;
  /** A duration or a moment. */
  readonly expires: string;
  readonly reason?: string;
}

/** Filters as the API has them; every page is read. */
export async function listAlerts({ rest }: Connection, filters: Query): Promise<Answer> {
  const alerts = await collect(rest.listAlerts, filters);
  return answer(alerts);
}

/** An alert with all that is known of it, the facts of its newest event, and what people did with it. */
export async function showAlert({ rest }: Rest, id: string): Promise<Answer> {
  const alert = await rest.readAlert(id);
  const history = await collect((query: Query) => rest.listAlertHistory(id, query));
  return { json: { ...alert, history }, text: (width) => describe(alert, history, width) };
}

/** Says of alerts that somebody looks after them. */
export function acknowledgeAlerts(connection: Rest, ids: readonly string[], options: { readonly note?: string } = {}): Promise<Answer> {
  return decide(connection, ids, { status: "acknowledged", ...options });
}

/** Says of alerts that their matter is dealt with. */
export function resolveAlerts(connection: Rest, ids: readonly string[], options: { readonly note?: string } = {}): Promise<Answer> {
  return decide(connection, ids, { status: "resolved", ...options });
}

async function decide({ rest }: Rest, ids: readonly string[], { status, note }: { readonly status: AlertDecision; readonly note?: string }): Promise<Answer> {
  const alerts: Alert[] = [];
  const notes: string[] = [];
  for (const id of ids) {
    const result = note === undefined ? null : await rest.changeAlerts({ ids: [id], expected_count: 1, change: { status, note } });
    if (result?.unchanged) notes.push(`${id} was ${status} already: the note was not kept`);
    // What the note has changed is only read; what it has not may be refused.
    const isDone = result !== null && result.unchanged === 0;
    alerts.push(await (isDone ? rest.readAlert(id) : status === "acknowledged" ? rest.acknowledgeAlert(id) : rest.resolveAlert(id)));
  }
  return { ...answer(alerts), notes };
}

/** Mutes alerts until a moment. @param now Milliseconds since the epoch. @throws CliError `bad-option`. */
export async function muteAlerts({ rest }: Rest, { source, type, subject, site, expires, reason }: MuteOptions, now: number): Promise<Answer> {
  if ((source ?? type ?? subject ?? site) === undefined) {
    throw new CliError("bad-option", "say what to mute: at least one of --source, --type, --subject and --site");
  }
  const known = source === undefined ? undefined : AlertSource.safeParse(source);
  if (known && !known.success) throw new CliError("bad-option", `--source: ${JSON.stringify(source)} is none of ${AlertSource.options.join(", ")}`);
  const mute: AlertMuteCreate = {
    ...(known && { source: known.data }), ...(type !== undefined && { type }), ...(subject !== undefined && { subject }), ...await siteFilter(rest, site),
    reason: reason ?? "", expires_at: parseExpiry(expires, now),
  };
  const made = await rest.createAlertMute(mute);
  return { ...answerMutes([made]), json: made, notes: ["Muted alerts are counted and listed, but nobody is notified. End it with: lanthorn alerts unmute ID"] };
}

/** Mutes that have not expired. */
export async function listMutes({ rest }: Rest): Promise<Answer> {
  return answerMutes(await collect(rest.listAlertMutes));
}

/** Ends a mute. */
export async function unmuteAlerts({ rest }: Rest, id: string): Promise<Answer> {
  await rest.deleteAlertMute(id);
  return { json: { id }, text: `ended the mute ${id}` };
}

function answer(alerts: readonly Alert[]): Answer {
  return {
    json: alerts,
    table: {
      heading: ["SEVERITY", "TITLE", "ID", "STATUS", "LAST SEEN", "COUNT", "SOURCE"],
      keptColumns: 3,
      rows: alerts.map((alert) => [
        alert.severity, alert.title, alert.id, alert.muted ? `${alert.status}, muted` : alert.status, shortTime(alert.last_seen),
        String(alert.count), alert.source,
      ]),
    },
  };
}

function answerMutes(mutes: readonly AlertMute[]): Answer {
  return {
    json: mutes,
    table: {
      heading: ["SOURCE", "TYPE", "SUBJECT", "SITE", "UNTIL", "REASON", "BY", "ID"],
      rows: mutes.map(({ source, type, subject, site_id: site, expires_at: until, reason, created_by: by, id }) => [
        source ?? "any", type ?? "any", subject ?? "any", site ?? "any", shortTime(until), reason || "-", by, id,
      ]),
    },
  };
}

function describe(alert: Alert, history: readonly AlertAction[], width: number): string {
  const { title, severity, status, muted, type, subject, source, description, guide, mitre_techniques: techniques } = alert;
  const who = alert.resolved_at === null
    ? alert.acknowledged_at === null ? "" : `, acknowledged by ${alert.acknowledged_by} ${shortTime(alert.acknowledged_at)}`
    : `, ended by ${alert.resolved_by} ${shortTime(alert.resolved_at)}`;
  const rows: readonly (readonly [string, string])[] = [
    ["severity", severity], ["status", `${status}${muted ? ", muted" : ""}${who}`], ["type", `${type} (${source})`], ["about", subject],
    ["address", alert.device_ip || "-"], ["site", alert.site_id ?? "-"], ["seen", `${alert.count} times, ${shortTime(alert.first_seen)} to ${shortTime(alert.last_seen)}`],
    ...(techniques.length > 0 ? [["MITRE ATT&CK", techniques.join(", ")] as const] : []), ...(guide === null ? [] : [["explained in", guide] as const]),
    ...sightOf(alert), ...history.map((entry) => [entry.action, didText(entry)] as const),
  ];
  const label = Math.max(...rows.map(([name]) => name.length)) + 2;
  const lines = rows.flatMap(([name, value]) => wrap(printable(value), width - label)
    .map((line, index) => `${index === 0 ? printable(name).padEnd(label) : " ".repeat(label)}${line}`));
  return [...wrap(printable(title), width), "", ...wrap(printable(description), width), "", ...lines, "", `id: ${alert.id}`].join("\n");
}

function didText({ at, by, note, muted_until: until }: AlertAction): string {
  return `${shortTime(at)} by ${by}${until === null ? "" : `, until ${shortTime(until)}`}${note === "" ? "" : `: ${note}`}`;
}

/** What a guard saw beside what every alert has, as its newest event says: `kind` and `MAC` are what `guards allow` takes. */
function sightOf({ source, evidence }: Alert): readonly (readonly [string, string])[] {
  const { kind, mac, expected_macs: expected, facts } = evidence.at(-1)?.data ?? {};
  const named = typeof facts === "object" && facts !== null ? Object.entries(facts).map(([name, value]) => [name, String(value)] as const) : [];
  if (source !== "rogue") return named;
  const texts = [["kind", kind], ["MAC", mac], ["expected MAC", Array.isArray(expected) ? expected.join(", ") : ""]] as const;
  return [...texts.flatMap(([name, value]) => (typeof value === "string" && value !== "" ? [[name, value] as const] : [])), ...named];
}
