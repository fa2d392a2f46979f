import type { AlertSource, Severity } from "@lanthorn/contract";

/** The alert that a fact speaks of. */
export interface Finding {
  readonly type: string;
  /** Among the alerts of this type at the site. */
  readonly subject: string;
  readonly source: AlertSource;
  readonly severity: Severity;
  readonly title: string;
  readonly description: string;
  readonly deviceIp?: string;
  readonly techniques?: readonly string[];
  /** The probe's id of the incident, of which the alert's id is made. */
  readonly incidentId?: string;
  /** How often it was seen since it began, where the event says so; else each event is one time. */
  readonly seen?: { readonly times: number; readonly since: string };
  /** The event says all that there is, and how many: its severity and techniques replace those before, milder ones too. */
  readonly state?: { readonly count: number };
  /** Its cause counts as gone when it was not seen for so long; null where silence says nothing. */
  readonly quietMs: number | null;
  /** Whether too many at once become one summary. Not for what the collector itself says of its parts. */
  readonly isCapped: boolean;
}
