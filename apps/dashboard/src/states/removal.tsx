import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { ErrorNote } from "./error-note.tsx";
import { showForeign } from "../texts/foreign.tsx";

/** Removes something after it was asked whether it should. @param props.of Its name. @param props.then What is so from then on. */
export function RemoveButton({ of, then, keys, remove }: {
  readonly of: string; readonly then: string; readonly keys: readonly string[]; readonly remove: () => Promise<unknown>;
}) {
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const act = useMutation({
    mutationFn: remove,
    onSuccess() {
      void queries.invalidateQueries({ queryKey: keys });
      setOpen(false);
    },
  });
  return (
    <>
      <Button kind="danger" onClick={() => setOpen(true)} aria-label={`Remove ${showForeign(of, 60)}`}>Remove</Button>
      {isOpen && (
        <Dialog title={`Remove ${showForeign(of, 60)}?`} onClose={() => setOpen(false)}>
          <div className={form["form"]}>
            <p>{then}</p>
            {act.isError && <ErrorNote error={act.error} />}
            <div className={form["actions"]}>
              <Button onClick={() => setOpen(false)} data-first>Keep it</Button><Button kind="danger" onClick={() => act.mutate()} disabled={act.isPending}>Remove</Button>
            </div>
          </div>
        </Dialog>
      )}
    </>
  );
}
