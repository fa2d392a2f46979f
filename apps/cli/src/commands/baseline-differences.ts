import type { Query } from "@lanthorn/client";
import type { BaselineAccept, BaselineAcceptance, BaselineDifference, BaselineFactKind } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";
import { CliError } from "../errors.ts";
import { parseExpiry } from "../options/expiry.ts";
import { shortId, wholeId } from "../short-id.ts";
import { shortTime } from "../short-time.ts";

type Rest = Pick<Connection, "rest">;

/** For whom a difference is right, and until when. */
export interface AcceptOptions {
  readonly for: "device" | "group" | "site";
  readonly tag?: string;
  readonly reason: string;
  /** A duration or a moment; without it the acceptance has no end. */
  readonly until?: string;
}

/** What differs, before and after. Filters as the API has them; every page is read. */
export async function listDifferences({ rest }: Rest, filters: Query): Promise<Answer> {
  const differences = await collect(rest.listBaselineDifferences, filters);
  return {
    json: differences,
    table: { heading: ["ID", "SEVERITY", "DIFFERENCE"], rows: differences.flatMap(rowsOf) },
    notes: differences.some(({ state }) => state === "open")
      ? ["What is right: lanthorn baselines accept ID --reason TEXT. All of a device: lanthorn baselines approve --device NAME --take-differences"] : [],
  };
}

/** Says that a difference is right. @param now Milliseconds since the epoch. @throws CliError `bad-option`, `not-found`. */
export async function acceptDifference({ rest }: Rest, id: string, options: AcceptOptions, now: number): Promise<Answer> {
  const { for: whom, tag, reason, until } = options;
  if ((whom === "group") !== (tag !== undefined)) throw new CliError("bad-option", "--tag is needed for --for group, and only there");
  const wish: BaselineAccept = { for: whom, reason, ...(tag !== undefined && { tag }), ...(until !== undefined && { expires_at: parseExpiry(until, now, "--until") }) };
  // Of one that was accepted the collector says so.
  const states = { state: "pending,open,held,accepted" };
  const whole = await wholeId(id, () => collect(rest.listBaselineDifferences, states), "lanthorn baselines diff");
  const made = await rest.acceptBaselineDifference(whole, wish);
  return {
    ...answerAcceptances([made]), json: made,
    notes: [`It is not reported any more, and its alert ends. Take it back with: lanthorn baselines acceptances delete ${shortId(made.id)}`],
  };
}

/** Acceptances that have not expired. */
export async function listAcceptances({ rest }: Rest, filters: Query): Promise<Answer> {
  return answerAcceptances(await collect(rest.listBaselineAcceptances, filters));
}

/** Takes an acceptance back. */
export async function deleteAcceptance({ rest }: Rest, id: string): Promise<Answer> {
  const whole = await wholeId(id, () => collect(rest.listBaselineAcceptances), "lanthorn baselines acceptances list");
  await rest.deleteBaselineAcceptance(whole);
  return { json: { id: whole }, text: `deleted the acceptance ${id}: what still differs is reported again within a minute` };
}

const OUTCOMES: Readonly<Record<BaselineDifference["outcome"], string>> = {
  appeared: "is new", gone: "is gone", changed: "changed", replaced: "was replaced", not_checked: "was not looked for lately",
};

/** In words: `port tcp/22`. */
export function factWords({ kind, key }: { readonly kind: BaselineFactKind; readonly key: string }): string {
  return kind === "device" || kind === "presence" ? kind : `${kind.replaceAll("_", " ")} ${key}`;
}

/** Three lines: what it is, before and now. */
function rowsOf(one: BaselineDifference): readonly (readonly string[])[] {
  const { id, severity, state, name, expected, observed, expected_at: before, observed_at: now } = one;
  const at = (word: string, instant: string | null) => (instant === null ? "" : ` (${word} ${shortTime(instant)})`);
  return [
    [shortId(id), state === "open" ? severity : `${severity}, ${state}`, `${name}: ${factWords(one)} ${OUTCOMES[one.outcome]}`],
    ["", "", `before: ${expected || "nothing"}${at("seen", before)}`], ["", "", one.outcome === "not_checked" ? "now: not known" : `now: ${observed || "nothing"}${at("looked at", now)}`],
  ];
}

function answerAcceptances(acceptances: readonly BaselineAcceptance[]): Answer {
  return {
    json: acceptances,
    table: {
      heading: ["ID", "FOR", "WHAT", "UNTIL", "REASON", "BY"],
      rows: acceptances.map((one) => [
        shortId(one.id), one.tag === null ? `${one.device_id === null ? "site" : "device"} ${one.name}` : `tag ${one.tag}`,
        `${factWords(one)} ${OUTCOMES[one.outcome]}${one.observed === "" || one.observed === "open" ? "" : `: ${one.observed}`}`,
        one.expires_at === null ? "no end" : shortTime(one.expires_at), one.reason, one.created_by,
      ]),
    },
  };
}
