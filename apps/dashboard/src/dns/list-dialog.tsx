import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { withForm } from "../parts/with-form.ts";
import { useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";

const CATEGORIES = ["advertising", "malware", "phishing", "command-and-control", "legal", "other"];

/** Adds a block list by its URL; it is downloaded at once. */
export function DnsListDialog({ onClose }: { readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const ids = { name: useId(), url: useId(), category: useId(), categories: useId() };
  const create = useMutation({
    mutationFn: ({ name = "", url = "", category = "other" }: Readonly<Record<string, string>>) => rest.createDnsList({ name, url, category }),
    onSuccess() {
      void queries.invalidateQueries({ queryKey: ["dns"] });
      onClose();
    },
  });
  const submit = withForm(create.mutate);
  return (
    <Dialog title="Add a block list" onClose={onClose}>
      <form className={form["form"]} onSubmit={submit}>
        <label htmlFor={ids.name}>Name</label>
        <input id={ids.name} name="name" required maxLength={100} placeholder="Advertising" />
        <label htmlFor={ids.url}>URL</label>
        <input id={ids.url} name="url" type="url" required maxLength={2048} placeholder="https://lists.example.org/ads.txt" />
        <label htmlFor={ids.category}>What its names are</label>
        <input id={ids.category} name="category" required pattern="[a-z][a-z0-9\-]{0,63}" defaultValue="advertising" list={ids.categories} />
        <datalist id={ids.categories}>{CATEGORIES.map((name) => <option key={name} value={name} />)}</datalist>
        <p>It is downloaded now and once a day. A version that looks wrong is held back. The policy says whether its names are blocked or only observed.</p>
        {create.isError && <ErrorNote error={create.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={create.isPending}>Add</Button>
        </div>
      </form>
    </Dialog>
  );
}
