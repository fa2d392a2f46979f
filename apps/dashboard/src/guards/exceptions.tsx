import { GUARD_KINDS, type GuardExceptionCreate, type GuardKind } from "@lanthorn/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useMemo, useState } from "react";
import { type Command, useCommands } from "../keyboard/commands.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { Icon } from "../parts/icon.tsx";
import { Panel } from "../parts/page.tsx";
import { withForm } from "../parts/with-form.ts";
import { Table } from "../fields/table.tsx";
import { RemoveButton } from "../states/removal.tsx";
import styles from "../sensors/sensors.module.css";
import { useMay, useSession } from "../session/use-session.ts";
import { Answer, Nothing } from "../states/answer.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { words } from "../texts/words.ts";

/** What is right at a site though a guard would report it. */
export function Exceptions({ siteId }: { readonly siteId: string }) {
  const { rest } = useSession();
  const mayWrite = useMay("alerts:write");
  const [isAdding, setAdding] = useState(false);
  const exceptions = useQuery({ queryKey: ["guards", siteId, "exceptions"], queryFn: () => rest.listGuardExceptions(siteId, { per_page: 1000 }) });
  useCommands(useMemo((): readonly Command[] => (mayWrite ? [
    { id: "add exception", title: "Add an exception for guards", group: "This page", keys: "n", run: () => setAdding(true) },
  ] : []), [mayWrite]));
  return (
    <Panel title="Exceptions" isFlush actions={mayWrite && <Button onClick={() => setAdding(true)}><Icon name="plus" />Add an exception</Button>}>
      {isAdding && <ExceptionDialog siteId={siteId} onClose={() => setAdding(false)} />}
      <Answer query={exceptions}>
        {({ data }) => (data.length === 0 ? <Nothing>None: everything is reported.</Nothing> : (
          <Table heads={["What is not reported", "Why", "Ends", mayWrite && "Action"]}>
            {data.map((one) => {
              const text = [one.kind === null ? "anything" : words(one.kind), one.ip, one.mac].filter((part) => part !== null).join(" · ");
              return (
                <tr key={one.id}>
                  <td className={styles["name"]}>{text}</td>
                  <td><Foreign text={one.reason} /><br /><span className={styles["soft"]}><Foreign text={one.created_by} longest={60} />, <Moment at={one.created_at} /></span></td>
                  <td>{one.expires_at === null ? "no end" : <Moment at={one.expires_at} />}</td>
                  {mayWrite && <td><RemoveButton of={text} then="It is reported again." keys={["guards"]} remove={() => rest.deleteGuardException(siteId, one.id)} /></td>}
                </tr>
              );
            })}
          </Table>
        ))}
      </Answer>
    </Panel>
  );
}

function ExceptionDialog({ siteId, onClose }: { readonly siteId: string; readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const ids = { kind: useId(), ip: useId(), mac: useId(), reason: useId() };
  const create = useMutation({
    mutationFn: (body: GuardExceptionCreate) => rest.createGuardException(siteId, body),
    onSuccess() {
      void queries.invalidateQueries({ queryKey: ["guards"] });
      onClose();
    },
  });
  const submit = withForm(({ kind = "", ip = "", mac = "", reason = "" }) => {
    create.mutate({ ...(kind !== "" && { kind: kind as GuardKind }), ...(ip.trim() !== "" && { ip: ip.trim() }), ...(mac.trim() !== "" && { mac: mac.trim() }), reason });
  });
  return (
    <Dialog title="Add an exception" onClose={onClose}>
      <form className={form["form"]} onSubmit={submit}>
        <p>What fits every part that is given is right, and not reported. At least one is needed.</p>
        <label htmlFor={ids.kind}>What</label>
        <select id={ids.kind} name="kind"><option value="">anything</option>{GUARD_KINDS.map((kind) => <option key={kind} value={kind}>{words(kind)}</option>)}</select>
        <label htmlFor={ids.ip}>IP address or network</label>
        <input id={ids.ip} name="ip" maxLength={64} spellCheck={false} placeholder="any" />
        <label htmlFor={ids.mac}>MAC address</label>
        <input id={ids.mac} name="mac" maxLength={32} spellCheck={false} placeholder="any" />
        <label htmlFor={ids.reason}>Why it is right</label>
        <input id={ids.reason} name="reason" required maxLength={255} placeholder="Our vulnerability scanner" />
        {create.isError && <ErrorNote error={create.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={create.isPending}>Add</Button>
        </div>
      </form>
    </Dialog>
  );
}
