import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useSyncExternalStore } from "react";
import { Foreign } from "../texts/foreign.tsx";
import { formatTime } from "../texts/moment.tsx";
import { kindName } from "../texts/words.ts";
import { useZone } from "../texts/zone.tsx";
import type { LiveRow } from "./follow.ts";
import styles from "./live-page.module.css";

const ROW_HEIGHT = 34;
/** On a phone, where a row has two lines, as the style says. */
const PHONE_ROW_HEIGHT = 52;
const PHONE = "(max-width: 30rem)";
/** So near to the end, somebody wants to see what comes. */
const NEAR_PX = 80;
/** Fields of an event's data that say most, in this order. */
const MAIN_FIELDS = ["title", "signature", "detail", "message", "hostname", "system_name", "chassis_id", "ip", "mac", "source_ip", "query_name", "port", "port_id", "local_interface", "service", "kind", "cve_id", "target", "file_name", "state"] as const;
const MAX_FIELDS = 5;

/** The rows that are looked at, of any number. It stays at the end while it is there. */
export function LiveRows({ rows, isHeld }: { readonly rows: readonly LiveRow[]; readonly isHeld: boolean }) {
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const rowHeight = useSyncExternalStore(watchPhone, isPhone) ? PHONE_ROW_HEIGHT : ROW_HEIGHT;
  const list = useVirtualizer({ count: rows.length, getScrollElement: () => scroller.current, estimateSize: () => rowHeight, overscan: 12 });
  useEffect(() => list.measure(), [rowHeight, list]);
  useEffect(() => {
    if (isAtEnd.current && !isHeld) list.scrollToIndex(rows.length - 1);
  }, [rows, isHeld, list]);
  return (
    <div
      ref={scroller} className={styles["scroller"]} tabIndex={0} role="log" aria-label="Events" aria-live="off"
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_PX;
      }}
    >
      <div className={styles["rows"]} style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          return row && <Row key={index} row={row} start={start} />;
        })}
      </div>
    </div>
  );
}

const isPhone = () => matchMedia(PHONE).matches;

function watchPhone(listener: () => void): () => void {
  const query = matchMedia(PHONE);
  query.addEventListener("change", listener);
  return () => query.removeEventListener("change", listener);
}

function Row({ row, start }: { readonly row: LiveRow; readonly start: number }) {
  const zone = useZone();
  const time = <time dateTime={row.timestamp}>{formatTime(row.timestamp, zone)}</time>;
  if ("note" in row) return <div className={`${styles["row"]} ${styles["gap"]}`} style={{ transform: `translateY(${start}px)` }}>{time}<span>{row.note}</span></div>;
  const deviceId = row.data["device_id"];
  return (
    <div className={styles["row"]} style={{ transform: `translateY(${start}px)` }}>
      {time}<strong>{kindName(row.event)}</strong><span className={styles["text"]}><Foreign text={summaryOf(row.data)} /></span>
      {typeof deviceId === "string" && <Link to="/devices/$deviceId" params={{ deviceId }}>device</Link>}
    </div>
  );
}

function summaryOf(data: Readonly<Record<string, unknown>>): string {
  return MAIN_FIELDS.flatMap((name) => {
    const value = data[name];
    return (typeof value === "string" && value !== "") || typeof value === "number" ? [String(value)] : [];
  }).slice(0, MAX_FIELDS).join(" · ");
}
