import type { IdsRuleset, IdsSupport } from "@lanthorn/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useMemo, useState } from "react";
import { type Command, useCommands } from "../keyboard/commands.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { Icon } from "../parts/icon.tsx";
import { Mark } from "../parts/mark.tsx";
import { Panel } from "../parts/page.tsx";
import { withForm } from "../parts/with-form.ts";
import { Table } from "../fields/table.tsx";
import styles from "../sensors/sensors.module.css";
import { RemoveButton } from "../states/removal.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { Answer, Empty } from "../states/answer.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { Foreign, showForeign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";

/** Where rules come from, and what of them probes can run. */
export function Rulesets({ siteId }: { readonly siteId: string | undefined }) {
  const { rest } = useSession();
  const mayWrite = useMay("sensors:write");
  const [isAdding, setAdding] = useState(false);
  const sets = useQuery({ queryKey: ["ids", "rulesets"], queryFn: () => rest.listIdsRulesets({ per_page: 1000 }) });
  const support = useQuery({ queryKey: ["ids", "support", siteId], queryFn: () => rest.readIdsSupport({ site_id: siteId }) });
  useCommands(useMemo((): readonly Command[] => (mayWrite ? [
    { id: "add ruleset", title: "Add a rule set", group: "This page", keys: "n", run: () => setAdding(true) },
  ] : []), [mayWrite]));
  return (
    <Panel title="Rule sets" isFlush actions={mayWrite && <Button kind="primary" onClick={() => setAdding(true)}><Icon name="plus" />Add a rule set</Button>}>
      {isAdding && <RulesetDialog onClose={() => setAdding(false)} />}
      <Answer query={sets}>
        {({ data }) => (data.length === 0 ? <Empty title="No rule set yet">None is shipped. Add one by its URL, as its publisher gives it.</Empty> : (
          <Table heads={["Rule set", "State", "Rules", "Checked", mayWrite && "Action"]}>{data.map((set) => <RulesetRow key={set.id} set={set} support={support.data} mayWrite={mayWrite} />)}</Table>
        ))}
      </Answer>
      {support.data?.probes.filter(({ bundle_error: error }) => error !== null).map(({ probe_id: id, name, bundle_error: error }) => (
        <p key={id} className={`${styles["note"]} ${styles["warning"]}`}><Foreign text={name} longest={60} /> does not use the newest rules: <Foreign text={error ?? ""} /></p>
      ))}
    </Panel>
  );
}

function RulesetRow({ set, support, mayWrite }: { readonly set: IdsRuleset; readonly support: IdsSupport | undefined; readonly mayWrite: boolean }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const act = useMutation({
    mutationFn: (what: "update" | "switch") => (what === "update" ? rest.fetchIdsRuleset(set.id) : rest.updateIdsRuleset(set.id, { enabled: !set.enabled })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["ids"] }),
  });
  const own = support?.rulesets.find(({ ruleset_id: id }) => id === set.id);
  return (
    <tr>
      <td className={styles["name"]}><strong><Foreign text={set.name} longest={80} /></strong><br /><span className={styles["soft"]}><Foreign text={set.url ?? set.file ?? "sent by hand"} longest={140} /></span></td>
      <td>{set.error !== null ? <><Mark tone="bad">failed</Mark><p className={styles["fault"]}><Foreign text={set.error} /></p></> : <Mark tone={set.enabled ? "good" : "calm"}>{set.enabled ? (set.active === null ? "waiting" : "used") : "off"}</Mark>}</td>
      <td>{set.active === null ? "–" : <>{set.active.enabled.toLocaleString("en")} on of {set.active.rules.toLocaleString("en")}{own !== undefined && own.refused > 0 && <><br /><span className={styles["soft"]}>{own.refused.toLocaleString("en")} cannot be run</span></>}</>}</td>
      <td><Moment at={set.checked_at} /></td>
      {mayWrite && (
        <td>
          <span className={styles["actions"]}>
            {set.kind !== "local" && <Button onClick={() => act.mutate("update")} disabled={act.isPending} aria-label={`Update now: ${showForeign(set.name, 60)}`}>Update now</Button>}
            <Button onClick={() => act.mutate("switch")} disabled={act.isPending} aria-label={`Turn ${set.enabled ? "off" : "on"}: ${showForeign(set.name, 60)}`}>Turn {set.enabled ? "off" : "on"}</Button>
            <RemoveButton of={set.name} then="Its rules do not count any more." keys={["ids"]} remove={() => rest.deleteIdsRuleset(set.id)} />
          </span>
          {act.isError && <ErrorNote error={act.error} />}
        </td>
      )}
    </tr>
  );
}

function RulesetDialog({ onClose }: { readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const ids = { name: useId(), url: useId() };
  const create = useMutation({
    mutationFn: ({ name = "", url = "" }: Readonly<Record<string, string>>) => rest.createIdsRuleset({ name, url }),
    onSuccess() {
      void queries.invalidateQueries({ queryKey: ["ids"] });
      onClose();
    },
  });
  const submit = withForm(create.mutate);
  return (
    <Dialog title="Add a rule set" onClose={onClose}>
      <form className={form["form"]} onSubmit={submit}>
        <label htmlFor={ids.name}>Name</label>
        <input id={ids.name} name="name" required maxLength={100} placeholder="Open rules" />
        <label htmlFor={ids.url}>URL</label>
        <input id={ids.url} name="url" type="url" required maxLength={2048} placeholder="https://rules.example.org/open.tar.gz" />
        <p>It is downloaded now and once a day. A version with less than half of the rules is held back.</p>
        {create.isError && <ErrorNote error={create.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={create.isPending}>Add</Button>
        </div>
      </form>
    </Dialog>
  );
}
