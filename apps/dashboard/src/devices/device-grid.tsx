import type { Device, DeviceFilter } from "@lanthorn/contract";
import { Link, useNavigate } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { type Command, useCommands } from "../keyboard/commands.ts";
import { StaleNote, Waiting } from "../states/answer.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { Icon } from "../parts/icon.tsx";
import { type Column, NARROW_COLUMNS, widthsOf } from "./columns.tsx";
import styles from "./device-grid.module.css";
import type { Waiting as NotShown } from "./rows/steady.ts";
import { useDevicePages } from "./rows/use-device-pages.ts";

const ROW_HEIGHT = 38;
/** Of a list that was not answered yet. */
const FIRST_ROWS = 50;
/** The header is the grid's first row. */
const ROWS_BEFORE = 2;

/**
 * Devices in rows, of which only those that are looked at exist: any number of them costs the same. Another filter or order is another
 * grid, at its top.
 * @param props.filter The same object while it says the same.
 */
export function DeviceGrid({ filter, sort, edition, columns, onSort, empty, onCount }: {
  readonly filter: DeviceFilter; readonly sort: string; readonly columns: readonly Column[]; readonly onSort: (sort: string) => void; readonly empty: ReactNode;
  /** Another one shows the list as it is now. */
  readonly edition: number;
  /** Told how many are shown, and what is there beside them. */
  readonly onCount: (total: number | null, waiting: string) => void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState(0);
  const [range, setRange] = useState({ first: 0, last: FIRST_ROWS });
  const query = useMemo(() => ({ ...filter, sort }), [filter, sort]);
  const list = useMemo(() => ({ filter: query, edition }), [query, edition]);
  const pages = useDevicePages(list, range.first, range.last);
  const widths = useMemo(() => widthsOf(columns), [columns]);
  const total = pages.total ?? 0;
  const rows = useVirtualizer({
    count: total, getScrollElement: () => scroller.current, estimateSize: () => ROW_HEIGHT, overscan: 10, scrollPaddingStart: ROW_HEIGHT,
    onChange: ({ range: seen }) => seen && (seen.startIndex !== range.first || seen.endIndex !== range.last) && setRange({ first: seen.startIndex, last: seen.endIndex }),
  });
  const waiting = textOf(pages.waiting);
  useEffect(() => onCount(pages.total, waiting), [onCount, pages.total, waiting]);
  const move = (to: number) => {
    const next = Math.max(0, Math.min(total - 1, to));
    setCurrent(next);
    rows.scrollToIndex(next);
  };
  useGridCommands({ move, current, idOf: (index) => pages.at(index)?.id });

  if (pages.total === null) return pages.error === null ? <Waiting lines={12} /> : <ErrorNote error={pages.error} onRetry={pages.refetch} />;
  if (total === 0) return <>{empty}</>;
  return (
    <div className={styles["frame"]}>
      {pages.error !== null && <StaleNote query={{ dataUpdatedAt: pages.dataUpdatedAt, refetch: (() => pages.refetch()) as never }} />}
      <div
        ref={scroller} className={styles["scroller"]} role="grid" aria-label="Devices" aria-rowcount={total + 1} aria-colcount={columns.length} tabIndex={0}
        style={{ "--all": widths.all, "--least": widths.least, "--middle": widths.middle, "--narrow": widths.narrow } as CSSProperties}
        aria-activedescendant={`device-row-${current}`} aria-busy={pages.isFetching}
        onKeyDown={(event) => {
          const to = { ArrowDown: current + 1, ArrowUp: current - 1, Home: 0, End: total - 1, PageDown: current + 15, PageUp: current - 15 }[event.key];
          if (to === undefined) return;
          event.preventDefault();
          move(to);
        }}
      >
        <div className={`${styles["row"]} ${styles["head"]}`} role="row" aria-rowindex={1}>
          {columns.map((column) => <HeadCell key={column.id} column={column} isLate={widths.late.has(column.id)} sort={sort} onSort={onSort} />)}
        </div>
        <div role="rowgroup" className={styles["rows"]} style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map(({ index, start }) => (
            <Row key={index} index={index} start={start} columns={columns} late={widths.late} isCurrent={index === current} device={pages.at(index)} onPoint={() => setCurrent(index)} />
          ))}
        </div>
      </div>
    </div>
  );
}

function Row({ index, start, columns, late, isCurrent, device, onPoint }: {
  readonly index: number; readonly start: number; readonly columns: readonly Column[]; readonly late: ReadonlySet<Column["id"]>; readonly isCurrent: boolean; readonly onPoint: () => void;
  readonly device: ReturnType<ReturnType<typeof useDevicePages>["at"]>;
}) {
  return (
    <div
      role="row" id={`device-row-${index}`} aria-rowindex={index + ROWS_BEFORE} aria-selected={isCurrent} className={styles["row"]}
      style={{ transform: `translateY(${start}px)` }} onPointerDown={onPoint}
    >
      {columns.map(({ id, cell }, at) => (
        <div key={id} role="gridcell" aria-colindex={at + 1} className={styles[id]} data-late={late.has(id)}>
          {device === undefined ? <span className={styles["blank"]} /> : isLink(columns, id, device)
            ? <Link to="/devices/$deviceId" params={{ deviceId: device.id }} tabIndex={-1}>{cell(device)}</Link> : cell(device)}
        </div>
      ))}
    </div>
  );
}

/** Whether a cell leads to the device: what it is called, or the first one where a phone does not show that. */
function isLink(columns: readonly Column[], own: Column["id"], { hostname }: Device): boolean {
  const isName = (id: Column["id"]) => id === "name" || (id === "ip" && hostname === "");
  return isName(own) || (own === columns[0]?.id && !columns.slice(0, NARROW_COLUMNS).some(({ id }) => isName(id)));
}

/** Empty where all of the list is shown. */
function textOf(waiting: NotShown | null): string {
  if (waiting === null) return "";
  return waiting.kind === "order" ? "The order has changed" : `${waiting.count.toLocaleString("en")} ${waiting.kind}`;
}

function HeadCell({ column: { id, title, sort: field }, isLate, sort, onSort }: { readonly column: Column; readonly isLate: boolean; readonly sort: string; readonly onSort: (sort: string) => void }) {
  const isDown = sort === `-${field}`;
  const isSorted = isDown || sort === field;
  return (
    <div role="columnheader" className={styles[id]} data-late={isLate} {...(field && { "aria-sort": isSorted ? (isDown ? "descending" : "ascending") : "none" })}>
      {field === undefined ? title : (
        <button type="button" onClick={() => onSort(isSorted && !isDown ? `-${field}` : field)}>
          {title}{isSorted && <Icon name={isDown ? "down" : "up"} />}
        </button>
      )}
    </div>
  );
}

function useGridCommands({ move, current, idOf }: {
  readonly move: (to: number) => void; readonly current: number; readonly idOf: (index: number) => string | undefined;
}): void {
  const navigate = useNavigate();
  const latest = useRef({ move, current, idOf });
  useLayoutEffect(() => {
    latest.current = { move, current, idOf };
  });
  useCommands(useMemo((): readonly Command[] => [
    { id: "next device", title: "Next device", group: "This page", keys: "j", run: () => latest.current.move(latest.current.current + 1) },
    { id: "previous device", title: "Previous device", group: "This page", keys: "k", run: () => latest.current.move(latest.current.current - 1) },
    {
      id: "open device", title: "Open the device", group: "This page", keys: "Enter",
      run() {
        const deviceId = latest.current.idOf(latest.current.current);
        if (deviceId !== undefined) void navigate({ to: "/devices/$deviceId", params: { deviceId } });
      },
    },
  ], [navigate]));
}
