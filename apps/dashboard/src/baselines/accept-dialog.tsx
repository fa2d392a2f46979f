import type { BaselineAccept, BaselineDifference } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { withForm } from "../parts/with-form.ts";
import { useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";
import { Foreign } from "../texts/foreign.tsx";
import { words } from "../texts/words.ts";

/** Says that a difference is right, for its device or the whole site, and why. */
export function AcceptDialog({ difference, onClose }: { readonly difference: BaselineDifference; readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const ids = { for: useId(), reason: useId() };
  const accept = useMutation({
    mutationFn: (body: BaselineAccept) => rest.acceptBaselineDifference(difference.id, body),
    onSuccess() {
      void queries.invalidateQueries({ queryKey: ["baselines"] });
      onClose();
    },
  });
  const submit = withForm(({ reason = "", for: whom }) => {
    accept.mutate({ reason, for: whom === "device" ? "device" : "site" });
  });
  return (
    <Dialog title="Is this right?" onClose={onClose}>
      <form className={form["form"]} onSubmit={submit}>
        <p><Foreign text={`${difference.name}: ${words(difference.kind)} ${difference.key} is ${difference.observed || "gone"}`} longest={300} /></p>
        <label htmlFor={ids.reason}>Why it is right</label>
        <input id={ids.reason} name="reason" required maxLength={255} placeholder="New print server, ticket 4711" />
        <label htmlFor={ids.for}>For whom</label>
        <select id={ids.for} name="for">{difference.device_id !== null && <option value="device">this device</option>}<option value="site">the whole site</option></select>
        {accept.isError && <ErrorNote error={accept.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={accept.isPending}>Accept</Button>
        </div>
      </form>
    </Dialog>
  );
}
