import { type Alert, type AlertBulkChange, type AlertFilter, formatAlertFilter } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { withForm } from "../parts/with-form.ts";
import { useSession } from "../session/use-session.ts";
import { BulkDone } from "../states/bulk-done.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { count } from "../texts/count.ts";
import { showForeign } from "../texts/foreign.tsx";
import { muteEnd, MuteTimes } from "./mute-times.tsx";

/** The alerts that are changed: all that a filter leaves, as many as the list counts, or one. */
export type Changing = { readonly filter: AlertFilter; readonly total: number } | { readonly id: string; readonly status: Alert["status"] };

const ACTS = { acknowledged: "Acknowledge: somebody works on it", resolved: "Resolve: it is over", muted: "Mute each: nobody is called" } as const;
/** What can be done of alerts in a state, where all are in it; of others, what can be done of some. */
const NEXT: Readonly<Record<string, keyof typeof ACTS>> = { acknowledged: "resolved", resolved: "muted" };

/** Acknowledges, resolves or mutes alerts, with a note for who reads their history; none where other ones match by now. */
export function BulkDialog({ of, onClose }: { readonly of: Changing; readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const ids = { act: useId(), hours: useId(), note: useId() };
  const [act, setAct] = useState<string>(NEXT[("id" in of ? of.status : of.filter.status) ?? ""] ?? "acknowledged");
  const whom = "id" in of ? { ids: [of.id] } : { filter: formatAlertFilter(of.filter) };
  const total = "id" in of ? 1 : of.total;
  const change = useMutation({
    mutationFn: (wanted: AlertBulkChange) => rest.changeAlerts({ ...whom, expected_count: total, change: wanted }),
    onSettled() {
      for (const key of ["alerts", "alert"]) void queries.invalidateQueries({ queryKey: [key] });
    },
  });
  if (change.data) return <BulkDone result={change.data} hasNote={change.variables.note !== ""} onClose={onClose} />;
  const counted = count(total, "alert");
  const submit = withForm(({ hours = "8", note = "" }) => change.mutate(
    act === "muted" ? { muted_until: muteEnd(hours), note } : { status: act === "resolved" ? "resolved" : "acknowledged", note },
  ));
  return (
    <Dialog title={`Change ${counted}`} onClose={onClose}>
      <form className={form["form"]} onSubmit={submit}>
        {"filter" in whom && <p>All that the filter leaves: <code>{showForeign(whom.filter, 300)}</code></p>}
        <label htmlFor={ids.act}>What is done</label>
        <select id={ids.act} value={act} onChange={(event) => setAct(event.target.value)}>{Object.entries(ACTS).map(([each, text]) => <option key={each} value={each}>{text}</option>)}</select>
        {act === "muted" && <><label htmlFor={ids.hours}>For</label><select id={ids.hours} name="hours" defaultValue="8"><MuteTimes /></select></>}
        <label htmlFor={ids.note}>Note</label>
        <input id={ids.note} name="note" maxLength={1024} placeholder="what was found, ticket 4711" autoComplete="off" />
        {change.isError && <ErrorNote error={change.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={change.isPending}>Change {counted}</Button>
        </div>
      </form>
    </Dialog>
  );
}
