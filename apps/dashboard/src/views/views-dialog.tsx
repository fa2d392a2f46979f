import type { View } from "@lanthorn/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { withForm } from "../parts/with-form.ts";
import { useMay, useSession } from "../session/use-session.ts";
import { useKeptPreferences, useUpdatePreferences } from "../shell/kept-preferences.ts";
import { Answer } from "../states/answer.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { RemoveButton } from "../states/removal.tsx";
import { Foreign, showForeign } from "../texts/foreign.tsx";
import { readView, type Shown, type Viewed } from "./views.ts";
import styles from "./views-dialog.module.css";

/** Saved views of a list: choose one, save what is shown as one, begin with one, remove one. */
export function ViewsDialog<Filter>({ of, now, onShow, onClose }: {
  readonly of: Viewed<Filter>; readonly now: Shown<Filter>; readonly onShow: (shown: Shown<Filter>) => void; readonly onClose: () => void;
}) {
  const { rest } = useSession();
  const views = useQuery({ queryKey: ["views", of.list], queryFn: () => rest.listViews({ list: of.list, per_page: 1000 }) });
  const show = (shown: Shown<Filter>) => {
    onShow(shown);
    onClose();
  };
  return (
    <Dialog title="Saved views" onClose={onClose}>
      <SaveForm of={of} now={now} />
      <div className={styles["views"]}>
        <Answer query={views}>
          {({ data }) => (data.length === 0 ? <p>No view is saved yet.</p> : <ul>{data.map((view) => <ViewRow key={view.id} of={of} view={view} onShow={show} />)}</ul>)}
        </Answer>
      </div>
    </Dialog>
  );
}

function SaveForm<Filter>({ of, now: { filter, sort = "", columns } }: { readonly of: Viewed<Filter>; readonly now: Shown<Filter> }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const mayShare = useMay(`${of.list}:write`);
  const nameId = useId();
  const text = of.format(filter);
  const save = useMutation({
    mutationFn: ({ name, shared }: { readonly name: string; readonly shared: boolean }) => rest.createView({ list: of.list, name, filter: text, sort, columns: [...columns], shared }),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ["views"] }),
  });
  return (
    <form className={form["form"]} onSubmit={withForm(({ name = "", shared }) => save.mutate({ name, shared: shared !== undefined }))}>
      <p>What is shown now: <code>{text === "" ? `all ${of.list}` : showForeign(text, 200)}</code></p>
      <label htmlFor={nameId}>Save it as</label>
      <input id={nameId} name="name" required maxLength={120} autoComplete="off" />
      {mayShare && <label><input type="checkbox" name="shared" /> For everybody</label>}
      {save.isError && <ErrorNote error={save.error} />}
      <p role="status">{save.isSuccess && `Saved: ${showForeign(save.data.name, 60)}`}</p>
      <div className={form["actions"]}><Button kind="primary" type="submit" disabled={save.isPending}>Save this view</Button></div>
    </form>
  );
}

function ViewRow<Filter>({ of, view, onShow }: { readonly of: Viewed<Filter>; readonly view: View; readonly onShow: (shown: Shown<Filter>) => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const isDefault = useKeptPreferences().data?.default_views[of.list] === view.id;
  const begin = useUpdatePreferences();
  const name = showForeign(view.name, 60);
  const read = readView(of, view);
  const act = isDefault ? "No default" : "Make default";
  return (
    <li>
      <div>
        {read.ok ? <button type="button" className={styles["name"]} onClick={() => onShow(read.shown)}><Foreign text={view.name} longest={60} /></button> : <strong>{name}</strong>}
        <small><code>{showForeign(view.filter, 120) || `all ${of.list}`}</code>{isDefault && ", the default"}{view.shared && (view.is_own ? ", shared" : `, shared by ${showForeign(view.owner.username, 40)}`)}</small>
        {!read.ok && (
          <p className={styles["fault"]}>
            It cannot be shown, its filter is not understood: <Foreign text={read.message} />. {view.is_own ? "Remove it, write the filter anew and save that." : `Ask ${showForeign(view.owner.username, 40)} to save it anew.`}
          </p>
        )}
        {begin.isError && <ErrorNote error={begin.error} />}
      </div>
      {(read.ok || isDefault) && <Button aria-label={`${act}: ${name}`} onClick={() => begin.mutate({ default_views: { [of.list]: isDefault ? null : view.id } })} disabled={begin.isPending}>{act}</Button>}
      {view.is_own && <RemoveButton of={view.name} then={view.shared ? "It is gone for everybody." : `The ${of.list} stay as they are.`} keys={["views"]} remove={() => rest.deleteView(view.id).then(() => queries.invalidateQueries({ queryKey: ["preferences"] }))} />}
    </li>
  );
}
