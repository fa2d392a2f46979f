import type { Baseline, BaselineAcceptance, BaselineDifference, BaselineFact, BaselineTemplate, BaselineWindow } from "@lanthorn/contract";
import { readSettings } from "../settings.ts";
import type { NamedAcceptance } from "../store/acceptances.ts";
import type { NamedBaseline } from "../store/baseline-lists.ts";
import type { NamedDifference } from "../store/difference-lists.ts";
import type { FactRow } from "../store/facts.ts";
import type { TemplateRow } from "../store/templates.ts";
import type { NamedWindow } from "../store/windows.ts";

// What is stored has come in by its schema, or was written by the comparison in the contract's own words.

/** What of a baseline is in other rows. */
export interface BaselineParts {
  readonly facts: Baseline["facts"];
  readonly open: number;
  readonly leftOut: Baseline["left_out"];
  /** `settings` of the site's own baseline; undefined where there is none. */
  readonly siteSettings: string | undefined;
  /** All templates of the tenant. */
  readonly templates: readonly Pick<TemplateRow, "id" | "name" | "site_id" | "tag">[];
}

/** A baseline as the API shows it. */
export function toBaseline(row: NamedBaseline, { facts, open, leftOut, siteSettings, templates }: BaselineParts): Baseline {
  const { id, site_id, device_id, state, learning_until, approved_by, approved_at } = row;
  const ofSite = readSettings(siteSettings ?? "");
  const tags = new Set(row.tags === null ? [] : (JSON.parse(row.tags) as string[]));
  return {
    id, site_id, device_id, name: nameOf(row), state: state as Baseline["state"], learning_until, approved_by, approved_at,
    expected: device_id === null ? null : readSettings(row.settings).expected, missing_minutes: ofSite.missing_minutes, severities: ofSite.severities,
    facts, open_differences: open, left_out: leftOut,
    templates: templates.filter((one) => tags.has(one.tag) && (one.site_id === null || one.site_id === site_id)).map((one) => ({ id: one.id, name: one.name })),
  };
}

/** A fact as the API shows it. */
export function toFact({ kind, key, value, source, author, reason, first_seen, looked_at, scope }: FactRow): BaselineFact {
  return { kind: kind as BaselineFact["kind"], key, value, source: source as BaselineFact["source"], author, reason, first_seen, looked_at, scope };
}

/** A difference as the API shows it. */
export function toDifference(row: NamedDifference): BaselineDifference {
  const { id, baseline_id, site_id, device_id, key, expected, observed, expected_at, observed_at, first_seen, last_seen, ended_at, acceptance_id } = row;
  return {
    id, baseline_id, site_id, device_id, name: nameOf(row), kind: row.kind as BaselineDifference["kind"], key,
    outcome: row.outcome as BaselineDifference["outcome"], expected, observed, expected_at, observed_at,
    severity: row.severity as BaselineDifference["severity"], state: row.state as BaselineDifference["state"], first_seen, last_seen, ended_at,
    acceptance_id,
  };
}

/** An acceptance as the API shows it. */
export function toAcceptance(row: NamedAcceptance): BaselineAcceptance {
  const { id, site_id, device_id, tag, site_name: site, kind, key, outcome, observed, reason, created_by, created_at, expires_at } = row;
  return {
    id, site_id, device_id, tag, name: site === null ? null : nameOf({ ...row, site_name: site }), kind: kind as BaselineAcceptance["kind"], key,
    outcome: outcome as BaselineAcceptance["outcome"], observed, reason, created_by, created_at, expires_at,
  };
}

/** A template as the API shows it. */
export function toTemplate({ id, name, site_id, tag, facts, created_by, updated_at }: TemplateRow): BaselineTemplate {
  return { id, name, site_id, tag, facts: JSON.parse(facts) as BaselineTemplate["facts"], created_by, updated_at };
}

/** A window as the API shows it. */
export function toWindow(row: NamedWindow): BaselineWindow {
  const { id, site_id, device_id, tag, begins_at, ends_at, effect, reason, created_by, created_at } = row;
  return { id, site_id, device_id, tag, name: nameOf(row), begins_at, ends_at, effect: effect as BaselineWindow["effect"], reason, created_by, created_at };
}

function nameOf({ device_id: deviceId, site_name: siteName, hostname, ip }: Pick<NamedBaseline, "device_id" | "site_name" | "hostname" | "ip">): string {
  return deviceId === null ? siteName : hostname || ip || deviceId;
}
