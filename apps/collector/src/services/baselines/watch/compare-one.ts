import { MAX_BASELINE_FACTS } from "@lanthorn/contract";
import { toInstant } from "@lanthorn/runtime";
import { combine, compareDevice, type DeviceNow } from "../compare/combine.ts";
import { compareHours, compareMember, type Member } from "../compare/membership.ts";
import { type Baseline, type Comparison } from "../compare/result.ts";
import { type DifferenceOwner, moveDifferences, type Transition } from "../differences/transition.ts";
import { plain } from "../facts/plain.ts";
import type { Rogues } from "../facts/rogues.ts";
import type { Judgements } from "../judgements.ts";
import { noteHour, readWeek, writeWeek } from "../presence/week.ts";
import { readSettings, severityOf } from "../settings.ts";
import type { BaselineRow, BaselineState } from "../store/baselines.ts";
import type { DifferenceRow } from "../store/differences.ts";
import type { FactRow } from "../store/facts.ts";
import type { DeviceRow } from "../store/inventory.ts";
import { type FactChanges, knownFacts, learnFacts } from "./learn.ts";
import type { Room } from "./room.ts";
import { earliest, hourlyAfter, modeOf, stateAfter } from "./next.ts";

/** A device, what is seen of it, and what is stored of its baseline. */
export interface DeviceCase {
  readonly row: DeviceRow;
  readonly now: DeviceNow;
  readonly baseline: BaselineRow;
  readonly facts: readonly FactRow[];
  readonly standing: readonly DifferenceRow[];
  /** The baseline of its site. */
  readonly site: BaselineRow;
  /** Those of the site's facts and differences that are about this device. */
  readonly siteFacts: readonly FactRow[];
  readonly siteStanding: readonly DifferenceRow[];
  /** A device of the site that had its address, and is not there any more; null for none. */
  readonly before: string | null;
}

/** What all comparisons of a run have in common. */
export interface RunContext {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly judgements: Judgements;
  readonly rogues: Rogues;
  readonly room: Room;
}

/** What is to be written of one device. */
export interface DeviceOutcome {
  readonly state: BaselineState;
  readonly facts: readonly FactChanges[];
  readonly differences: readonly Transition[];
}

/** How a device is called in facts and alerts of its site. */
export function deviceText({ hostname, ip, mac }: Pick<DeviceRow, "hostname" | "ip" | "mac">): string {
  return plain([hostname, ip, mac].filter(Boolean).join(" "), 255);
}

/** Compares one device with its baseline and with its site's. It is pure. */
export function compareOne(one: DeviceCase, { now, judgements, rogues, room }: RunContext): DeviceOutcome {
  const { row, baseline, site } = one;
  const at = toInstant(now);
  const tags = JSON.parse(row.tags) as readonly string[];
  const subject = { siteId: row.site_id, deviceId: row.id, tags };
  const isUnseen = row.first_seen === "";
  const before = readWeek(baseline.presence);
  const week = isUnseen || row.presence_state === "unknown" ? before : noteHour(before, row.presence_state === "online", now);
  const { severities, missing_minutes: minutes } = readSettings(site.settings);
  const member: Member = {
    id: row.id, text: deviceText(row), presence: row.presence_state, lastSeenAt: row.last_seen, isUnseen, week, deviceType: row.device_type,
    isRogue: rogues.has(row.site_id, [row.id, row.ip, row.mac].filter(Boolean)), before: one.before, expected: readSettings(baseline.settings).expected,
  };
  const own: Baseline = {
    mode: modeOf(baseline), facts: knownFacts(one.facts, judgements.templatesOf(subject)), scopes: new Set(baseline.scopes.split(" ").filter(Boolean)),
  };
  const ofSite: Baseline = { mode: modeOf(site), facts: knownFacts(one.siteFacts, []), scopes: new Set() };
  const device = withinLimit(combine([compareDevice(one.now, own, now), compareHours(member, own, now)]), one.facts.length);
  const membership = compareMember(member, ofSite, { now, missingMs: minutes * 60_000 });
  const judgement = {
    at, window: judgements.windowOf(subject), isRogue: () => member.isRogue,
    severityOf: (found: Comparison["differences"][number]) => severityOf(found, row.device_type, severities),
    acceptanceOf: (found: Comparison["differences"][number]) => judgements.acceptanceOf(subject, found),
  };
  const owner = ownerOf(baseline, row.id);
  const siteOwner = ownerOf(site, row.id);
  const differences = [
    moveDifferences(owner, device, one.standing, { ...judgement, room: room.left(row.site_id, one.standing.length) }),
    moveDifferences(siteOwner, membership, one.siteStanding, { ...judgement, room: room.left(row.site_id, one.siteStanding.length) }),
  ];
  const isPending = differences.some(({ added, changed }) => [...added, ...changed].some(({ state }) => state === "pending"));
  const after = stateAfter(baseline, at);
  const compareAt = earliest(now, [
    isPending ? now : null, membership.again, judgements.nextChange(subject), hourlyAfter(baseline.id, now),
    after.learning_until === null ? null : Date.parse(after.learning_until),
  ]);
  return {
    state: {
      id: baseline.id, ...after, learned_at: after.state === baseline.state ? baseline.learned_at : at, presence: writeWeek(week),
      scopes: own.mode === "frozen" ? baseline.scopes : scopesOf(one.now, own), compare_at: toInstant(compareAt), updated_at: baseline.updated_at,
    },
    facts: [
      learnFacts(owner, device, one.facts, { mode: own.mode, at }), learnFacts(siteOwner, membership, one.siteFacts, { mode: ofSite.mode, at }),
    ],
    differences,
  };
}

/** What a full baseline does not have is not new: it may be what did not fit. */
function withinLimit(found: Comparison, facts: number): Comparison {
  return facts < MAX_BASELINE_FACTS ? found : { ...found, differences: found.differences.filter(({ outcome }) => outcome !== "appeared") };
}

function ownerOf({ id, tenant_id: tenantId, site_id: siteId }: BaselineRow, deviceId: string | null): DifferenceOwner {
  return { tenantId, siteId, baselineId: id, deviceId };
}

function scopesOf({ looks }: DeviceNow, { scopes }: Baseline): string {
  const now = looks.map(({ scopeId }) => scopeId);
  return [...new Set([...[...scopes].filter((id) => now.includes(id)), ...now])].join(" ");
}
