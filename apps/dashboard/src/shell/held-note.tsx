import { useSyncExternalStore } from "react";
import { useSession } from "../session/use-session.ts";
import { useSecondsUntil } from "../states/error-note.tsx";
import styles from "./shell.module.css";

/** Why nothing comes: more was asked for than the API takes from a person in a minute. */
export function HeldNote() {
  const session = useSession();
  const until = useSyncExternalStore(session.subscribe, session.heldUntil);
  const seconds = useSecondsUntil(until);
  if (until === 0) return null;
  return (
    <p className={styles["held"]}>
      <span role="status">You have asked for as much as the collector answers in a minute. The rest comes by itself</span> in {seconds} s.
    </p>
  );
}
