import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { withForm } from "../parts/with-form.ts";
import { useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";

/** Makes a site of a name. */
export function SiteDialog({ onClose }: { readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const id = useId();
  const create = useMutation({
    mutationFn: (name: string) => rest.createSite({ name }),
    onSuccess() {
      void queries.invalidateQueries({ queryKey: ["sites"] });
      onClose();
    },
  });
  const submit = withForm(({ name = "" }) => create.mutate(name));
  return (
    <Dialog title="Add a site" onClose={onClose}>
      <form className={form["form"]} onSubmit={submit}>
        <label htmlFor={id}>Name</label>
        <input id={id} name="name" required maxLength={255} placeholder="Store 12" />
        {create.isError && <ErrorNote error={create.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={create.isPending}>Add</Button>
        </div>
      </form>
    </Dialog>
  );
}
