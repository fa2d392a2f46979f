import { ClientError } from "@lanthorn/client";
import { useEffect, useId, useRef, useState } from "react";
import { Button } from "../parts/button.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { Lantern } from "../parts/icon.tsx";
import { withForm } from "../parts/with-form.ts";
import styles from "./login-page.module.css";
import { useSession } from "./use-session.ts";

/** Asks for name and password. What the address names is shown after it. */
export function LoginPage() {
  const session = useSession();
  const [failure, setFailure] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const name = useRef<HTMLInputElement>(null);
  const ids = { name: useId(), password: useId() };

  useEffect(() => {
    document.title = "Log in · Lanthorn";
    name.current?.focus();
  }, []);

  const logIn = async (username: string, password: string) => {
    setBusy(true);
    setFailure(null);
    try {
      await session.login(username, password);
    } catch (error) {
      setFailure(error);
      setBusy(false);
    }
  };
  const isRefused = failure instanceof ClientError && failure.code === "UNAUTHORIZED";
  return (
    <main className={styles["page"]}>
      <form className={styles["card"]} onSubmit={withForm(({ username = "", password = "" }) => void logIn(username, password))}>
        <div className={styles["brand"]}><Lantern /> Lanthorn</div>
        <h1>Log in</h1>
        {session.state() === "ended" && <p className={styles["note"]}>Your session has ended. Log in again to go on where you were.</p>}
        <label htmlFor={ids.name}>User name</label>
        <input ref={name} id={ids.name} name="username" autoComplete="username" autoCapitalize="none" spellCheck={false} required maxLength={255} />
        <label htmlFor={ids.password}>Password</label>
        <input id={ids.password} name="password" type="password" autoComplete="current-password" required maxLength={1024} />
        <div aria-live="polite">
          {isRefused && <p className={styles["refused"]}>User name or password is wrong.</p>}
          {failure !== null && !isRefused && <ErrorNote error={failure} />}
        </div>
        <Button kind="primary" type="submit" disabled={isBusy}>{isBusy ? "Logging in…" : "Log in"}</Button>
      </form>
    </main>
  );
}
