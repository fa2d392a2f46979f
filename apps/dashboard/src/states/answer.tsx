import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ErrorNote } from "./error-note.tsx";
import { formatMoment } from "../texts/moment.tsx";
import { useZone } from "../texts/zone.tsx";
import styles from "./states.module.css";

/** Shows what a query answered; while it waits, that; where it failed, why. What was there before stays, with its date. */
export function Answer<T>({ query, children }: { readonly query: UseQueryResult<T>; readonly children: (data: T) => ReactNode }) {
  if (query.data === undefined) {
    return query.isError ? <ErrorNote error={query.error} onRetry={() => void query.refetch()} /> : <Waiting />;
  }
  return <>{query.isError && <StaleNote query={query} />}{children(query.data)}</>;
}

/** Says that what is shown is old, and from when. */
export function StaleNote({ query }: { readonly query: Pick<UseQueryResult, "dataUpdatedAt" | "refetch"> }) {
  const zone = useZone();
  return (
    <p className={styles["stale"]} role="status">
      The collector does not answer. This is from {formatMoment(query.dataUpdatedAt, zone)}.{" "}
      <button type="button" className={styles["link"]} onClick={() => void query.refetch()}>Try again</button>
    </p>
  );
}

/** Grey lines in place of what is on its way. */
export function Waiting({ lines = 4 }: { readonly lines?: number }) {
  return (
    <div className={styles["waiting"]} role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => <span key={index} />)}
    </div>
  );
}

/** Where there is nothing: why, and what to do. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return <div className={styles["empty"]}><h2>{title}</h2>{children !== undefined && <div className={styles["why"]}>{children}</div>}</div>;
}

/** The same in a line, in a panel among others. */
export function Nothing({ children }: { readonly children: ReactNode }) {
  return <p className={styles["nothing"]}>{children}</p>;
}
