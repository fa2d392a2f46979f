import type { Scan } from "@lanthorn/contract";
import { Mark } from "../parts/mark.tsx";
import { percent } from "../texts/percent.ts";
import styles from "./scans-page.module.css";

const TONES = { queued: "calm", running: "warn", completed: "good", failed: "bad", cancelled: "calm" } as const;

/** Whether a scan has not ended. */
export function isUnderway({ status }: Scan): boolean {
  return status === "queued" || status === "running";
}

/** The state of a scan, and how far it is. */
export function ScanState({ scan }: { readonly scan: Scan }) {
  return (
    <span className={styles["state"]}>
      <Mark tone={TONES[scan.status]}>{scan.status}</Mark>
      {isUnderway(scan) && <><progress max={1} value={scan.progress} aria-label={`Progress of the scan of ${scan.target}`} />{percent(scan.progress)}</>}
    </span>
  );
}

/** How long a scan took, as `3.2 s` or `4 min`; empty while it has not ended. */
export function durationOf({ started_at: startedAt, finished_at: finishedAt }: Scan): string {
  if (startedAt === null || finishedAt === null) return "";
  const seconds = Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt)) / 1000;
  return seconds < 100 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds / 60)} min`;
}
