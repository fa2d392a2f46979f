import type { AnomalyDetails, AnomalyFeedbackCreate } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { withForm } from "../parts/with-form.ts";
import { useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";
import { showForeign } from "../texts/foreign.tsx";

/** Says that what a device did is normal, for it or for all like it. */
export function NormalDialog({ anomaly, onClose }: { readonly anomaly: AnomalyDetails; readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const ids = { scope: useId(), reason: useId() };
  const say = useMutation({
    mutationFn: (body: AnomalyFeedbackCreate) => rest.createAnomalyFeedback(anomaly.id, body),
    onSuccess() {
      void queries.invalidateQueries({ queryKey: ["anomalies"] });
      onClose();
    },
  });
  const submit = withForm(({ scope = "device", reason = "" }) => {
    say.mutate({ scope: scope === "group" ? "group" : "device", reason });
  });
  return (
    <Dialog title="This is normal" onClose={onClose}>
      <form className={form["form"]} onSubmit={submit}>
        <label htmlFor={ids.scope}>For whom</label>
        <select id={ids.scope} name="scope">
          <option value="device">this device ({showForeign(anomaly.ip || anomaly.device, 60)})</option>
          {anomaly.group !== "" && <option value="group">all devices like it ({showForeign(anomaly.group, 60)})</option>}
        </select>
        <label htmlFor={ids.reason}>Why</label>
        <input id={ids.reason} name="reason" maxLength={255} placeholder="Nightly backup" />
        <p>Anomalies of this kind raise no alert any more. It can be taken back.</p>
        {say.isError && <ErrorNote error={say.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={say.isPending}>Say so</Button>
        </div>
      </form>
    </Dialog>
  );
}
