import { type DeviceFilter, formatDeviceFilter } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { type Fields, withForm } from "../parts/with-form.ts";
import { useSession } from "../session/use-session.ts";
import { BulkDone } from "../states/bulk-done.tsx";
import { ErrorNote } from "../states/error-note.tsx";
import { count } from "../texts/count.ts";
import { DEVICE_TYPE_NAMES } from "../texts/device-type.ts";
import { parseTags } from "../texts/tags.ts";

type Change = Parameters<ReturnType<typeof useSession>["rest"]["changeDevices"]>[0]["change"];

/** Changes all devices that the filter leaves: as many as the list counts, or none where others match by now. */
export function BulkDialog({ filter, total, onChanged, onClose }: { readonly filter: DeviceFilter; readonly total: number; readonly onChanged: () => void; readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const ids = { add: useId(), remove: useId(), type: useId() };
  const [isEmpty, setEmpty] = useState(false);
  const save = useMutation({
    mutationFn: (change: Change) => rest.changeDevices({ filter: formatDeviceFilter(filter), expected_count: total, change }),
    onSettled() {
      void queries.invalidateQueries({ queryKey: ["devices"] });
      onChanged();
    },
  });
  const submit = withForm((fields) => {
    const change = changeOf(fields);
    setEmpty(change === null);
    if (change) save.mutate(change);
  });
  if (save.data) return <BulkDone result={save.data} onClose={onClose} />;
  const counted = count(total, "device");
  return (
    <Dialog title={`Change ${counted}`} onClose={onClose}>
      <form className={form["form"]} onSubmit={submit}>
        <p>All that the filter leaves: <code>{formatDeviceFilter(filter)}</code></p>
        <label htmlFor={ids.add}>Add tags</label>
        <input id={ids.add} name="add" />
        <label htmlFor={ids.remove}>Remove tags</label>
        <input id={ids.remove} name="remove" />
        <p>With commas between them. Other tags stay.</p>
        <label htmlFor={ids.type}>Type</label>
        <select id={ids.type} name="type">
          <option value="">as it is</option>
          {Object.entries(DEVICE_TYPE_NAMES).map(([value, name]) => <option key={value} value={value}>{name}</option>)}
        </select>
        {isEmpty && <p role="alert">Nothing is to be changed yet.</p>}
        {save.isError && <ErrorNote error={save.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={save.isPending}>Change {counted}</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** @returns Null where nothing is said. */
function changeOf({ add = "", remove = "", type = "" }: Fields): Change | null {
  const [addTags, removeTags] = [parseTags(add), parseTags(remove)];
  const types = Object.keys(DEVICE_TYPE_NAMES) as (keyof typeof DEVICE_TYPE_NAMES)[];
  const deviceType = types.find((name) => name === type);
  if (addTags.length === 0 && removeTags.length === 0 && deviceType === undefined) return null;
  return {
    ...(addTags.length > 0 && { add_tags: addTags }), ...(removeTags.length > 0 && { remove_tags: removeTags }), ...(deviceType !== undefined && { device_type: deviceType }),
  };
}
