import type { Alert } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { withForm } from "../parts/with-form.ts";
import { useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";
import { kindName } from "../texts/words.ts";
import { muteEnd, MuteTimes } from "./mute-times.tsx";

/** Mutes what the alert is about, until a moment and with a reason. */
export function MuteDialog({ alert, onClose }: { readonly alert: Alert; readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const ids = { hours: useId(), reason: useId(), reach: useId() };
  const mute = useMutation({
    mutationFn: ({ hours = "8", reason = "", reach }: Readonly<Record<string, string>>) => rest.createAlertMute({
      type: alert.type, reason, ...(reach === "subject" ? { subject: alert.subject } : {}), ...(alert.site_id === null ? {} : { site_id: alert.site_id }),
      expires_at: muteEnd(hours),
    }),
    onSuccess() {
      void queries.invalidateQueries({ queryKey: ["alerts"] });
      void queries.invalidateQueries({ queryKey: ["alert", alert.id] });
      onClose();
    },
  });
  const submit = withForm(mute.mutate);
  return (
    <Dialog title="Mute alerts like this" onClose={onClose}>
      <form className={form["form"]} onSubmit={submit}>
        <p>Muted alerts are counted and listed, but nobody is called.</p>
        <label htmlFor={ids.reach}>Which</label>
        <select id={ids.reach} name="reach">
          <option value="subject">{kindName(alert.type)}, about this subject at this site</option><option value="type">{kindName(alert.type)}, about anything at this site</option>
        </select>
        <label htmlFor={ids.hours}>For</label>
        <select id={ids.hours} name="hours" defaultValue="8"><MuteTimes /></select>
        <label htmlFor={ids.reason}>Why</label>
        <input id={ids.reason} name="reason" maxLength={1024} placeholder="moving the server, ticket 4711" />
        {mute.isError && <ErrorNote error={mute.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={mute.isPending}>Mute</Button>
        </div>
      </form>
    </Dialog>
  );
}
