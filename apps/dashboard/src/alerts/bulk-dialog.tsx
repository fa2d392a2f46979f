import { type AlertBulkChange, type AlertFilter, formatAlertFilter } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { withForm } from "../parts/with-form.ts";
import { useSession } from "../session/use-session.ts";
import { BulkDone } from "../states/bulk-done.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { showForeign } from "../texts/foreign.tsx";

/** Acknowledges or resolves all alerts that the filter leaves: as many as the list counts, or none where others match by now. */
export function BulkDialog({ filter, total, onClose }: { readonly filter: AlertFilter; readonly total: number; readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const id = useId();
  const text = formatAlertFilter(filter);
  const act = useMutation({
    mutationFn: (change: AlertBulkChange) => rest.changeAlerts({ filter: text, expected_count: total, change }),
    onSettled() {
      void queries.invalidateQueries({ queryKey: ["alerts"] });
      void queries.invalidateQueries({ queryKey: ["alert"] });
    },
  });
  if (act.data) return <BulkDone result={act.data} onClose={onClose} />;
  const count = `${total.toLocaleString("en")} ${total === 1 ? "alert" : "alerts"}`;
  return (
    <Dialog title={`Change ${count}`} onClose={onClose}>
      <form className={form["form"]} onSubmit={withForm(({ status }) => act.mutate({ status: status === "resolved" ? "resolved" : "acknowledged" }))}>
        <p>All that the filter leaves: <code>{showForeign(text, 300)}</code></p>
        <label htmlFor={id}>What is done</label>
        <select id={id} name="status" defaultValue="acknowledged">
          <option value="acknowledged">Acknowledge: somebody works on it</option>
          <option value="resolved">Resolve: it is over</option>
        </select>
        {act.isError && <ErrorNote error={act.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={act.isPending}>Change {count}</Button>
        </div>
      </form>
    </Dialog>
  );
}
