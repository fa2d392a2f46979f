import { readFile } from "node:fs/promises";
import type { IdsRule, IdsRuleset, IdsSuppressionCreate, IdsSuppressionRecord } from "@lanthorn/contract";
import type { Query } from "@lanthorn/client";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";
import { findDeviceId } from "../device-id.ts";
import { CliError } from "../errors.ts";
import { parseExpiry } from "../options/expiry.ts";
import { parseCount } from "../options/row-count.ts";
import { shortTime } from "../short-time.ts";
import { siteFilter } from "../site-id.ts";

type Rest = Pick<Connection, "rest">;

/** Which rules are listed. */
export interface RuleOptions {
  readonly sid?: string;
  readonly search?: string;
  readonly category?: string;
  readonly state?: string;
  readonly technique?: string;
  readonly site?: string;
  readonly limit: string;
}

/** Where rules come from: one of `url`, `file` and `rules`. */
export interface RulesetOptions {
  readonly url?: string;
  readonly checksum?: string;
  /** A file in the collector's folder. */
  readonly file?: string;
  /** A file here, whose rules are sent. */
  readonly rules?: string;
  readonly site?: string;
}

/** What is suppressed; at least one part beside the site. */
export interface SuppressOptions {
  readonly sid?: string;
  readonly category?: string;
  readonly source?: string;
  readonly destination?: string;
  readonly network?: string;
  readonly device?: string;
  readonly site?: string;
  readonly reason: string;
  readonly expires?: string;
}

/** Rules as they count. @throws CliError `bad-option`; `not-found` for a site. */
export async function listRules({ rest }: Rest, options: RuleOptions): Promise<Answer> {
  const { sid, search, category, state, technique, site } = options;
  const filters: Query = { search, category, state, technique, ...(sid !== undefined && parseRuleNumber(sid)), ...await siteFilter(rest, site) };
  const { data, meta } = await rest.listIdsRules({ ...filters, per_page: parseCount(options.limit, 1000) });
  return {
    json: data, table: { heading: ["RULE", "STATE", "SEVERITY", "CATEGORY", "SIGNATURE"], rows: data.map(rowOfRule) },
    notes: meta.total > data.length ? [`${data.length} of ${meta.total} rules. More with --limit.`] : [],
  };
}

/** All that is known of a rule. @throws CliError `bad-option`. */
export async function showRule({ rest }: Rest, id: string, site: string | undefined): Promise<Answer> {
  const { signature_id: sid, generator_id: gid } = parseRuleNumber(id);
  const rule = await rest.readIdsRule(String(sid), { generator_id: gid, ...await siteFilter(rest, site) });
  const lines = [
    `${rule.generator_id}:${rule.signature_id} rev ${rule.revision}  ${rule.signature}`,
    `${rule.state}${rule.refusal ? `: ${rule.refusal.keyword}: ${rule.refusal.reason}` : ""}, ${rule.severity}, category ${rule.category}, class ${rule.class || "none"}, ${rule.alerts} matches in 90 days`,
    ...(rule.mitre_techniques.length > 0 ? [`ATT&CK: ${rule.mitre_techniques.join(", ")}`] : []),
    ...rule.faults.map(({ override_id: override, reason }) => `Override ${override} is not followed: ${reason}`),
    "", rule.text, ...(rule.modified ? ["", "As published:", rule.published_text] : []),
  ];
  return { json: rule, text: lines.map(plainText).join("\n") };
}

/** Rule sets with the version that counts. */
export async function listRulesets({ rest }: Rest): Promise<Answer> {
  const all = await collect((query) => rest.listIdsRulesets(query));
  return { json: all, ...answerRulesets(all) };
}

/** Adds a rule set. @throws CliError `bad-option`. */
export async function addRuleset({ rest }: Rest, name: string, { url, checksum, file, rules, site }: RulesetOptions): Promise<Answer> {
  if ([url, file, rules].filter((one) => one !== undefined).length !== 1) throw new CliError("bad-option", "say where the rules come from: one of --url, --file and --rules");
  const made = await rest.createIdsRuleset({
    name, interval_hours: 24, enabled: true, automatic: true, ...await siteFilter(rest, site), ...(url !== undefined && { url }), ...(file !== undefined && { file }),
    ...(checksum !== undefined && { checksum_url: checksum }), ...(rules !== undefined && { rules: await readFile(rules, "utf8") }),
  });
  return { ...answerRulesets([made]), json: made, notes: made.kind === "local" ? [] : ["It is being fetched. How it is: lanthorn ids rulesets"] };
}

/** Has the source of a rule set asked now. */
export async function updateRuleset({ rest }: Rest, name: string): Promise<Answer> {
  const updated = await rest.fetchIdsRuleset((await findRuleset({ rest }, name)).id);
  return { json: updated, text: `${plainText(updated.name)} is asked for now; how it went: lanthorn ids rulesets` };
}

/** Versions of a rule set that are kept. */
export async function listVersions({ rest }: Rest, name: string): Promise<Answer> {
  const { data } = await rest.listIdsRulesetVersions((await findRuleset({ rest }, name)).id);
  return {
    json: data, table: {
      heading: ["VERSION", "STATE", "RULES", "ENABLED", "REFUSED", "ADDED", "REMOVED", "CHANGED", "CREATED"],
      rows: data.map((one) => [
        String(one.version), one.is_active ? "active" : one.is_held ? "held back" : "kept", String(one.rules), String(one.enabled), String(one.refused), String(one.added), String(one.removed),
        String(one.changed), shortTime(one.created_at),
      ]),
    },
    notes: data.flatMap(({ version, note }) => (note === "" ? [] : [`Version ${version}: ${note}`])),
  };
}

/** Makes another version count: the one before where none is named. */
export async function activateVersion({ rest }: Rest, name: string, version: string | undefined): Promise<Answer> {
  const { id } = await findRuleset({ rest }, name);
  const changed = version === undefined ? await rest.rollBackIdsRuleset(id) : await rest.activateIdsRulesetVersion(id, version);
  return { json: changed, text: `${plainText(changed.name)}: version ${changed.active?.version ?? "none"} is active; probes get it within a minute` };
}

/** Deletes a rule set with its versions. */
export async function removeRuleset({ rest }: Rest, name: string): Promise<Answer> {
  const found = await findRuleset({ rest }, name);
  await rest.deleteIdsRuleset(found.id);
  return { json: { id: found.id }, text: `deleted the rule set ${plainText(found.name)}: probes stop to use its rules` };
}

/** Says what is silent, and counted. @param now Milliseconds since the epoch. @throws CliError `bad-option`; `not-found`. */
export async function suppressAlerts({ rest }: Rest, options: SuppressOptions, now: number): Promise<Answer> {
  const { sid, category, source, destination, network, device, site, reason, expires } = options;
  if ([sid, category, source, destination, network, device].every((part) => part === undefined)) {
    throw new CliError("bad-option", "say what to suppress: at least one of --sid, --category, --source, --destination, --network and --device");
  }
  const wish: IdsSuppressionCreate = {
    generator_id: 1, reason, ...(sid !== undefined && parseRuleNumber(sid)), ...(category !== undefined && { category }), ...(source !== undefined && { source }),
    ...(destination !== undefined && { destination }), ...(network !== undefined && { network }), ...(device !== undefined && { device_id: await findDeviceId(rest, device) }),
    ...await siteFilter(rest, site), ...(expires !== undefined && { expires_at: parseExpiry(expires, now) }),
  };
  const made = await rest.createIdsSuppression(wish);
  return { ...answerSuppressions([made]), json: made, notes: ["It raises no alerts any more, and is counted. Take it back with: lanthorn ids unsuppress ID"] };
}

/** Suppressions that have not expired. */
export async function listIdsSuppressions({ rest }: Rest): Promise<Answer> {
  const all = await collect((query) => rest.listIdsSuppressions(query));
  return { ...answerSuppressions(all), json: all };
}

/** Ends a suppression. */
export async function unsuppressAlerts({ rest }: Rest, id: string): Promise<Answer> {
  await rest.deleteIdsSuppression(id);
  return { json: { id }, text: `ended the suppression ${id}: what it hid is reported again` };
}

/** Which networks rules take for a site's own. */
export interface NetworksOptions {
  readonly set?: readonly string[];
  readonly reset: boolean;
}

/** Shows or changes which networks rules take for a site's own. @throws CliError `bad-option`; `not-found`. */
export async function siteNetworks({ rest }: Rest, site: string, { set, reset }: NetworksOptions): Promise<Answer> {
  if (set !== undefined && reset) throw new CliError("bad-option", "either --set or --reset");
  const { site_id: id = "" } = await siteFilter(rest, site);
  const shown = set === undefined && !reset ? await rest.readIdsSiteNetworks(id) : await rest.updateIdsSiteNetworks(id, { home_networks: set === undefined ? null : [...set] });
  const sources = { named: "Named for this site.", plan: "Private addresses, and the prefixes of the address plan.", probes: "As each probe has it: its home_networks, else private addresses." };
  return { json: shown, table: { heading: ["HOME_NET"], rows: shown.networks.map((network) => [network]) }, notes: [sources[shown.source]] };
}

/** What matches most, and which rules run where. */
export async function showIdsStats({ rest }: Rest, options: { readonly site?: string; readonly days: string }): Promise<Answer> {
  const site = await siteFilter(rest, options.site);
  const [stats, support] = [await rest.readIdsStats({ ...site, days: options.days }), await rest.readIdsSupport(site)];
  const suggested = stats.noisiest.filter(({ suggestion }) => suggestion !== null);
  return {
    json: { stats, probes: support.probes },
    table: {
      heading: ["RULE", "MATCHES", "SHARE", "SUPPRESSED", "HOSTS", "SIGNATURE"],
      rows: stats.noisiest.map((one) => [
        ruleName(one), String(one.alerts), `${(one.share * 100).toFixed(1)} %`, String(one.suppressed), String(one.hosts), one.signature,
      ]),
    },
    notes: [
      `${stats.alerts} matches in ${stats.days} days, ${stats.suppressed} more were suppressed.`,
      ...support.probes.map(({ name, ids }) => (ids === null ? `${name}: no intrusion detection reported` : `${name}: ${ids.state}, ${ids.rules.loaded} rules, ${ids.rules.refused} refused, ${ids.frames.inspected} frames inspected, ${ids.frames.shed} shed${costs(ids.costs)}`)),
      ...(suggested.length > 0 ? [[
        stats.is_first_week ? "The first week is the time to suppress what is normal here:" : "To suppress what is normal here:",
        ...suggested.map(({ suggestion }) => `lanthorn ids suppress --sid ${suggestion?.generator_id ?? 1}:${suggestion?.signature_id ?? 0}${suggestion?.network === undefined ? "" : ` --network ${suggestion.network}`} --reason "…"`),
      ].join("\n")] : []),
    ],
  };
}

function costs(all: readonly { readonly generator_id: number; readonly signature_id: number; readonly nanoseconds: number }[]): string {
  const most = all.slice(0, 3).map((one) => `${ruleName(one)} ${(one.nanoseconds / 1e6).toFixed(1)} ms`);
  return most.length === 0 ? "" : `; most costly: ${most.join(", ")}`;
}

function answerRulesets(all: readonly IdsRuleset[]): Pick<Answer, "table" | "notes"> {
  return {
    table: {
      heading: ["NAME", "KIND", "VERSION", "ENABLED RULES", "REFUSED", "CHECKED", "STATE"],
      rows: all.map(({ name, kind, active, checked_at: at, enabled, error }) => [
        name, kind, active === null ? "-" : String(active.version), active === null ? "-" : String(active.enabled), active === null ? "-" : String(active.refused), at === null ? "-" : shortTime(at),
        !enabled ? "off" : error === null ? "ok" : "failed",
      ]),
    },
    notes: all.flatMap(({ name, error }) => (error === null ? [] : [`${name}: ${error}`])),
  };
}

function answerSuppressions(all: readonly IdsSuppressionRecord[]): Pick<Answer, "table"> {
  return {
    table: {
      heading: ["ID", "RULE", "CATEGORY", "FROM", "TO", "NETWORK", "HITS", "UNTIL", "REASON"],
      rows: all.map((one) => [
        one.id, one.signature_id === null ? "any" : `${one.generator_id}:${one.signature_id}`, one.category ?? "any", one.source ?? "any", one.destination ?? "any",
        one.network ?? (one.device_id === null ? "any" : "a device"), String(one.hits), one.expires_at === null ? "-" : shortTime(one.expires_at), one.reason,
      ]),
    },
  };
}

function rowOfRule(rule: IdsRule): readonly string[] {
  return [ruleName(rule), `${rule.state}${rule.modified ? ", modified" : ""}`, rule.severity, rule.category, rule.signature];
}

function ruleName({ generator_id: gid, signature_id: sid }: { readonly generator_id: number; readonly signature_id: number }): string {
  return gid === 1 ? String(sid) : `${gid}:${sid}`;
}

/** @throws CliError `bad-option`. */
export function parseRuleNumber(text: string): { readonly signature_id: number; readonly generator_id: number } {
  const [, gid = "1", sid] = /^(?:(\d{1,10}):)?(\d{1,10})$/.exec(text) ?? [];
  if (sid === undefined) throw new CliError("bad-option", `${JSON.stringify(text)} is not a rule's number as 2010935 or 3:2010935`);
  return { signature_id: Number(sid), generator_id: Number(gid) };
}

async function findRuleset({ rest }: Rest, name: string): Promise<IdsRuleset> {
  const all = await collect((query) => rest.listIdsRulesets(query));
  const found = all.find((one) => one.id === name || one.name === name);
  if (!found) throw new CliError("not-found", `there is no rule set ${JSON.stringify(name)}; known rule sets: ${all.map((one) => one.name).join(", ") || "none"}`);
  return found;
}

/** What comes from rules may hold anything. */
export function plainText(text: string): string {
  return text.replaceAll(/[^\P{C}\n]/gu, "?");
}
