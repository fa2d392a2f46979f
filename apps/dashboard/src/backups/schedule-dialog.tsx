import type { BackupSettings, BackupSettingsUpdate } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { withForm } from "../parts/with-form.ts";
import { useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";

/** When backups are made by themselves, and how many are kept. */
export function ScheduleDialog({ settings: { schedule, keep, fixed }, onClose }: { readonly settings: BackupSettings; readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const ids = { schedule: useId(), keep: useId() };
  const save = useMutation({
    mutationFn: (body: BackupSettingsUpdate) => rest.updateBackupSettings(body),
    onSuccess() {
      void queries.invalidateQueries({ queryKey: ["backups"] });
      onClose();
    },
  });
  const submit = withForm((fields) => {
    save.mutate({
      ...(fixed.includes("schedule") ? {} : { schedule: fields["schedule"]?.trim() || null }),
      ...(fixed.includes("keep") ? {} : { keep: Number(fields["keep"]) }),
    });
  });
  return (
    <Dialog title="When backups are made" onClose={onClose}>
      <form className={form["form"]} onSubmit={submit}>
        <label htmlFor={ids.schedule}>Schedule</label>
        <input id={ids.schedule} name="schedule" defaultValue={schedule ?? ""} maxLength={100} placeholder="30 3 * * *" disabled={fixed.includes("schedule")} spellCheck={false} />
        <p>Minute, hour, day of month, month, day of week. Empty for none.</p>
        <label htmlFor={ids.keep}>How many are kept</label>
        <input id={ids.keep} name="keep" type="number" min={1} max={10_000} required defaultValue={keep} disabled={fixed.includes("keep")} />
        {fixed.length > 0 && <p>The collector's configuration file sets: {fixed.join(", ")}. It is changed there.</p>}
        {save.isError && <ErrorNote error={save.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={save.isPending || fixed.length === 2}>Save</Button>
        </div>
      </form>
    </Dialog>
  );
}
