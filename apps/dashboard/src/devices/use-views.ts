import type { DeviceFilter, View } from "@lanthorn/contract";
import { parseDeviceFilter } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useSession } from "../session/use-session.ts";

/** What a view shows. */
export interface Shown {
  readonly filter: DeviceFilter;
  /** Undefined for the list's own order. */
  readonly sort: string | undefined;
}

/** One's preferences, as the collector keeps them. */
export function useKeptPreferences() {
  const { rest } = useSession();
  return useQuery({ queryKey: ["preferences"], queryFn: () => rest.readPreferences(), staleTime: Number.POSITIVE_INFINITY });
}

/** @returns What a view shows; null for a filter that is none any more. */
export function shownBy({ filter, sort }: View): Shown | null {
  const read = parseDeviceFilter(filter);
  return read.ok ? { filter: read.filter, sort: sort === "" ? undefined : sort } : null;
}

/** Begins with the default view where the page was opened without a filter. What somebody filters or clears meanwhile stays so. */
export function useDefaultView(isPlain: boolean, show: (shown: Shown) => void): void {
  const { rest } = useSession();
  const mayBegin = useRef(isPlain);
  if (!isPlain) mayBegin.current = false;
  const id = useKeptPreferences().data?.default_views.devices ?? null;
  const { data: view } = useQuery({ queryKey: ["views", "one", id], enabled: mayBegin.current && id !== null, queryFn: () => rest.readView(id ?? "") });
  useEffect(() => {
    const shown = view && mayBegin.current ? shownBy(view) : null;
    if (!shown) return;
    mayBegin.current = false;
    show(shown);
  }, [view, show]);
}
