import type { List } from "@lanthorn/contract";
import { useInfiniteQuery } from "@tanstack/react-query";

/** A list that is read page by page and added up, under a key by which it is kept. */
interface ListWish<T, P> {
  readonly queryKey: readonly unknown[];
  readonly read: (page: P) => Promise<List<T>>;
}

/** What a person looks at is asked for again so often. The limits of the API leave room for more. */
export const REFETCH_MS = 30_000;
/** And something that goes on: often enough to feel live, and a third of what the limit allows. */
export const UNDERWAY_MS = 3000;

/** @param wish.read By cursor, which is undefined for the first page. @param wish.isUnderway Whether something goes on: such a list is asked for again more often. @param wish.refetchMs How often it is asked for else; never by itself where it is false. */
export function useCursorList<T>({ queryKey, read, isUnderway, refetchMs = REFETCH_MS }: ListWish<T, string | undefined> & {
  readonly isUnderway?: (one: T) => boolean; readonly refetchMs?: number | false;
}) {
  return useInfiniteQuery({
    queryKey, initialPageParam: "",
    queryFn: ({ pageParam }) => read(pageParam || undefined),
    getNextPageParam: ({ meta }) => meta.next_cursor ?? undefined,
    select: ({ pages }) => ({ list: pages.flatMap(({ data }) => data), total: pages.at(-1)?.meta.total ?? 0 }),
    refetchInterval: ({ state }) => (isUnderway !== undefined && state.data?.pages.some(({ data }) => data.some(isUnderway)) === true ? UNDERWAY_MS : refetchMs),
  });
}

/** @param wish.read By number, 1 for the first page. */
export function useNumberedList<T>({ queryKey, read }: ListWish<T, number>) {
  return useInfiniteQuery({
    queryKey, initialPageParam: 1,
    queryFn: ({ pageParam }) => read(pageParam),
    getNextPageParam: ({ meta }) => (meta.page * meta.per_page < meta.total ? meta.page + 1 : undefined),
    select: ({ pages }) => ({ list: pages.flatMap(({ data }) => data), total: pages[0]?.meta.total ?? 0 }),
  });
}
