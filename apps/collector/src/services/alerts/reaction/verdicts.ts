import type { AppendedEvent } from "../../../events/log.ts";
import type { Finding } from "./finding.ts";
import { type AlertingType, type Fact, type Rule, RULES } from "./rules.ts";

/** What one event means for the alerts. */
export interface Verdict {
  readonly event: AppendedEvent<AlertingType>;
  readonly data: Readonly<Record<string, unknown>>;
  /** When its cause was seen, by our clock. */
  readonly at: string;
  /** The alert that it speaks of, as `alerts.open_key` has it. */
  readonly key: string;
  /** What was found; null when it is the end of its cause. */
  readonly finding: Finding | null;
  /** How it was at last, where its end says so. */
  readonly last: Finding | null;
}

/** At most two verdicts, an end before a finding: one event can resolve an alert and raise the next. */
export function verdictsOf(event: AppendedEvent<AlertingType>): readonly Verdict[] {
  const rule = RULES[event.type] as Rule<AlertingType>;
  const { data, seenAt: at } = event;
  const fact = { data, probeId: event.probe_id, deviceId: event.device_id } as Fact<AlertingType>;
  const verdict = (about: Pick<Finding, "type" | "subject">, findings: Pick<Verdict, "finding" | "last">): Verdict => ({
    event, data, at, key: openKey(event, about), ...findings,
  });
  const found = rule.raises?.(fact);
  const ended = rule.ends?.(fact);
  return [
    ...(ended ? [verdict(ended, { finding: null, last: "severity" in ended ? ended : null })] : []),
    ...(found ? [verdict(found, { finding: found, last: null })] : []),
  ];
}

/** One alert of a type, site and subject is open at a time. */
export function openKey(at: Pick<AppendedEvent, "tenant_id" | "site_id">, about: Pick<Finding, "type" | "subject">): string {
  return `${at.tenant_id} ${at.site_id ?? "-"} ${about.type} ${about.subject}`;
}
