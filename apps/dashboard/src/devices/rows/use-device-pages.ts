import { ClientError } from "@lanthorn/client";
import type { Device, DeviceFilter } from "@lanthorn/contract";
import { useQueries } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { clock } from "../../clock.ts";
import { useSession } from "../../session/use-session.ts";
import { type AnsweredPage, hold, NOTHING_SHOWN, type Steady, type Waiting, waitingOf } from "./steady.ts";

/** Devices asked for at once: more than a screen has, so that a screen takes one request or two. */
const PAGE_SIZE = 200;
/** While somebody scrolls past, nothing is asked for. */
const SETTLE_MS = 120;

/** What of a list is shown now. */
export interface DevicePages {
  /** Null until the first answer. */
  readonly total: number | null;
  /** As it is now, at the place where it was first shown. Undefined while it is on its way. */
  at(index: number): Device | undefined;
  /** What is there by now and not shown. */
  readonly waiting: Waiting | null;
  readonly error: unknown;
  readonly isFetching: boolean;
  /** When the oldest part of what is shown was answered, in milliseconds. */
  readonly dataUpdatedAt: number;
  readonly refetch: () => void;
}

/** What is held still, and of which list. */
interface Held {
  readonly of: object;
  readonly steady: Steady<Device>;
}

/**
 * Reads the pages of the device list that are looked at, and no others, again and again. What changes of a row changes where it is.
 * @param list What is shown: another object is another list, or the same list as it is now.
 */
export function useDevicePages(list: { readonly filter: DeviceFilter & { readonly sort?: string | undefined } }, first: number, last: number): DevicePages {
  const { rest } = useSession();
  const wanted = useSettled(`${Math.floor(first / PAGE_SIZE)} ${Math.floor(last / PAGE_SIZE)}`);
  const pages = useMemo(() => {
    const [from = 0, to = 0] = wanted.split(" ").map(Number);
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  }, [wanted]);
  const { filter } = list;
  const results = useQueries({
    queries: pages.map((page) => ({
      queryKey: ["devices", "page", filter, page],
      queryFn: () => rest.listDevices({ ...filter, page: page + 1, per_page: PAGE_SIZE }),
    })),
  });
  const answers = results.flatMap(({ data, dataUpdatedAt }, index): readonly AnsweredPage<Device>[] => (data ? [{ page: pages[index] ?? 0, rows: data.data, total: data.meta.total, answeredAtMs: dataUpdatedAt }] : []));
  const isFetching = results.some((result) => result.isFetching);
  const [held, setHeld] = useState<Held>({ of: list, steady: NOTHING_SHOWN });
  const before = held.of === list ? held.steady : NOTHING_SHOWN;
  // What an earlier visit left is held once it was asked for again.
  const steady = before.total === null && isFetching ? { total: answers[0]?.total ?? null, pages: answers } : hold(before, answers);
  useEffect(() => {
    if (!isFetching && (held.of !== list || held.steady !== steady)) setHeld({ of: list, steady });
  });
  const failed = results.find(({ isError }) => isError);
  return {
    total: steady.total, waiting: waitingOf(steady, answers), isFetching,
    at(index) {
      const place = index % PAGE_SIZE;
      const page = Math.floor(index / PAGE_SIZE);
      const shown = steady.pages.find((each) => each.page === page)?.rows[place];
      const now = answers.find((each) => each.page === page)?.rows[place];
      if (shown === undefined || shown.id === now?.id) return now;
      return answers.flatMap(({ rows }) => rows).find(({ id }) => id === shown.id) ?? shown;
    },
    error: failed?.error instanceof ClientError ? failed.error : failed ? new Error("the list failed") : null,
    dataUpdatedAt: Math.min(...results.filter(({ data }) => data !== undefined).map(({ dataUpdatedAt }) => dataUpdatedAt)),
    refetch: () => void Promise.all(results.map((result) => result.refetch())),
  };
}

function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => clock.after(SETTLE_MS, () => setSettled(value)), [value]);
  return settled;
}
