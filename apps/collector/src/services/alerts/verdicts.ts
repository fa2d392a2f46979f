import type { EventType } from "@lanthorn/contract";
import type { JustAppended } from "../../events/log.ts";
import { type Fact, type Finding, type Rule, RULES } from "./rules.ts";

/** What one event means for the alerts. */
export interface Verdict {
  readonly event: JustAppended;
  readonly data: Readonly<Record<string, unknown>>;
  /** When its cause was seen, by our clock. */
  readonly at: string;
  /** The alert that it speaks of, as `alerts.open_key` has it. */
  readonly key: string;
  /** What was found; null when it is the end of its cause. */
  readonly finding: Finding | null;
}

export function verdictsOf(event: JustAppended): readonly Verdict[] {
  const rule: Rule<EventType> | undefined = RULES[event.type as EventType];
  if (!rule) return [];
  const data = JSON.parse(event.data) as Verdict["data"];
  const fact = { data, probeId: event.probe_id, deviceId: event.device_id } as unknown as Fact<EventType>;
  const { seenAt: at } = event;
  const verdict = (about: Pick<Finding, "type" | "subject">, finding: Finding | null): Verdict => ({
    event, data, at, finding, key: openKey(event, about),
  });
  const found = rule.raises?.(fact);
  const ended = rule.ends?.(fact);
  return [...(ended ? [verdict(ended, null)] : []), ...(found ? [verdict(found, found)] : [])];
}

/** One alert of a type, site and subject is open at a time. */
export function openKey(at: Pick<JustAppended, "tenant_id" | "site_id">, about: Pick<Finding, "type" | "subject">): string {
  return `${at.tenant_id} ${at.site_id ?? "-"} ${about.type} ${about.subject}`;
}
