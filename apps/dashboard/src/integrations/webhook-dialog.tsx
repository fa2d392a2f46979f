import { WEBHOOK_EVENTS, type WebhookCreate } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Button } from "../parts/button.tsx";
import { CopyText } from "../parts/copy-text.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { withForm } from "../parts/with-form.ts";
import { useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";
import styles from "./integrations-page.module.css";

type Events = WebhookCreate["events"];

/** Adds a webhook; its key is made by the collector and shown this once. */
export function WebhookDialog({ onClose }: { readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const id = useId();
  const [events, setEvents] = useState<Events>([]);
  const create = useMutation({
    mutationFn: (url: string) => rest.createWebhook({ url, events: events.length === 0 ? ["*"] : events }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["webhooks"] }),
  });
  const submit = withForm(({ url = "" }) => create.mutate(url));
  if (create.data) {
    return (
      <Dialog title="The signing key" onClose={onClose}>
        <div className={form["form"]}>
          <p>It is shown only now. Your receiver checks X-Service-Signature with it.</p>
          <CopyText label="The signing key" text={create.data.secret ?? ""} />
          <div className={form["actions"]}><Button kind="primary" onClick={onClose}>I have stored it</Button></div>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Add a webhook" onClose={onClose}>
      <form className={form["form"]} onSubmit={submit}>
        <label htmlFor={id}>URL</label>
        <input id={id} name="url" type="url" required maxLength={2048} placeholder="https://tickets.example.org/lanthorn" />
        <fieldset className={styles["choices"]}>
          <legend>Events; none chosen is every event, those of later versions too</legend>
          {WEBHOOK_EVENTS.map((name) => (
            <label key={name}>
              <input type="checkbox" checked={events.includes(name)} onChange={(event) => setEvents(event.target.checked ? [...events, name] : events.filter((each) => each !== name))} />{name}
            </label>
          ))}
        </fieldset>
        {create.isError && <ErrorNote error={create.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={create.isPending}>Add</Button>
        </div>
      </form>
    </Dialog>
  );
}
