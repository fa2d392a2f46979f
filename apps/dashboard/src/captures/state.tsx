import type { Pcap } from "@lanthorn/contract";
import { Mark, type Tone } from "../parts/mark.tsx";
import { useNow } from "../texts/moment.tsx";
import styles from "./captures-page.module.css";

const TONES: Readonly<Record<Pcap["state"], Tone>> = {
  requested: "calm", recording: "warn", at_probe: "good", uploading: "warn", ready: "good", failed: "bad", expired: "calm",
};
/** States as people read them. */
export const STATE_NAMES: Readonly<Record<Pcap["state"], string>> = {
  requested: "requested", recording: "recording", at_probe: "at the probe", uploading: "uploading", ready: "ready", failed: "failed", expired: "expired",
};

/** Whether a capture changes by itself soon. */
export function isUnderway({ state }: Pcap): boolean {
  return state === "requested" || state === "recording" || state === "uploading";
}

/** The state of a capture; while it runs, how much of its time is over. */
export function CaptureState({ capture }: { readonly capture: Pcap }) {
  const nowMs = useNow();
  const seconds = capture.limits?.seconds ?? null;
  const elapsed = Math.max(0, nowMs - Date.parse(capture.started_at ?? capture.created_at)) / 1000;
  return (
    <span className={styles["state"]}>
      <Mark tone={TONES[capture.state]}>{STATE_NAMES[capture.state]}</Mark>
      {capture.state === "recording" && seconds !== null && <progress max={seconds} value={Math.min(seconds, elapsed)} aria-label="How much of its time is over" />}
      {capture.lock !== null && <Mark tone="calm">locked</Mark>}
      {capture.is_cut && <Mark tone="warn">cut</Mark>}
    </span>
  );
}
