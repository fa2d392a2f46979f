import type { IdsRule } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { withForm } from "../parts/with-form.ts";
import { useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";
import { Foreign } from "../texts/foreign.tsx";

/** Has a rule count no longer, or again, with a reason for later readers. @param props.siteId Only at this site. */
export function OverrideDialog({ rule, siteId, onClose }: { readonly rule: IdsRule; readonly siteId: string | undefined; readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const id = useId();
  const isEnabled = rule.state === "enabled";
  const create = useMutation({
    mutationFn: (reason: string) => rest.createIdsOverride({
      kind: "signature", value: `${rule.generator_id}:${rule.signature_id}`, state: isEnabled ? "disabled" : "enabled", reason, site_id: siteId,
    }),
    onSuccess() {
      void queries.invalidateQueries({ queryKey: ["ids"] });
      onClose();
    },
  });
  const submit = withForm(({ reason = "" }) => create.mutate(reason));
  return (
    <Dialog title={`${isEnabled ? "Disable" : "Enable"} rule ${rule.signature_id}`} onClose={onClose}>
      <form className={form["form"]} onSubmit={submit}>
        <p><Foreign text={rule.signature} longest={200} /></p>
        <label htmlFor={id}>Why</label>
        <input id={id} name="reason" required maxLength={255} placeholder="Normal for our backup software" />
        <p>{siteId === undefined ? "At every site." : "At the chosen site alone."} Probes get it within a minute.</p>
        {create.isError && <ErrorNote error={create.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={create.isPending}>{isEnabled ? "Disable" : "Enable"}</Button>
        </div>
      </form>
    </Dialog>
  );
}
