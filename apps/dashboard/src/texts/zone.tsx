import { isTimeZone } from "@lanthorn/contract";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import { usePreferences } from "../preferences/preferences.ts";

/** A site as far as its times go. */
interface Place {
  readonly id: string;
  readonly time_zone: string | null;
}

/** In which zone times are shown. */
export interface Zone {
  /** By its name in the IANA database; undefined for the browser's. */
  readonly timeZone: string | undefined;
  /** Whether it is named with each time: nobody could know it otherwise. */
  readonly isNamed: boolean;
}

const Zones = createContext<{ readonly zones: ReadonlyMap<string, string>; readonly siteId: string | null }>({ zones: new Map(), siteId: null });

/** Knows the sites' zones for all that is in it, which shows times of one of them. @param props.siteId Null for several sites, or none. */
export function ZonesOf({ sites, siteId, children }: { readonly sites: readonly Place[]; readonly siteId: string | null; readonly children: ReactNode }) {
  const zones = useMemo(() => new Map(sites.flatMap(({ id, time_zone: zone }) => (zone !== null && isTimeZone(zone) ? [[id, zone]] : []))), [sites]);
  return <Zones value={useMemo(() => ({ zones, siteId }), [zones, siteId])}>{children}</Zones>;
}

/** What it holds happened at a site, whose zone is meant where a person wants the site's. @param props.siteId Null for none. */
export function AtSite({ siteId, children }: { readonly siteId: string | null; readonly children: ReactNode }) {
  const { zones } = useContext(Zones);
  return <Zones value={useMemo(() => ({ zones, siteId }), [zones, siteId])}>{children}</Zones>;
}

/** @returns The zone that a person has chosen: the browser's where the site's is wanted and not known. */
export function useZone(): Zone {
  const { zone } = usePreferences();
  const { zones, siteId } = useContext(Zones);
  const timeZone = zone === "utc" ? "UTC" : zone === "site" && siteId !== null ? zones.get(siteId) : undefined;
  return useMemo(() => ({ timeZone, isNamed: zone !== "local" }), [timeZone, zone]);
}
