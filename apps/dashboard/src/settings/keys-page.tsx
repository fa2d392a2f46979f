import type { ApiKey } from "@lanthorn/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { type Command, useCommands } from "../keyboard/commands.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { Icon } from "../parts/icon.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import { useSession } from "../session/use-session.ts";
import { Answer, Empty } from "../states/answer.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { count } from "../texts/count.ts";
import { Foreign, showForeign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { KeyDialog } from "./key-dialog.tsx";
import styles from "./keys-page.module.css";

/** Of a key that may do much, the first scopes; the others are counted. */
const MAX_SCOPES = 6;

/** API keys: what each may do, when it was used last, and its end. */
export function KeysPage() {
  const { rest } = useSession();
  const keys = useQuery({ queryKey: ["keys"], queryFn: () => rest.listApiKeys({ per_page: 1000 }) });
  const [dialog, setDialog] = useState<"create" | ApiKey | null>(null);
  useCommands(useMemo((): readonly Command[] => [
    { id: "create key", title: "Make an API key", group: "This page", keys: "n", run: () => setDialog("create") },
  ], []));
  return (
    <Page
      trail="Settings" title="API keys" note="For programs: sent as X-API-Key. A key may do what its scopes say, as far as its maker still may."
      actions={<Button kind="primary" onClick={() => setDialog("create")}><Icon name="plus" />Make a key</Button>}
    >
      {dialog === "create" && <KeyDialog onClose={() => setDialog(null)} />}
      {dialog !== null && dialog !== "create" && <RevokeDialog apiKey={dialog} onClose={() => setDialog(null)} />}
      <Panel title={keys.data ? count(keys.data.meta.total, "key") : "Keys"} isFlush>
        <Answer query={keys}>
          {({ data }) => (data.length === 0 ? <Empty title="No keys yet">Make one for a script or a tool.</Empty> : <KeysTable keys={data} onRevoke={setDialog} />)}
        </Answer>
      </Panel>
    </Page>
  );
}

function KeysTable({ keys, onRevoke }: { readonly keys: readonly ApiKey[]; readonly onRevoke: (key: ApiKey) => void }) {
  return (
    <Table heads={["Name", "Scopes", "Made by", "Last used", "Ends", "Action"]}>
      {keys.map((key) => (
        <tr key={key.id}>
          <td><strong><Foreign text={key.name} longest={80} /></strong><br /><code>{key.hint}…</code></td>
          <td className={styles["scopes"]}>{key.scopes.slice(0, MAX_SCOPES).map((scope) => <code key={scope}>{scope}</code>)}{key.scopes.length > MAX_SCOPES && ` +${key.scopes.length - MAX_SCOPES}`}</td>
          <td><Foreign text={key.created_by.username} longest={60} /></td>
          <td><Moment at={key.last_used_at} /></td>
          <td>{key.expires_at === null ? "no end" : <Moment at={key.expires_at} />}</td>
          <td><Button kind="danger" onClick={() => onRevoke(key)} aria-label={`Revoke ${showForeign(key.name, 60)}`}>Revoke</Button></td>
        </tr>
      ))}
    </Table>
  );
}

function RevokeDialog({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => rest.revokeApiKey(apiKey.id),
    onSuccess() {
      void queries.invalidateQueries({ queryKey: ["keys"] });
      onClose();
    },
  });
  return (
    <Dialog title="Revoke this key?" onClose={onClose}>
      <div className={form["form"]}>
        <p>What uses <strong><Foreign text={apiKey.name} longest={80} /></strong> is refused from now on. This cannot be undone.</p>
        {revoke.isError && <ErrorNote error={revoke.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose} data-first>Keep it</Button><Button kind="danger" onClick={() => revoke.mutate()} disabled={revoke.isPending}>Revoke</Button>
        </div>
      </div>
    </Dialog>
  );
}
