import type { EventData } from "@lanthorn/contract";
import type { Schema } from "../db/schema.ts";
import type { DeviceDraft } from "./devices/devices-draft.ts";
import type { Site } from "./working-set.ts";

/**
 * New devices of a site that are announced one by one within this time. A host that invents MACs makes thousands; a first sweep of a
 * large site too, and nobody reads them either. All are stored.
 */
export const MAX_ANNOUNCED = 1000;
const WINDOW_MS = 10 * 60_000;

type Row = { -readonly [K in keyof Schema["site_discoveries"]]: Schema["site_discoveries"][K] };

/** Decides which new devices of a site are announced, by a stream event and `device.discovered`, and which are only stored. */
export interface Announcements {
  /** Counts a new device. @returns Whether it is announced. */
  found(receivedAt: string): boolean;
  /** Whether the device was announced, so that its going is news. */
  isKnown(device: DeviceDraft): boolean;
  /** Takes what is to be said of the storm itself: once when it begins, and once in each window in which it goes on. */
  news(): EventData<"discovery_storm"> | null;
  /** The row to be written; null when nothing changed. */
  row(): Row | null;
}

/** @param stored The site's row, held by the lock on the site. */
export function createAnnouncements({ siteId, tenantId }: Site, stored: Row | undefined): Announcements {
  const row: Row = stored ? { ...stored } : {
    site_id: siteId, tenant_id: tenantId, window_at: "", found: 0, storm: 0, storm_since: null, storm_until: null,
  };
  let isChanged = false;
  let news: EventData<"discovery_storm"> | null = null;

  const begin = (receivedAt: string) => {
    const age = Date.parse(receivedAt) - (row.window_at === "" ? 0 : Date.parse(row.window_at));
    if (age >= 0 && age < WINDOW_MS) return;
    // It goes on while the window before was too full by itself.
    row.storm = row.storm === 1 && row.found > MAX_ANNOUNCED && age < 2 * WINDOW_MS ? 1 : 0;
    if (row.storm === 1) news = newsOf(row.found, "continues");
    Object.assign(row, { window_at: receivedAt, found: 0 });
  };
  return {
    found(receivedAt) {
      isChanged = true;
      begin(receivedAt);
      row.found += 1;
      if (row.storm === 0 && row.found > MAX_ANNOUNCED) {
        Object.assign(row, { storm: 1, storm_since: receivedAt });
        news = newsOf(row.found, "begins");
      }
      if (row.storm === 1) row.storm_until = receivedAt;
      return row.storm === 0;
    },
    isKnown({ fields, locked }) {
      const { storm_since: since, storm_until: until } = row;
      if (since === null || until === null || fields.first_seen < since || fields.first_seen > until) return true;
      return fields.hostname !== "" || fields.open_ports !== "[]" || locked.size > 0;
    },
    news() {
      const said = news;
      news = null;
      return said;
    },
    row: () => (isChanged ? { ...row } : null),
  };
}

function newsOf(devices: number, state: "begins" | "continues"): EventData<"discovery_storm"> {
  return {
    code: "discovery-storm", state, devices, window_seconds: WINDOW_MS / 1000,
    message: `${devices} devices were found within ${WINDOW_MS / 60_000} minutes: new ones are stored but not announced one by one`,
  };
}
