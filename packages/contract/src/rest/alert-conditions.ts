import * as z from "zod";
import { Id, Severity } from "../values.ts";
import { choiceQuery } from "./choice.ts";
import { PeriodQuery } from "./envelopes.ts";

/** What raised an alert. */
export const ALERT_SOURCES = ["ids", "honeypot", "rogue", "baseline", "anomaly", "cve", "health", "dns", "config", "scan"] as const;
/** One of `ALERT_SOURCES`. */
export const AlertSource = z.enum(ALERT_SOURCES);
export type AlertSource = z.infer<typeof AlertSource>;

const ALERT_STATUSES = ["open", "acknowledged", "resolved"] as const;
/** `resolved` is the end: the same condition raises a new alert after it. */
export const AlertStatus = z.enum(ALERT_STATUSES);
export type AlertStatus = z.infer<typeof AlertStatus>;

const AlertType = z.string().max(64);

/** What a list of alerts can be narrowed to, one parameter each. `since` and `until` find alerts that were seen in that period. */
export const AlertConditions = z.object({
  source: choiceQuery(AlertSource, { description: "Alerts of this source.", examples: ["ids,rogue"] }).optional(),
  severity: choiceQuery(Severity, { description: "Alerts of this severity.", examples: ["critical,high"] }).optional(),
  status: choiceQuery(AlertStatus, { description: "Alerts in this state: `open`, `acknowledged` or `resolved`.", examples: ["open", "!resolved"] }).optional(),
  type: choiceQuery(AlertType, { description: "Alerts of this type.", examples: ["arp_spoofing"] }).optional(),
  site_id: choiceQuery(Id, { description: "Alerts of this site.", examples: ["01989f2e-7c11-7aa0-b3c4-5d6e7f809103"] }).optional(),
  device_id: choiceQuery(Id, { description: "Alerts about this device.", examples: ["01989f2e-7c11-7aa0-b3c4-5d6e7f809103"] }).optional(),
  search: z.string().max(255).optional().describe("Part of the title, the description, the subject or the address, in any case."),
  ...PeriodQuery.shape,
});
export type AlertConditions = z.infer<typeof AlertConditions>;
