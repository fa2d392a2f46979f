import { useEffect } from "react";
import { Button } from "../parts/button.tsx";
import { Lantern } from "../parts/icon.tsx";
import styles from "./login-page.module.css";
import { useSession } from "./use-session.ts";

/** In place of every page while a logout is on its way, and where the collector has not heard of it. */
export function LeavingPage() {
  const session = useSession();
  useEffect(() => {
    document.title = "Log out · Lanthorn";
  }, []);
  return (
    <main className={styles["page"]}>
      <div className={styles["card"]}>
        <div className={styles["brand"]}><Lantern /> Lanthorn</div>
        <h1>Log out</h1>
        {session.state() === "leaving" ? <p role="status">Logging out…</p> : (
          <>
            <p role="alert" className={styles["refused"]}>The collector does not answer. Until it has heard that you log out, this browser goes on with your session when the page is loaded again.</p>
            <Button kind="primary" onClick={() => void session.logout()}>Try again</Button>
          </>
        )}
      </div>
    </main>
  );
}
