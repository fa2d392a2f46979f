import type { Webhook } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { type Command, useCommands } from "../keyboard/commands.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Mark } from "../parts/mark.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { Answer, Empty } from "../states/answer.tsx";
import { count } from "../texts/count.ts";
import { Foreign, showForeign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { Deliveries } from "./deliveries.tsx";
import styles from "./integrations-page.module.css";
import { Verification } from "./verification.tsx";
import { WebhookDialog } from "./webhook-dialog.tsx";

/** Webhooks, what was delivered to each, and how a receiver checks the signature. */
export function IntegrationsPage() {
  const { rest } = useSession();
  const webhooks = useQuery({ queryKey: ["webhooks"], queryFn: () => rest.listWebhooks({ per_page: 1000 }) });
  const mayWrite = useMay("webhooks:write");
  const [isAdding, setAdding] = useState(false);
  const [chosenId, setChosenId] = useState<string | null>(null);
  const chosen = webhooks.data?.data.find(({ id }) => id === chosenId);
  useCommands(useMemo((): readonly Command[] => (mayWrite ? [
    { id: "add webhook", title: "Add a webhook", group: "This page", keys: "n", run: () => setAdding(true) },
  ] : []), [mayWrite]));
  return (
    <Page
      trail="Settings" title="Integrations" note="Webhooks: events are posted to your systems, signed, and tried five times."
      actions={mayWrite && <Button kind="primary" onClick={() => setAdding(true)}><Icon name="plus" />Add a webhook</Button>}
    >
      {isAdding && <WebhookDialog onClose={() => setAdding(false)} />}
      <Panel title={webhooks.data ? count(webhooks.data.meta.total, "webhook") : "Webhooks"} isFlush>
        <Answer query={webhooks}>
          {({ data }) => (data.length === 0 ? <Empty title="No webhooks yet">Add one to get alerts and findings into your own systems.</Empty> : (
            <WebhooksTable webhooks={data} chosen={chosenId} onChoose={setChosenId} />
          ))}
        </Answer>
      </Panel>
      {chosen !== undefined && <Deliveries key={chosen.id} webhook={chosen} mayWrite={mayWrite} />}
      <Panel title="How a receiver checks the signature"><Verification /></Panel>
    </Page>
  );
}

function WebhooksTable({ webhooks, chosen, onChoose }: {
  readonly webhooks: readonly Webhook[]; readonly chosen: string | null; readonly onChoose: (id: string) => void;
}) {
  return (
    <Table heads={["URL", "State", "Events", "Last delivery", "Action"]}>
      {webhooks.map(({ id, url, active, status, events, last_delivery_at: at }) => (
        <tr key={id} data-chosen={id === chosen}>
          <td className={styles["url"]}><Foreign text={url} longest={120} /></td>
          <td><Mark tone={!active ? "calm" : status === "failing" ? "bad" : "good"}>{active ? status : "inactive"}</Mark></td>
          <td className={styles["events"]}>{events.map((event) => <code key={event}>{event === "*" ? "every event" : event}</code>)}</td>
          <td><Moment at={at} /></td>
          <td><Button onClick={() => onChoose(id)} aria-pressed={id === chosen} aria-label={`Show deliveries to ${showForeign(url, 60)}`}>Deliveries</Button></td>
        </tr>
      ))}
    </Table>
  );
}
