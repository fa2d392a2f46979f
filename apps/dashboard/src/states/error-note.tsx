import { ClientError, type ClientErrorCode } from "@lanthorn/client";
import { useEffect, useMemo, useState } from "react";
import { clock } from "../clock.ts";
import { Button } from "../parts/button.tsx";
import styles from "./states.module.css";

/** What went wrong: the code, what to do, and the request's id for whoever reads the collector's log. */
export function ErrorNote({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const failure = error instanceof ClientError ? error : null;
  const waitSeconds = useSecondsUntil(useMemo(() => clock.now() + (failure?.retryAfterSeconds ?? 0) * 1000, [failure]));
  return (
    <div className={styles["error"]} role="alert">
      <p><strong>{failure ? TITLES[failure.code] : "Something broke"}</strong></p>
      <p>{failure ? textOf(failure) : "This page has a fault. Reload it; if that does not help, report what you did."}</p>
      <p className={styles["small"]}>
        {failure ? <code>{failure.code}</code> : <code>{String(error).slice(0, 300)}</code>}
        {failure?.requestId && <> · request <code>{failure.requestId}</code></>}
      </p>
      {onRetry && (
        <Button onClick={onRetry} disabled={waitSeconds > 0}>{waitSeconds > 0 ? `Try again in ${waitSeconds} s` : "Try again"}</Button>
      )}
    </div>
  );
}

const PROBLEM = "The collector has a problem";
const TITLES: Readonly<Record<ClientErrorCode, string>> = {
  FORBIDDEN: "You may not do this", RATE_LIMITED: "Too many requests", NOT_FOUND: "Not found", unreachable: "The collector does not answer",
  CONFLICT: "This does not fit what is there", BAD_REQUEST: "The collector does not accept this", UNAUTHORIZED: "You are not logged in",
  INTERNAL_ERROR: PROBLEM, BAD_GATEWAY: PROBLEM, SERVICE_UNAVAILABLE: PROBLEM, "not-an-answer": PROBLEM,
};

function textOf({ code, message, details }: ClientError): string {
  if (code === "FORBIDDEN") {
    const required = (details as { readonly required?: unknown } | null)?.required;
    return typeof required === "string" ? `It needs the scope ${required}. Ask an administrator for it.` : message;
  }
  if (code === "unreachable") return "Check the network between you and the collector. This page asks again by itself.";
  return message;
}

/** @returns Seconds that are left until a moment, drawn again each second; 0 from then on. @param until In milliseconds since the epoch. */
export function useSecondsUntil(until: number): number {
  const left = () => Math.max(0, Math.ceil((until - clock.now()) / 1000));
  const [, draw] = useState(0);
  useEffect(() => {
    if (left() === 0) return undefined;
    const stop = clock.every(1000, () => {
      draw((count) => count + 1);
      if (left() === 0) stop();
    });
    return stop;
  }, [until]);
  return left();
}
