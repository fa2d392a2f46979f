import type { Baseline, BaselineApprove } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { withForm } from "../parts/with-form.ts";
import { useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";
import { showForeign } from "../texts/foreign.tsx";

/** Says that a baseline is right: as it is, or with what differs now. */
export function ApproveDialog({ baseline, onClose }: { readonly baseline: Baseline; readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const ids = { take: useId(), reason: useId() };
  const approve = useMutation({
    mutationFn: (body: BaselineApprove) => rest.approveBaseline(baseline.id, body),
    onSuccess() {
      void queries.invalidateQueries({ queryKey: ["baselines"] });
      onClose();
    },
  });
  const submit = withForm(({ reason = "", take }) => {
    approve.mutate({ ...(reason === "" ? {} : { reason }), take_differences: take === "take", devices: false });
  });
  return (
    <Dialog title={`Approve ${showForeign(baseline.name, 60)}`} onClose={onClose}>
      <form className={form["form"]} onSubmit={submit}>
        <label htmlFor={ids.take}>What differs now ({baseline.open_differences.toLocaleString("en")})</label>
        <select id={ids.take} name="take"><option value="leave">stays a difference</option><option value="take">becomes part of the baseline</option></select>
        <label htmlFor={ids.reason}>Reason</label>
        <input id={ids.reason} name="reason" maxLength={255} placeholder="Looked at with the owner" />
        {approve.isError && <ErrorNote error={approve.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={approve.isPending}>Approve</Button>
        </div>
      </form>
    </Dialog>
  );
}
