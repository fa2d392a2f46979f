import { type GuardExceptionCreate, GUARD_KINDS, type GuardKind, type GuardExceptionRecord, type ProbeGuards, parseMac, type SiteGuards } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";
import { CliError } from "../errors.ts";
import { parseExpiry } from "../options/expiry.ts";
import { shortTime } from "../short-time.ts";
import { oneSite } from "../site-id.ts";

type Rest = Pick<Connection, "rest">;

/** What is to be allowed. At least one of `kind`, `ip` and `mac`. */
export interface AllowOptions {
  readonly site?: string;
  readonly kind?: string;
  readonly ip?: string;
  readonly mac?: string;
  readonly reason: string;
  /** A duration or a moment; without it the exception has no end. */
  readonly expires?: string;
}

/** How the guards of a site's probes are. @param now Milliseconds since the epoch. */
export async function showGuards({ rest }: Rest, site: string | undefined, now: number): Promise<Answer> {
  const guards = await rest.readSiteGuards(await oneSite(rest, site));
  return { json: guards, table: tableOf(guards.probes, now), notes: notesOf(guards) };
}

/** Has a site's probes learn anew. */
export async function learnGuards({ rest }: Rest, site: string | undefined, now: number): Promise<Answer> {
  const answer = await rest.learnSiteGuards(await oneSite(rest, site));
  return {
    json: answer, table: tableOf(answer.probes, now),
    notes: ["The probes were asked. Whether they learn now is shown by: lanthorn guards status"],
  };
}

/** Adds an exception. @param now Milliseconds since the epoch. @throws CliError `bad-option`. */
export async function allow({ rest }: Rest, options: AllowOptions, now: number): Promise<Answer> {
  const { kind, ip, reason, expires } = options;
  if (kind === undefined && ip === undefined && options.mac === undefined) {
    throw new CliError("bad-option", "say what to allow: at least one of --kind, --ip and --mac");
  }
  const mac = options.mac === undefined ? undefined : parseMac(options.mac);
  if (mac === null) throw new CliError("bad-option", `--mac: ${JSON.stringify(options.mac)} is not a MAC address as 00:1b:21:aa:bb:07`);
  const exception: GuardExceptionCreate = {
    reason, ...(kind !== undefined && { kind: kindOf(kind) }), ...(ip !== undefined && { ip }), ...(mac !== undefined && { mac }),
    ...(expires !== undefined && { expires_at: parseExpiry(expires, now) }),
  };
  const made = await rest.createGuardException(await oneSite(rest, options.site), exception);
  return { ...answerExceptions([made]), json: made, notes: ["The site's probes do not report this any more; an open alert about it ends after the quiet time.", "Take it back with: lanthorn guards disallow ID"] };
}

/** Exceptions that have not expired. */
export async function listExceptions({ rest }: Rest, site: string | undefined): Promise<Answer> {
  const siteId = await oneSite(rest, site);
  return answerExceptions(await collect((query) => rest.listGuardExceptions(siteId, query)));
}

/** Deletes an exception. */
export async function disallow({ rest }: Rest, id: string, site: string | undefined): Promise<Answer> {
  await rest.deleteGuardException(await oneSite(rest, site), id);
  return { json: { id }, text: `deleted the exception ${id}: what it allowed is reported again` };
}

function kindOf(text: string): GuardKind {
  const kind = GUARD_KINDS.find((known) => known === text);
  if (kind === undefined) throw new CliError("bad-option", `--kind: ${JSON.stringify(text)} is none of ${GUARD_KINDS.join(", ")}`);
  return kind;
}

function tableOf(probes: readonly ProbeGuards[], now: number) {
  return {
    heading: ["PROBE", "GUARDS", "CHECKS", "LEARNING", "ASKED TO LEARN"],
    rows: probes.map(({ name, is_online: isOnline, state, learning }) => [
      name, isOnline ? state === null ? "not reported" : state.enabled ? "on" : "off" : "probe is silent",
      state === null ? "-" : state.active ? "by packets" : "listens only", learningWords(state, now),
      learning === null ? "-" : `${shortTime(learning.asked_at)} by ${learning.asked_by}: ${learning.error ?? ANSWERS[learning.status]}`,
    ]),
  };
}

const ANSWERS = { sent: "no answer yet", done: "done", failed: "failed", no_answer: "no answer; ask again" } as const;

function learningWords(state: ProbeGuards["state"], now: number): string {
  if (state === null) return "-";
  if (state.learning_until === null) return "not begun";
  return `${Date.parse(state.learning_until) > now ? "until" : "ended"} ${shortTime(state.learning_until)}`;
}

function notesOf(guards: SiteGuards): readonly string[] {
  const { enabled, active, learning_minutes: learning, quiet_seconds: quiet, dhcp_servers: dhcp, routers, roaming_gateways: isRoaming, exceptions, probes } = guards;
  const own = (value: number | null, unit: string) => (value === null ? "as the probe's file says" : `${value} ${unit}`);
  return [
    ...(probes.length === 0 ? ["The site has no probe: nothing is watched."] : []),
    `Set for the site: guards ${enabled ? "on" : "off"}, checks ${active ? "by packets" : "by listening only"}. Learning time: ${own(learning, "minutes")}. `
    + `Quiet time, after which an incident is over: ${own(quiet, "seconds")}.`,
    `Known beside what is learned: DHCP servers ${dhcp.join(", ") || "none"}; routers ${routers.join(", ") || "none"}.`,
    ...(isRoaming ? ["The gateway's MAC changes with the access point here; that it changes is not reported."] : []),
    exceptions === 0 ? "No exceptions." : `Exceptions: ${exceptions}. List them with: lanthorn guards exceptions`,
  ];
}

function answerExceptions(exceptions: readonly GuardExceptionRecord[]): Answer {
  return {
    json: exceptions,
    table: {
      heading: ["KIND", "IP", "MAC", "UNTIL", "REASON", "BY", "ID"],
      rows: exceptions.map(({ kind, ip, mac, expires_at: until, reason, created_by: by, id }) => [
        kind ?? "any", ip ?? "any", mac ?? "any", until === null ? "no end" : shortTime(until), reason, by, id,
      ]),
    },
  };
}
