import type { DnsCheck, DnsPolicy, DnsPolicyCreate, DnsRule } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";
import { findDeviceId } from "../device-id.ts";
import { CliError } from "../errors.ts";
import { parseExpiry } from "../options/expiry.ts";
import { shortTime } from "../short-time.ts";
import { siteFilter } from "../site-id.ts";
import { plainText } from "./ids.ts";

type Rest = Pick<Connection, "rest">;

/** For whom something holds; everyone where nothing is given. */
export interface DnsScopeOptions {
  readonly device?: string;
  readonly group?: string;
  readonly site?: string;
  readonly vlan?: string;
}

/** What a policy does. */
export interface DnsPolicyOptions extends DnsScopeOptions {
  readonly observe: boolean;
  readonly answer: string;
  readonly category?: readonly string[];
}

/** What is done with a name, and why. @throws CliError `not-found`. */
export async function checkName({ rest }: Rest, name: string, { device, site, cname, type }: { readonly device?: string; readonly site?: string; readonly cname?: readonly string[]; readonly type?: string }): Promise<Answer> {
  const found = await rest.checkDnsName({
    name, ...(type !== undefined && { type }), ...await siteFilter(rest, site), ...(device !== undefined && { device_id: await findDeviceId(rest, device) }), ...(cname !== undefined && { cname: cname.join(",") }),
  });
  return { json: found, text: linesOf(found).map(plainText).join("\n") };
}

/** Allows a name for a while. @param now Milliseconds since the epoch. @throws CliError `bad-option`; `not-found`. */
export async function allowName({ rest }: Rest, name: string, options: DnsScopeOptions & { readonly for?: string; readonly cname?: readonly string[]; readonly reason: string }, now: number): Promise<Answer> {
  const made = await rest.createDnsAllowance({
    name, has_subdomains: true, reason: options.reason, ...await scopeOf(rest, options), ...(options.cname !== undefined && { cname: [...options.cname] }),
    ...(options.for !== undefined && { expires_at: parseExpiry(options.for, now, "--for") }),
  });
  const other = made.name === name.toLowerCase() ? "" : `, which is what lists block behind ${plainText(name)}`;
  return { json: made, text: `${plainText(made.name)} is allowed until ${shortTime(made.expires_at)}${other}. To end it: lanthorn dns disallow ${made.id}` };
}

/** Allowances that have not ended. */
export async function listAllowed({ rest }: Rest): Promise<Answer> {
  const all = await collect((query) => rest.listDnsAllowances(query));
  return { json: all, table: { heading: ["ID", "NAME", "FOR", "UNTIL", "REASON"], rows: all.map((one) => [one.id, one.name, scopeName(one), shortTime(one.expires_at), one.reason]) } };
}

/** Ends an allowance. */
export async function disallowName({ rest }: Rest, id: string): Promise<Answer> {
  await rest.deleteDnsAllowance(id);
  return { json: { id }, text: `ended the allowance ${id}: lists count as before` };
}

/** Pauses filtering for a while. @param now Milliseconds since the epoch. @throws CliError `bad-option`; `not-found`. */
export async function pauseFiltering({ rest }: Rest, options: DnsScopeOptions & { readonly for?: string; readonly reason: string }, now: number): Promise<Answer> {
  const made = await rest.createDnsPause({ reason: options.reason, ...await scopeOf(rest, options), ...(options.for !== undefined && { expires_at: parseExpiry(options.for, now, "--for") }) });
  return { json: made, text: `nothing is blocked for ${scopeName(made)} until ${shortTime(made.expires_at)}. To end it: lanthorn dns resume` };
}

/** Ends pauses: all of them. */
export async function resumeFiltering({ rest }: Rest): Promise<Answer> {
  const all = await collect((query) => rest.listDnsPauses(query));
  for (const { id } of all) await rest.deleteDnsPause(id);
  return { json: all.map(({ id }) => ({ id })), text: all.length === 0 ? "nothing is paused" : `ended ${all.length === 1 ? "the pause" : `${all.length} pauses`}: names are filtered again` };
}

/** Names that are blocked, allowed or protected by hand. */
export async function listDnsRules({ rest }: Rest): Promise<Answer> {
  const all = await collect((query) => rest.listDnsRules(query));
  return { json: all, table: { heading: ["ID", "ACTION", "NAME", "FOR", "REASON"], rows: all.map((one) => [one.id, one.action, one.has_subdomains ? `${one.name} and below` : one.name, scopeName(one), one.reason]) } };
}

/** Blocks, allows or protects a name for good. @throws CliError `not-found`. */
export async function addDnsRule({ rest }: Rest, action: string, name: string, options: DnsScopeOptions & { readonly exact: boolean; readonly reason: string }): Promise<Answer> {
  const made = await rest.createDnsRule({ name, action: action as DnsRule["action"], has_subdomains: !options.exact, reason: options.reason, ...await scopeOf(rest, options) });
  return { json: made, text: `${made.action}: ${plainText(made.name)} for ${scopeName(made)}. To delete it: lanthorn dns rules delete ${made.id}` };
}

/** Deletes a rule. */
export async function removeDnsRule({ rest }: Rest, id: string): Promise<Answer> {
  await rest.deleteDnsRule(id);
  return { json: { id }, text: `deleted the rule ${id}` };
}

/** Policies, and what they do. */
export async function listDnsPolicies({ rest }: Rest): Promise<Answer> {
  const all = await collect((query) => rest.listDnsPolicies(query));
  return {
    json: all, table: {
      heading: ["NAME", "FOR", "MODE", "ANSWER", "LISTS"],
      rows: all.map((one) => [one.name, scopeName(one), one.mode, one.answer, one.lists === null ? "all" : one.lists.map(({ category, list_id: id, mode }) => `${category ?? id}${mode === "observe" ? " (observed)" : ""}`).join(", ")]),
    },
  };
}

/** Adds a policy. @throws CliError `not-found`. */
export async function addDnsPolicy({ rest }: Rest, name: string, options: DnsPolicyOptions): Promise<Answer> {
  const made = await rest.createDnsPolicy({
    name, mode: options.observe ? "observe" : "enforce", answer: options.answer as DnsPolicyCreate["answer"], sinkhole_ipv4: null, sinkhole_ipv6: null, private_relay: "allow", browser_dns: "allow",
    ...await scopeOf(rest, options), lists: options.category === undefined ? null : options.category.map((category) => ({ category, mode: "enforce", schedule: null })),
  });
  return { json: made, text: `${plainText(made.name)} is the policy for ${scopeName(made)}` };
}

/** Has a policy enforce or only observe. */
export async function setPolicyMode({ rest }: Rest, name: string, mode: DnsPolicy["mode"]): Promise<Answer> {
  const changed = await rest.updateDnsPolicy((await findPolicy({ rest }, name)).id, { mode });
  return { json: changed, text: `${plainText(changed.name)} ${mode === "enforce" ? "enforces: names of its lists are blocked" : "only observes: names resolve"}` };
}

/** Deletes a policy. */
export async function removeDnsPolicy({ rest }: Rest, name: string): Promise<Answer> {
  const found = await findPolicy({ rest }, name);
  await rest.deleteDnsPolicy(found.id);
  return { json: { id: found.id }, text: `deleted the policy ${plainText(found.name)}: its clients have the next one that is for them` };
}

async function findPolicy({ rest }: Rest, name: string): Promise<DnsPolicy> {
  const all = await collect((query) => rest.listDnsPolicies(query));
  const found = all.find((one) => one.id === name || one.name === name);
  if (!found) throw new CliError("not-found", `there is no policy ${JSON.stringify(name)}; known policies: ${all.map((one) => plainText(one.name)).join(", ") || "none"}`);
  return found;
}

async function scopeOf(rest: Connection["rest"], { device, group, site, vlan }: DnsScopeOptions) {
  return {
    ...(device !== undefined && { device_id: await findDeviceId(rest, device) }), ...(group !== undefined && { group }), ...await siteFilter(rest, site), ...(vlan !== undefined && { vlan: vlanOf(vlan) }),
  };
}

function vlanOf(text: string): number {
  const vlan = Number(text);
  if (!Number.isInteger(vlan) || vlan < 1 || vlan > 4094) throw new CliError("bad-option", "--vlan: a whole number from 1 to 4094");
  return vlan;
}

function scopeName({ device_id: device, group, site_id: site, vlan }: Pick<DnsPolicy, "device_id" | "group" | "site_id" | "vlan">): string {
  if (device !== null) return `device ${device}`;
  if (group !== null) return `devices tagged ${plainText(group)}`;
  if (site === null) return "everyone";
  return vlan === null ? `site ${site}` : `VLAN ${vlan} of site ${site}`;
}

function linesOf({ name, action, reason, answer, extended_error: error, policy, rule, observed, allow_name: allow, steps }: DnsCheck): readonly string[] {
  return [
    `${name}: ${action}${answer === null ? "" : `, answered with ${answer}`} (${reason})`, `Policy: ${policy ?? "none"}`,
    ...(rule ? [`Rule: ${rule.rule} of ${rule.list} (${rule.category}), first seen ${rule.first_seen}, ${rule.section} ${rule.record}`] : []),
    ...(observed ? [`Observed: ${observed.rule} of ${observed.list} (${observed.category}) would have blocked it`] : []),
    ...(error === null ? [] : [`The client reads: ${error}`]), ...(allow === null ? [] : [`To allow it for an hour: lanthorn dns allow ${allow}`]), "", ...steps.map(({ step, text }) => `${step}: ${text}`),
  ];
}
