import type { Backup } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { withForm } from "../parts/with-form.ts";
import { useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";

/** Has a backup's file looked at: its checksum, or with the private key a restore on trial. */
export function VerifyDialog({ backup, onClose }: { readonly backup: Backup; readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const id = useId();
  const verify = useMutation({
    mutationFn: (key: string) => rest.verifyBackup(backup.id, key === "" ? {} : { secret_key: key }),
    onSuccess() {
      void queries.invalidateQueries({ queryKey: ["backups"] });
      onClose();
    },
  });
  const submit = withForm(({ key = "" }) => verify.mutate(key.trim()));
  return (
    <Dialog title="Verify this backup" onClose={onClose}>
      <form className={form["form"]} onSubmit={submit} autoComplete="off">
        <label htmlFor={id}>Private key</label>
        <input id={id} name="key" type="password" autoComplete="off" maxLength={1024} placeholder="AGE-SECRET-KEY-1…" />
        <p>With it the backup is restored into a scratch database and its rows are counted; the key is not stored. Without it only the file's checksum is compared.</p>
        {verify.isError && <ErrorNote error={verify.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={verify.isPending}>Look at it</Button>
        </div>
      </form>
    </Dialog>
  );
}
