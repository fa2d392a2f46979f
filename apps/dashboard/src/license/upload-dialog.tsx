import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { withForm } from "../parts/with-form.ts";
import { useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";

/** Takes a license as its issuer sent it, in place of the one that is there. */
export function UploadDialog({ onClose }: { readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const id = useId();
  const upload = useMutation({
    mutationFn: (license: string) => rest.uploadLicense({ license }),
    onSuccess(answer) {
      queries.setQueryData(["license"], answer);
      onClose();
    },
  });
  return (
    <Dialog title="Upload a license" onClose={onClose}>
      <form className={form["form"]} onSubmit={withForm(({ license = "" }) => upload.mutate(license))}>
        <label htmlFor={id}>License</label>
        <textarea id={id} name="license" required maxLength={8192} rows={6} spellCheck={false} autoComplete="off" />
        <p>The text as its issuer sent it: three parts with dots between them. It replaces the one that is there.</p>
        {upload.isError && <ErrorNote error={upload.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={upload.isPending}>Upload</Button>
        </div>
      </form>
    </Dialog>
  );
}
