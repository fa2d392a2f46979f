import type { AnomalyDetails } from "@lanthorn/contract";
import styles from "../sensors/sensors.module.css";
import { Moment } from "../texts/moment.tsx";

const HEIGHT = 60;
const STEP = 8;

/** What was measured in the hours before as bars, with a line where the expected ends. */
export function Series({ series: { bucket_seconds: seconds, ends_at: endsAt, values }, usual, high }: {
  readonly series: NonNullable<AnomalyDetails["series"]>; readonly usual: number; readonly high: number;
}) {
  const most = Math.max(high, ...values, Number.MIN_VALUE);
  const from = new Date(Date.parse(endsAt) - values.length * seconds * 1000).toISOString();
  const line = HEIGHT - (high / most) * HEIGHT;
  return (
    <figure>
      <svg className={styles["chart"]} viewBox={`0 0 ${Math.max(1, values.length) * STEP} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`Values up to ${Math.round(Math.max(0, ...values))}; usual is ${Math.round(usual)}, expected at most ${Math.round(high)}`}>
        {values.map((value, at) => (
          <rect key={at} className={styles[value > high ? "blocked" : "resolved"]} x={at * STEP} width={STEP - 2} y={HEIGHT - (value / most) * HEIGHT} height={(value / most) * HEIGHT} />
        ))}
        <line className={styles["limit"]} x1={0} x2={values.length * STEP} y1={line} y2={line} />
      </svg>
      <figcaption className={styles["legend"]}>
        <span><svg viewBox="0 0 8 8" aria-hidden="true"><rect className={styles["resolved"]} width="8" height="8" rx="2" /></svg>expected</span>
        <span><svg viewBox="0 0 8 8" aria-hidden="true"><rect className={styles["blocked"]} width="8" height="8" rx="2" /></svg>more than expected</span>
        <span><Moment at={from} exact /> to <Moment at={endsAt} exact /></span>
      </figcaption>
    </figure>
  );
}
