import type { LearnedBehaviour } from "@lanthorn/contract";
import { useState } from "react";
import { Choose } from "../../fields/choose.tsx";
import filters from "../../fields/filters.module.css";
import { formatMeasure } from "../../sensors/measure.ts";
import { showForeign } from "../../texts/foreign.tsx";
import { words } from "../../texts/words.ts";
import styles from "./behaviour.module.css";

type Feature = LearnedBehaviour["features"][number];

const DAYS = { workdays: "Monday to Friday", weekends: "Weekends" } as const;
/** What says most, in the order in which it is shown first. */
const FIRST: readonly string[] = ["bytes_out", "flows", "bytes_in", "peers", "names"];
const HEIGHT = 60;
const STEP = 10;
/** Hours that are named below the bars. */
const NAMED = [0, 6, 12, 18];

/** What is usual at each hour of a day, drawn, and the same as a table. */
export function Hours({ behaviour: { features, days } }: { readonly behaviour: LearnedBehaviour }) {
  const [name, setName] = useState(() => (FIRST.find((each) => features.some((one) => one.name === each && one.highest > 0)) ?? features[0]?.name ?? ""));
  const [kind, setKind] = useState<keyof typeof DAYS>("workdays");
  const feature = features.find((each) => each.name === name);
  if (!feature) return <p className={styles["soft"]}>Nothing was measured yet.</p>;
  const names = Object.fromEntries(features.map((each) => [each.name, showForeign(words(each.name), 60)]));
  return (
    <div>
      <div className={filters["filters"]}>
        <Choose label="What" value={name} options={names} onChange={setName} />
        <Choose label="Days" value={kind} options={DAYS} onChange={(value) => setKind(value === "weekends" ? "weekends" : "workdays")} />
      </div>
      <Bars feature={feature} kind={kind} days={days[kind]} />
      <details className={styles["table"]}>
        <summary>As a table</summary>
        <table>
          <thead><tr><th scope="col">Hour (UTC)</th><th scope="col">Usual</th><th scope="col">Expected at most</th><th scope="col">Days learned</th></tr></thead>
          <tbody>
            {feature[kind].usual.map((usual, hour) => (
              <tr key={hour}><th scope="row">{hour}</th><td>{formatMeasure(name, usual)}</td><td>{formatMeasure(name, feature[kind].expected_high[hour] ?? 0)}</td><td>{days[kind][hour]}</td></tr>
            ))}
          </tbody>
        </table>
      </details>
    </div>
  );
}

/** Bars of what is usual, before paler ones of the most that is expected. An hour of no day has nothing usual. */
function Bars({ feature: { name, ...kinds }, kind, days }: { readonly feature: Feature; readonly kind: keyof typeof DAYS; readonly days: readonly number[] }) {
  const { usual, expected_high: high } = kinds[kind];
  const most = Math.max(...usual, ...high, Number.MIN_VALUE);
  const bar = (value: number) => ({ y: HEIGHT - (value / most) * HEIGHT, height: (value / most) * HEIGHT });
  const busiest = usual.indexOf(Math.max(...usual));
  const isKnown = days.some((count) => count > 0);
  return (
    <figure className={styles["figure"]}>
      <p className={styles["scale"]}>{isKnown ? `up to ${formatMeasure(name, most)} in an hour` : "no such day was learned yet"}</p>
      <svg
        className={styles["bars"]} viewBox={`0 0 ${24 * STEP} ${HEIGHT}`} preserveAspectRatio="none" role="img"
        aria-label={isKnown ? `By hour, ${DAYS[kind]}: the most is usual from ${busiest} to ${busiest + 1} o'clock UTC, ${formatMeasure(name, usual[busiest] ?? 0)}` : "Nothing was learned yet"}
      >
        {usual.map((value, hour) => ((days[hour] ?? 0) === 0
          ? <rect key={hour} className={styles["unlearned"]} x={hour * STEP} width={STEP - 1} y={0} height={HEIGHT} />
          : (
            <g key={hour}>
              <rect className={styles["expected"]} x={hour * STEP} width={STEP - 1} {...bar(high[hour] ?? 0)} />
              <rect className={styles["usual"]} x={hour * STEP} width={STEP - 1} {...bar(value)} />
            </g>
          )))}
      </svg>
      <div className={styles["hours"]} aria-hidden="true">{NAMED.map((hour) => <span key={hour}>{hour === 0 ? "0 h UTC" : `${hour} h`}</span>)}</div>
      <figcaption className={styles["legend"]}>
        <span><svg viewBox="0 0 8 8" aria-hidden="true"><rect className={styles["usual"]} width="8" height="8" rx="2" /></svg>usual</span>
        <span><svg viewBox="0 0 8 8" aria-hidden="true"><rect className={styles["expected"]} width="8" height="8" rx="2" /></svg>expected at most</span>
        {days.includes(0) && <span><svg viewBox="0 0 8 8" aria-hidden="true"><rect className={styles["unlearned"]} width="8" height="8" rx="2" /></svg>not learned yet</span>}
        <span>hours in UTC</span>
      </figcaption>
    </figure>
  );
}
