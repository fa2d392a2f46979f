import {
  EVENT_TYPES, type EventRecord, EVENTS, type EventsPage, type EventsQuery, type EventType, momentToInstant, type Scope,
} from "@lanthorn/contract";
import { type Clock, nextTurn } from "@lanthorn/runtime";
import type { EventLog } from "../../events/log.ts";
import type { StoredEvent } from "../../events/log-store.ts";
import type { Identity } from "../../gateway/environment.ts";
import { ApiError, forbidden, requireSite } from "../../gateway/errors.ts";
import { badRequest } from "../../gateway/route.ts";
import type { EventsStore } from "./store.ts";

/** The log of events, read by who has no stream open. */
export interface EventsService {
  /**
   * @throws ApiError NOT_FOUND for a site that the tenant does not have; FORBIDDEN for events that the caller may not read; CONFLICT
   * where the log no longer reaches back as far, with where it goes on.
   */
  list(identity: Pick<Identity, "tenantId" | "scopes">, query: EventsQuery): Promise<EventsPage>;
}

/** No one read walks over more of the log than this, some milliseconds' worth. */
const READ_SPAN = 2000;
/** A page ends after so many reads, full or not. */
const MAX_READS = 25;

/** What the stream does not send and is another resource's. Everything that is sent on the stream may be read by whoever may open it. */
const SCOPES: Readonly<Partial<Record<EventType, Scope>>> = {
  alert_created: "alerts:read", alert_resolved: "alerts:read", scan_started: "scans:read", scan_failed: "scans:read",
  backup_completed: "backups:read", backup_failed: "backups:read",
};

const PUBLIC_TYPES = EVENT_TYPES.filter((type) => EVENTS[type].stream !== null || EVENTS[type].webhook !== null);

/** A call reads at most 25 spans of 2000 sequence numbers; `next_cursor` continues a page that ended early. */
export function createEventsService(deps: {
  readonly store: EventsStore; readonly log: Pick<EventLog, "read" | "reach">; readonly clock: Pick<Clock, "now">;
}): EventsService {
  const { store, log, clock } = deps;

  /** The last place before the page, and the last one of the period. */
  const bounds = async (tenantId: string, { since, until, cursor }: EventsQuery) => {
    const { first, last } = await log.reach(tenantId);
    const place = cursor ?? (since !== undefined && /^\d+$/.test(since) ? since : undefined);
    const start = (moment: string) => store.firstSince(tenantId, momentToInstant(moment, clock.now()));
    const upTo = until === undefined ? last : Math.min(last, (await start(until)) - 1);
    if (place !== undefined) {
      const after = Number(place);
      if (after + 1 < first || after > last) throw gap(after, after > last ? last : first - 1);
      return { after, upTo };
    }
    return { after: since === undefined ? first - 1 : (await start(since)) - 1, upTo };
  };

  return {
    async list({ tenantId, scopes }, query) {
      const types = typesOf(query.types, scopes);
      await requireSite(store, tenantId, query.site_id);
      const { after, upTo } = await bounds(tenantId, query);
      if (query.since !== undefined && query.until !== undefined && upTo < after) {
        throw badRequest([{ path: ["until"], message: "must be after since" }]);
      }
      const found: StoredEvent[] = [];
      let position = after;
      for (let reads = 0; reads < MAX_READS && position < upTo && found.length < query.per_page; reads += 1) {
        if (reads > 0) await nextTurn();
        const spanEnd = Math.min(upTo, position + READ_SPAN);
        const limit = query.per_page - found.length;
        const rows = await log.read(tenantId, position, { upTo: spanEnd, limit, types });
        position = rows.length === limit ? (rows.at(-1)?.seq ?? spanEnd) : spanEnd;
        found.push(...rows.filter((row) => query.site_id === undefined || row.site_id === query.site_id));
      }
      return {
        data: found.map(toRecord),
        meta: {
          page: 1, per_page: query.per_page, total: Math.max(0, upTo - after), next_cursor: position < upTo ? `${position}` : null, position,
        },
      };
    },
  };
}

/** The types behind the names that are asked for; all that the caller may read where none are. */
function typesOf(names: readonly string[] | undefined, scopes: ReadonlySet<string>): readonly EventType[] {
  const mayRead = (type: EventType) => scopes.has(SCOPES[type] ?? "devices:read");
  if (names === undefined) return PUBLIC_TYPES.filter(mayRead);
  const wanted = new Set(names);
  const types = PUBLIC_TYPES.filter((type) => wanted.has(EVENTS[type].stream ?? "") || wanted.has(EVENTS[type].webhook ?? ""));
  const refused = types.find((type) => !mayRead(type));
  if (refused !== undefined) throw forbidden(`this needs the scope ${SCOPES[refused] ?? ""}`, SCOPES[refused] ?? "");
  return types;
}

function gap(since: number, resumeFrom: number): ApiError {
  return new ApiError("CONFLICT", `the log does not reach back to ${since}: resume after ${resumeFrom}`, {
    details: { reason: "gap", resume_from: resumeFrom },
  });
}

function toRecord(row: StoredEvent): EventRecord {
  const type = row.type as EventType;
  const { stream, webhook } = EVENTS[type];
  return {
    id: row.id, seq: row.seq, type, event: stream, webhook_event: webhook, timestamp: row.occurred_at, received_at: row.received_at,
    site_id: row.site_id, probe_id: row.probe_id, device_id: row.device_id, data: JSON.parse(row.data) as Record<string, unknown>,
  };
}
