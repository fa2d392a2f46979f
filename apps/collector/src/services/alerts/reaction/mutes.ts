import type { Selectable } from "kysely";
import type { Schema } from "../../../db/schema.ts";

/** A mute as stored. Each field that is null matches everything; a `subject` that ends with `*` matches by its beginning. */
export type MuteRow = Selectable<Schema["alert_mutes"]>;

/** What an alert is about, by which it is muted. */
export interface AlertMatter {
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  readonly site_id: string | null;
}

/** Whether one of the mutes covers an alert: every field that it names matches. Expired ones are to be left out before. */
export function isMuted(mutes: readonly MuteRow[], alert: AlertMatter): boolean {
  return mutes.some((mute) =>
    (mute.source === null || mute.source === alert.source) && (mute.type === null || mute.type === alert.type)
    && (mute.site_id === null || mute.site_id === alert.site_id) && (mute.subject === null || subjectMatches(mute.subject, alert.subject)));
}

function subjectMatches(pattern: string, subject: string): boolean {
  return pattern.endsWith("*") ? subject.startsWith(pattern.slice(0, -1)) : subject === pattern;
}
