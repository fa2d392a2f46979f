import { ClientError } from "@lanthorn/client";
import type { Device, DeviceFilter } from "@lanthorn/contract";
import { useQueries } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { clock } from "../clock.ts";
import { useSession } from "../session/use-session.ts";

/** Devices asked for at once: more than a screen has, so that a screen takes one request or two. */
export const PAGE_SIZE = 200;
/** While somebody scrolls past, nothing is asked for. */
const SETTLE_MS = 120;

/** What of a list is known now. */
export interface DevicePages {
  /** Null until the first answer. */
  readonly total: number | null;
  /** Undefined while it is on its way. */
  at(index: number): Device | undefined;
  readonly error: unknown;
  readonly isFetching: boolean;
  /** When the oldest part of what is shown was answered, in milliseconds. */
  readonly dataUpdatedAt: number;
  readonly refetch: () => void;
}

/** Reads the pages of the device list that are looked at, and no others. */
export function useDevicePages(filter: DeviceFilter & { readonly sort?: string | undefined }, first: number, last: number): DevicePages {
  const { rest } = useSession();
  const wanted = useSettled(`${Math.floor(first / PAGE_SIZE)} ${Math.floor(last / PAGE_SIZE)}`);
  const [from = 0, to = 0] = wanted.split(" ").map(Number);
  const pages = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const results = useQueries({
    queries: pages.map((page) => ({
      queryKey: ["devices", "page", filter, page],
      queryFn: () => rest.listDevices({ ...filter, page: page + 1, per_page: PAGE_SIZE }),
    })),
  });
  const known = results.find(({ data }) => data !== undefined)?.data?.meta.total ?? null;
  const [total, setTotal] = useState({ filter, known });
  useEffect(() => {
    if (known !== null) setTotal({ filter, known });
  }, [filter, known]);
  const failed = results.find(({ isError }) => isError);
  return {
    // Between two pages the total stays; a new filter has none yet.
    total: known ?? (total.filter === filter ? total.known : null),
    at: (index) => results[pages.indexOf(Math.floor(index / PAGE_SIZE))]?.data?.data[index % PAGE_SIZE],
    error: failed?.error instanceof ClientError ? failed.error : failed ? new Error("the list failed") : null,
    isFetching: results.some(({ isFetching }) => isFetching),
    dataUpdatedAt: Math.min(...results.filter(({ data }) => data !== undefined).map(({ dataUpdatedAt }) => dataUpdatedAt)),
    refetch: () => void Promise.all(results.map((result) => result.refetch())),
  };
}

function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => clock.after(SETTLE_MS, () => setSettled(value)), [value]);
  return settled;
}
