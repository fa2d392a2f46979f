import type { Credential } from "@lanthorn/contract";
import { useMutation } from "@tanstack/react-query";
import { Button } from "../parts/button.tsx";
import { CopyText } from "../parts/copy-text.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";
import { Foreign } from "../texts/foreign.tsx";
import { words } from "../texts/words.ts";

/** Shows a credential's secret after it was said that this is recorded. Nothing keeps it when the dialog is closed. */
export function RevealDialog({ credential, onClose }: { readonly credential: Credential; readonly onClose: () => void }) {
  const { rest } = useSession();
  // Without a cache: what is not shown any more is not in memory either.
  const reveal = useMutation({ mutationFn: () => rest.revealCredential(credential.id), gcTime: 0 });
  const parts = Object.entries(reveal.data?.secret ?? {});
  return (
    <Dialog title={reveal.data ? "The secret" : "Reveal this secret?"} onClose={onClose}>
      <div className={form["form"]}>
        {reveal.data === undefined ? <p>The audit log keeps that you have seen the secret of <strong><Foreign text={credential.name} longest={80} /></strong>.</p> : (
          <>
            {parts.length === 0 && <p>It has no secret.</p>}
            {parts.map(([name, text]) => <div key={name}><p><strong>{words(name)}</strong></p><CopyText label={words(name)} text={text} /></div>)}
          </>
        )}
        {reveal.isError && <ErrorNote error={reveal.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose} data-first>{reveal.data ? "Close" : "Cancel"}</Button>
          {!reveal.data && <Button kind="primary" onClick={() => reveal.mutate()} disabled={reveal.isPending}>Reveal</Button>}
        </div>
      </div>
    </Dialog>
  );
}
