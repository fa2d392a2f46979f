import type { Query, RestClient } from "@lanthorn/client";
import { type Baseline, type BaselineFact, type BaselineFactKind, type BaselineFactsEdit, BASELINE_FACTS, MAX_BASELINE_FACTS } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";
import { findDeviceId } from "../device-id.ts";
import { CliError } from "../errors.ts";
import { shortTime } from "../short-time.ts";
import { oneSite } from "../site-id.ts";
import { formatTable, printable, wrap } from "../table.ts";

type Rest = Pick<Connection, "rest">;

/** Whose baseline is meant: a site's, or a device's. */
export interface BaselineOf {
  /** By name or id; may be left out where there is only one site. */
  readonly site: string | undefined;
  /** By what `lanthorn devices show` takes. */
  readonly device?: string | undefined;
}

/** Filters as the API has them; every page is read. */
export async function listBaselines({ rest }: Rest, filters: Query): Promise<Answer> {
  const baselines = await collect(rest.listBaselines, filters);
  return {
    json: baselines,
    table: {
      heading: ["NAME", "OF", "STATE", "FACTS", "OPEN", "APPROVED", "ID"], keptColumns: 5,
      rows: baselines.map((one) => [
        one.name, one.device_id === null ? "site" : "device", stateOf(one), String(sum(one.facts)), String(one.open_differences),
        one.approved_at === null ? "-" : `${shortTime(one.approved_at)} by ${one.approved_by}`, one.id,
      ]),
    },
  };
}

/** A baseline with its facts. @param kind Only facts of these kinds, with commas between them. */
export async function showBaseline({ rest }: Rest, of: BaselineOf, kind?: string): Promise<Answer> {
  const baseline = await findBaseline(rest, of);
  const facts = await collect((query) => rest.listBaselineFacts(baseline.id, query), { kind });
  return { json: { ...baseline, facts }, text: (width) => describe(baseline, facts, width) };
}

/** Says that a baseline is right. */
export async function approveBaseline(
  { rest }: Rest, of: BaselineOf, options: { readonly takeDifferences?: boolean; readonly allDevices?: boolean; readonly reason?: string },
): Promise<Answer> {
  const { takeDifferences = false, allDevices = false, reason } = options;
  const { id } = await findBaseline(rest, of);
  const baseline = await rest.approveBaseline(id, { take_differences: takeDifferences, devices: allDevices, ...(reason !== undefined && { reason }) });
  return said(baseline, `approved the baseline of ${baseline.name}${allDevices ? " and of all its devices" : ""}: it is ${baseline.state}`
    + (takeDifferences ? "; what differs became part of it, and its alerts end within a minute" : ""));
}

/** Nothing becomes part of a frozen baseline by itself. */
export async function freezeBaseline({ rest }: Rest, of: BaselineOf): Promise<Answer> {
  const baseline = await rest.freezeBaseline((await findBaseline(rest, of)).id);
  return said(baseline, `froze the baseline of ${baseline.name}: nothing becomes part of it by itself`);
}

/** Ends what `freezeBaseline` began. */
export async function unfreezeBaseline({ rest }: Rest, of: BaselineOf): Promise<Answer> {
  const baseline = await rest.unfreezeBaseline((await findBaseline(rest, of)).id);
  return said(baseline, `unfroze the baseline of ${baseline.name}: it is active`);
}

/** Has a baseline forget its facts and learn again. */
export async function resetBaseline(
  { rest }: Rest, of: BaselineOf, options: { readonly learn: string; readonly allDevices?: boolean; readonly reason: string },
): Promise<Answer> {
  const minutes = Number(options.learn);
  if (!Number.isInteger(minutes)) throw new CliError("bad-option", `--learn: ${JSON.stringify(options.learn)} is no number of minutes`);
  const { id } = await findBaseline(rest, of);
  const baseline = await rest.resetBaseline(id, { learning_minutes: minutes, devices: options.allDevices ?? false, reason: options.reason });
  const until = baseline.learning_until === null ? "" : ` until ${shortTime(baseline.learning_until)}`;
  return said(baseline, `reset the baseline of ${baseline.name}${options.allDevices ? " and of all its devices" : ""}: it learns${until}`);
}

/** Sets and removes facts by hand. */
export async function editBaseline(
  { rest }: Rest, of: BaselineOf, options: { readonly set?: readonly string[]; readonly remove?: readonly string[]; readonly reason: string },
): Promise<Answer> {
  const edit: BaselineFactsEdit = { set: (options.set ?? []).map(parseFact), remove: (options.remove ?? []).map(parseKey), reason: options.reason };
  if (edit.set.length + edit.remove.length === 0) throw new CliError("bad-option", "say what to change: --set KIND/KEY=VALUE, --remove KIND/KEY, or both");
  const baseline = await rest.editBaselineFacts((await findBaseline(rest, of)).id, edit);
  return said(baseline, `changed the baseline of ${baseline.name}: it has ${countWords(baseline.facts)}`);
}

/** A fact as the command line writes it: `port/tcp/22=open`. @throws CliError `bad-option`. */
export function parseFact(text: string): { readonly kind: BaselineFactKind; readonly key: string; readonly value: string } {
  const at = text.indexOf("=");
  if (at < 0) throw new CliError("bad-option", `${JSON.stringify(text)} has no value: write KIND/KEY=VALUE, as port/tcp/22=open`);
  return { ...parseKey(text.slice(0, at)), value: text.slice(at + 1) };
}

function parseKey(text: string): { readonly kind: BaselineFactKind; readonly key: string } {
  const at = text.indexOf("/");
  const kind = BASELINE_FACTS.find((one) => one === text.slice(0, at));
  if (kind === undefined || at === text.length - 1) {
    throw new CliError("bad-option", `${JSON.stringify(text)} is no fact: write KIND/KEY, as port/tcp/22; kinds are ${BASELINE_FACTS.join(", ")}`);
  }
  return { kind, key: text.slice(at + 1) };
}

async function findBaseline(rest: RestClient, { site, device }: BaselineOf): Promise<Baseline> {
  if (site !== undefined && device !== undefined) throw new CliError("bad-option", "give a site or --device, not both");
  const filter = device === undefined ? { site_id: await oneSite(rest, site), of: "site" as const } : { device_id: await findDeviceId(rest, device) };
  const [found] = (await rest.listBaselines(filter)).data;
  if (found) return found;
  throw new CliError("not-found", `the ${device === undefined ? "site" : "device"} has no baseline yet: the collector makes one when it first knows something of it`);
}

function said(baseline: Baseline, text: string): Answer {
  return { json: baseline, text: (width) => wrap(printable(text), width).join("\n") };
}

function stateOf({ state, learning_until: until }: Baseline): string {
  return state === "learning" && until !== null ? `learning until ${shortTime(until)}` : state;
}

function sum(facts: Baseline["facts"]): number {
  return Object.values(facts).reduce((total, count) => total + count, 0);
}

/** In the order of kinds that people know, each in the plural. */
const KIND_WORDS: Readonly<Record<BaselineFactKind, readonly [one: string, many: string]>> = {
  device: ["device", "devices"], dhcp_server: ["DHCP server", "DHCP servers"], gateway: ["gateway", "gateways"], dns_server: ["DNS server", "DNS servers"],
  port: ["port", "ports"], service: ["service", "services"], host_key: ["host key", "host keys"], certificate: ["list of certificates", "lists of certificates"],
  neighbor: ["neighbor", "neighbors"], presence: ["list of usual hours", "lists of usual hours"],
};

function countWords(facts: Baseline["facts"]): string {
  return BASELINE_FACTS.filter((kind) => (facts[kind] ?? 0) > 0).map((kind) => `${facts[kind]} ${KIND_WORDS[kind][facts[kind] === 1 ? 0 : 1]}`).join(", ") || "no facts";
}

const LEFT_OUT: Readonly<Record<Baseline["left_out"][number], string>> = {
  facts: `there is more than a baseline keeps (${MAX_BASELINE_FACTS} facts): what is beyond is not compared`,
  differences: "so many differences stand that more are not kept: accept them, or approve the baseline with them",
};
const EXPECTED = { always: "always", usual: "at its usual hours", never: "never" } as const;

function describe(baseline: Baseline, facts: readonly BaselineFact[], width: number): string {
  const { device_id: deviceId, approved_at: approvedAt, approved_by: approvedBy, expected, missing_minutes: minutes, severities, templates } = baseline;
  const open = baseline.open_differences;
  const site = deviceId === null ? ` --site ${JSON.stringify(baseline.name)}` : ` --device ${JSON.stringify(baseline.name)}`;
  const rows: readonly (readonly [string, string])[] = [
    ["baseline of", `${baseline.name} (${deviceId === null ? "site" : "device"})`], ["state", stateOf(baseline)],
    ["approved", approvedAt === null ? "no" : `${shortTime(approvedAt)} by ${approvedBy}`], ["facts", countWords(baseline.facts)],
    ...baseline.left_out.map((what) => ["left out", LEFT_OUT[what]] as const),
    ["differences", open === 0 ? "none open" : `${open} open: lanthorn baselines diff${site}`],
    ...(deviceId === null ? [] : [["expected", expected === null ? "as learned" : EXPECTED[expected]] as const]),
    ["missing", `after ${minutes} minutes`],
    ["severities", Object.entries(severities).map(([kind, severity]) => `${kind} ${severity}`).join(", ") || "as usual"],
    ...(templates.length === 0 ? [] : [["templates", templates.map(({ name }) => name).join(", ")] as const]), ["id", baseline.id],
  ];
  const head = rows.flatMap(([name, value]) => wrap(printable(value), width - LABEL).map((line, index) => `${(index === 0 ? name : "").padEnd(LABEL)}${line}`));
  const table = {
    heading: ["KIND", "KEY", "VALUE", "FROM", "LAST LOOKED FOR"], keptColumns: 3,
    rows: facts.map((fact) => [
      fact.kind, fact.key, fact.value, fact.author === null ? fact.source : `${fact.source} by ${fact.author}`,
      fact.looked_at === null ? "never" : `${shortTime(fact.looked_at)}${fact.scope === "" ? "" : ` by ${fact.scope}`}`,
    ]),
  };
  return [head.join("\n"), ...(facts.length === 0 ? [] : [formatTable(table, width)])].join("\n\n");
}

const LABEL = 13;
