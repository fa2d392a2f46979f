import type { CveSeverity, Device, Severity } from "@lanthorn/contract";
import styles from "./mark.module.css";

/** How a state looks. Its text says the same as its color. */
export type Tone = "good" | "bad" | "warn" | "calm" | "critical";

/** A word in a colored field. */
export function Mark({ tone, children }: { readonly tone: Tone; readonly children: React.ReactNode }) {
  return <span className={`${styles["mark"]} ${styles[tone]}`}>{children}</span>;
}

const SEVERITY_TONES: Readonly<Record<Severity | CveSeverity, Tone>> = { critical: "critical", high: "bad", medium: "warn", low: "calm", info: "calm", none: "calm" };

/** How urgent something is. @param props.children What is said of it, where that is more than the word. */
export function SeverityMark({ severity, children = severity }: { readonly severity: Severity | CveSeverity; readonly children?: React.ReactNode }) {
  return <Mark tone={SEVERITY_TONES[severity]}>{children}</Mark>;
}

/** How many there are of each severity, but for those that have none. */
export function SeverityCounts({ of }: { readonly of: readonly (readonly [Severity | CveSeverity, number])[] }) {
  return <>{of.filter(([, number]) => number > 0).map(([name, number]) => <SeverityMark key={name} severity={name}>{number.toLocaleString("en")} {name}</SeverityMark>)}</>;
}

const PRESENCE_TONES = { online: "good", offline: "calm", unknown: "warn" } as const;

/** Whether a device is on the network: a full, an empty or a half circle, and the word. */
export function Presence({ state }: { readonly state: Device["presence_state"] }) {
  return (
    <span className={`${styles["presence"]} ${styles[`text-${PRESENCE_TONES[state]}`]}`}>
      <span className={`${styles["dot"]} ${styles[state]}`} aria-hidden="true" />{state}
    </span>
  );
}
