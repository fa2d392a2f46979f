import { useSyncExternalStore } from "react";
import { clock } from "../clock.ts";
import { useSession } from "../session/use-session.ts";
import { useCountdown } from "../states/error-note.tsx";
import styles from "./shell.module.css";

/** Why nothing comes: more was asked for than the API takes from a person in a minute. */
export function HeldNote() {
  const session = useSession();
  const until = useSyncExternalStore(session.subscribe, session.heldUntil);
  const seconds = useCountdown(until === 0 ? 0 : Math.ceil((until - clock.now()) / 1000), until);
  if (until === 0) return null;
  return <p className={styles["held"]} role="status">You have asked for as much as the collector answers in a minute. The rest comes in {seconds} s.</p>;
}
