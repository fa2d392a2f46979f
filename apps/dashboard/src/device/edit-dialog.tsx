import type { DeviceProfile } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { withForm } from "../parts/with-form.ts";
import form from "../parts/form.module.css";
import { useSession } from "../session/use-session.ts";
import { parseTags } from "../texts/tags.ts";

/** Sets name and tags by hand. A name that is set is locked: discovery does not change it until it is given back. */
export function EditDialog({ device, onClose }: { readonly device: DeviceProfile; readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const ids = { name: useId(), tags: useId() };
  const save = useMutation({
    mutationFn: (change: { readonly hostname?: string | null; readonly tags: string[] }) => rest.updateDevice(device.id, change),
    onSuccess(profile) {
      queries.setQueryData(["device", device.id], profile);
      void queries.invalidateQueries({ queryKey: ["devices"] });
      onClose();
    },
  });
  const submit = withForm((values) => {
    const name = values["name"]?.trim() ?? "";
    const tags = parseTags(values["tags"] ?? "");
    save.mutate({ ...(name === device.hostname ? {} : { hostname: name === "" ? null : name }), tags });
  });
  return (
    <Dialog title="Name and tags" onClose={onClose}>
      <form className={form["form"]} onSubmit={submit}>
        <label htmlFor={ids.name}>Name</label>
        <input id={ids.name} name="name" defaultValue={device.hostname} maxLength={255} />
        <p>Empty: the name that discovery finds.</p>
        <label htmlFor={ids.tags}>Tags</label>
        <input id={ids.tags} name="tags" defaultValue={device.tags.join(", ")} />
        <p>With commas between them.</p>
        {save.isError && <ErrorNote error={save.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={save.isPending}>Save</Button>
        </div>
      </form>
    </Dialog>
  );
}
