import type { Site } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { withForm } from "../parts/with-form.ts";
import { useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";
import { showForeign } from "../texts/foreign.tsx";

/** Makes a site, or changes its name and time zone. @param props.site Null for a new one. */
export function SiteDialog({ site, onClose }: { readonly site: Site | null; readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const ids = { name: useId(), zone: useId(), zones: useId() };
  const save = useMutation({
    mutationFn: (fields: { readonly name: string; readonly time_zone: string | null }) => (site === null ? rest.createSite(fields) : rest.updateSite(site.id, fields)),
    onSuccess() {
      void queries.invalidateQueries({ queryKey: ["sites"] });
      onClose();
    },
  });
  const submit = withForm(({ name = "", zone = "" }) => save.mutate({ name, time_zone: zone.trim() === "" ? null : zone.trim() }));
  return (
    <Dialog title={site === null ? "Add a site" : `Change ${showForeign(site.name, 60)}`} onClose={onClose}>
      <form className={form["form"]} onSubmit={submit}>
        <label htmlFor={ids.name}>Name</label>
        <input id={ids.name} name="name" required maxLength={255} placeholder="Store 12" defaultValue={site?.name} />
        <label htmlFor={ids.zone}>Time zone</label>
        <input id={ids.zone} name="zone" maxLength={64} placeholder="Europe/Oslo" list={ids.zones} defaultValue={site?.time_zone ?? ""} autoComplete="off" spellCheck={false} />
        <datalist id={ids.zones}>{Intl.supportedValuesOf("timeZone").map((zone) => <option key={zone} value={zone} />)}</datalist>
        {save.isError && <ErrorNote error={save.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={save.isPending}>{site === null ? "Add" : "Save"}</Button>
        </div>
      </form>
    </Dialog>
  );
}
