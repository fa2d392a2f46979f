import type { ApiKeyCreate, Me } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { clock } from "../clock.ts";
import { Button } from "../parts/button.tsx";
import { CopyText } from "../parts/copy-text.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { withForm } from "../parts/with-form.ts";
import { useCaller, useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";
import styles from "./keys-page.module.css";

type Scopes = Me["scopes"];

const DAYS = { 30: "30 days", 90: "90 days", 365: "a year", 0: "no end" };
const DAY_MS = 86_400_000;

/** Makes a key with some of the caller's own scopes, and shows it this once. */
export function KeyDialog({ onClose }: { readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const own = useCaller().data?.scopes ?? [];
  const [scopes, setScopes] = useState<Scopes>([]);
  const ids = { name: useId(), days: useId() };
  const create = useMutation({
    mutationFn: (body: ApiKeyCreate) => rest.createApiKey(body),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["keys"] }),
  });
  const submit = withForm(({ name = "", days = "90" }) => {
    create.mutate({ name, scopes, expires_at: days === "0" ? null : new Date(clock.now() + Number(days) * DAY_MS).toISOString() });
  });
  if (create.data) return <Made apiKey={create.data.key} onClose={onClose} />;
  return (
    <Dialog title="Make an API key" onClose={onClose}>
      <form className={form["form"]} onSubmit={submit}>
        <label htmlFor={ids.name}>Name</label>
        <input id={ids.name} name="name" required maxLength={255} placeholder="inventory sync" />
        <label htmlFor={ids.days}>Good for</label>
        <select id={ids.days} name="days" defaultValue="90">{Object.entries(DAYS).map(([days, text]) => <option key={days} value={days}>{text}</option>)}</select>
        <fieldset className={styles["groups"]} tabIndex={0}>
          <legend>What it may do</legend>
          {own.map((scope) => (
            <label key={scope}>
              <input
                type="checkbox" checked={scopes.includes(scope)}
                onChange={(event) => setScopes(event.target.checked ? [...scopes, scope] : scopes.filter((each) => each !== scope))}
              />{scope}
            </label>
          ))}
        </fieldset>
        <div className={styles["presets"]}>
          <Button onClick={() => setScopes(own.filter((scope) => scope.endsWith(":read")))}>All that read</Button><Button onClick={() => setScopes([])}>None</Button>
        </div>
        {create.isError && <ErrorNote error={create.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={create.isPending || scopes.length === 0}>Make the key</Button>
        </div>
      </form>
    </Dialog>
  );
}

function Made({ apiKey, onClose }: { readonly apiKey: string; readonly onClose: () => void }) {
  return (
    <Dialog title="The key" onClose={onClose}>
      <div className={form["form"]}>
        <p>It is shown only now: store it where your program finds it.</p>
        <CopyText label="The key" text={apiKey} />
        <div className={form["actions"]}><Button kind="primary" onClick={onClose}>I have stored it</Button></div>
      </div>
    </Dialog>
  );
}
