import type { Webhook, WebhookDelivery } from "@lanthorn/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Button } from "../parts/button.tsx";
import { Mark } from "../parts/mark.tsx";
import { Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import { useSession } from "../session/use-session.ts";
import { Answer, Empty } from "../states/answer.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { RemoveButton } from "../states/removal.tsx";
import { count } from "../texts/count.ts";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import styles from "./integrations-page.module.css";

const TONES = { pending: "warn", delivered: "good", failed: "bad" } as const;

/** What was sent to a webhook, with every attempt and what came back. */
export function Deliveries({ webhook: { id: webhookId, url }, mayWrite }: { readonly webhook: Webhook; readonly mayWrite: boolean }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const deliveries = useQuery({ queryKey: ["deliveries", webhookId], queryFn: () => rest.listWebhookDeliveries(webhookId, { per_page: 50 }) });
  const act = useMutation({
    async mutationFn(what: "test" | "replay" | { readonly redeliver: string }) {
      if (what === "test") await rest.testWebhook(webhookId);
      else if (what === "replay") await rest.replayWebhookEvents(webhookId, { since: "24h" });
      else await rest.redeliverWebhookDelivery(webhookId, what.redeliver);
    },
    async onSettled() {
      await queries.invalidateQueries({ queryKey: ["webhooks"] });
      await queries.invalidateQueries({ queryKey: ["deliveries", webhookId] });
    },
  });
  return (
    <Panel
      title="Deliveries" isFlush
      actions={mayWrite && (
        <div className={styles["actions"]}>
          <Button onClick={() => act.mutate("test")} disabled={act.isPending}>Send a test</Button>
          <Button onClick={() => act.mutate("replay")} disabled={act.isPending}>Send the last 24 hours again</Button>
          <RemoveButton of={url} then="Nothing is sent to it from now on. This cannot be undone." keys={["webhooks"]} remove={() => rest.deleteWebhook(webhookId)} />
        </div>
      )}
    >
      {act.isError && <div className={styles["error"]}><ErrorNote error={act.error} /></div>}
      <Answer query={deliveries}>
        {({ data }) => (data.length === 0 ? <Empty title="Nothing was sent yet">Send a test to see whether it arrives.</Empty> : (
          <Table heads={["Event", "State", "Answer", "Queued", "Action"]}>{data.map((delivery) => (
            <DeliveryRow key={delivery.id} delivery={delivery} onRedeliver={mayWrite ? () => act.mutate({ redeliver: delivery.id }) : null} />
            ))}</Table>
        ))}
      </Answer>
    </Panel>
  );
}

function DeliveryRow({ delivery, onRedeliver }: { readonly delivery: WebhookDelivery; readonly onRedeliver: (() => void) | null }) {
  return (
    <tr>
      <td><code>{delivery.event}</code></td>
      <td><Mark tone={TONES[delivery.status]}>{delivery.status}</Mark></td>
      <td>
        {delivery.status_code ?? "none"}{delivery.response_time_ms !== null && ` in ${delivery.response_time_ms} ms`}
        <details>
          <summary>{count(delivery.attempts.length, "attempt")}</summary>
          <ol className={styles["attempts"]}>
            {delivery.attempts.map((attempt) => (
            <li key={attempt.attempt}>
              {attempt.attempt}. <Moment at={attempt.requested_at} exact /> {attempt.status_code ?? ""} <Foreign text={attempt.error ?? ""} />
              {attempt.response_excerpt !== null && attempt.response_excerpt !== "" && <><br /><code><Foreign text={attempt.response_excerpt} longest={1024} /></code></>}
            </li>
            ))}
          </ol>
        </details>
        {delivery.next_attempt_at !== null && <>next attempt <Moment at={delivery.next_attempt_at} exact /></>}
      </td>
      <td><Moment at={delivery.created_at} /></td>
      <td>{onRedeliver !== null && <Button onClick={onRedeliver}>Send again</Button>}</td>
    </tr>
  );
}
