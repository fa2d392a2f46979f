import { useQuery } from "@tanstack/react-query";
import { useSession } from "../session/use-session.ts";
import { Answer } from "../states/answer.tsx";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import styles from "./alert-detail.module.css";

/** What people did with an alert, and why. */
export function AlertHistory({ alertId }: { readonly alertId: string }) {
  const { rest } = useSession();
  const history = useQuery({ queryKey: ["alert", alertId, "history"], queryFn: () => rest.listAlertHistory(alertId, { per_page: 100 }) });
  return (
    <section className={styles["history"]}>
      <h3>What people did</h3>
      <Answer query={history}>
        {({ data }) => (data.length === 0 ? <p>Nobody has acknowledged, resolved or muted it yet.</p> : (
          <ul>
            {data.map(({ id, action, at, by, note, muted_until: until }) => (
              <li key={id}>
                <strong>{action}</strong> by <Foreign text={by} longest={60} />, <Moment at={at} />{until !== null && <>, until <Moment at={until} exact /></>}
                {note !== "" && <p><Foreign text={note} longest={1024} /></p>}
              </li>
            ))}
          </ul>
        ))}
      </Answer>
    </section>
  );
}
