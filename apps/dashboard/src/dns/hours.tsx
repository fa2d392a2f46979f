import type { DnsStats } from "@lanthorn/contract";
import { Moment } from "../texts/moment.tsx";
import styles from "../sensors/sensors.module.css";

const HEIGHT = 60;
const STEP = 8;
const HOUR_MS = 3_600_000;
const KINDS = ["resolved", "observed", "blocked"] as const;

/** Queries of each hour as bars: what was resolved below, what was observed and blocked above. Hours without any are empty. */
export function DnsHours({ hours }: Pick<DnsStats, "hours">) {
  const sorted = hours.toSorted((one, other) => one.hour.localeCompare(other.hour));
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (!first || !last) return null;
  const most = Math.max(1, ...hours.map(({ queries }) => queries));
  const at = (hour: string) => Math.round((Date.parse(hour) - Date.parse(first.hour)) / HOUR_MS);
  return (
    <figure>
      <svg className={styles["chart"]} viewBox={`0 0 ${Math.max(24, at(last.hour) + 1) * STEP} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`Queries by hour, at most ${most.toLocaleString("en")}`}>
        {sorted.map(({ hour, queries, blocked, observed }) => {
          let y = HEIGHT;
          return KINDS.map((kind) => {
            const height = ({ resolved: Math.max(0, queries - blocked - observed), observed, blocked }[kind] / most) * HEIGHT;
            y -= height;
            return <rect key={`${hour} ${kind}`} className={styles[kind]} x={at(hour) * STEP} width={STEP - 2} y={y} height={height} />;
          });
        })}
      </svg>
      <figcaption className={styles["legend"]}>
        {KINDS.map((kind) => <span key={kind}><svg viewBox="0 0 8 8" aria-hidden="true"><rect className={styles[kind]} width="8" height="8" rx="2" /></svg>{kind}</span>)}
        <span>at most {most.toLocaleString("en")} in an hour, from <Moment at={first.hour} exact /></span>
      </figcaption>
    </figure>
  );
}
