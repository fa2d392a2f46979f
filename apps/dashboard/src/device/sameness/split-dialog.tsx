import type { DeviceProfile } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import form from "../../parts/form.module.css";
import { useSession } from "../../session/use-session.ts";
import { ErrorNote } from "../../states/error-note.tsx";
import { deviceName } from "../../texts/device-name.ts";
import { showForeign } from "../../texts/foreign.tsx";

/** Says that one device is two: undoes a merge, or gives some of its interfaces to a device of their own. */
export function SplitDialog({ device, of, onClose }: { readonly device: DeviceProfile; readonly of: DeviceProfile["merges"][number] | "interfaces"; readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const macs = of === "interfaces" ? device.interfaces.flatMap(({ mac }) => (mac === "" ? [] : [mac])) : [];
  const split = useMutation({
    mutationFn: () => rest.splitDevice(device.id, of === "interfaces" ? { interfaces: [...chosen] } : { merge_id: of.id }),
    onSuccess() {
      void queries.invalidateQueries({ queryKey: ["device", device.id] });
      void queries.invalidateQueries({ queryKey: ["devices"] });
    },
  });
  if (split.data) {
    return (
      <Dialog title="Split" onClose={onClose}>
        <div className={form["form"]}>
          <p role="status">The other device is <Link to="/devices/$deviceId" params={{ deviceId: split.data.id }}>{showForeign(deviceName(split.data), 80)}</Link>. Discovery keeps the two apart.</p>
          <div className={form["actions"]}><Button kind="primary" onClick={onClose}>Close</Button></div>
        </div>
      </Dialog>
    );
  }
  const isPartial = of !== "interfaces" || (chosen.length > 0 && chosen.length < device.interfaces.length);
  return (
    <Dialog title={of === "interfaces" ? "Split interfaces off" : "Split again"} onClose={onClose}>
      <div className={form["form"]}>
        {of === "interfaces" ? <p>Those that are another device's, not all of them. They and their addresses become a device of their own.</p>
          : <p>Both devices are there again, with what was found since at the one that it belongs to.</p>}
        {macs.map((mac) => (
          <label key={mac}>
            <input type="checkbox" checked={chosen.includes(mac)} onChange={({ target }) => setChosen(target.checked ? [...chosen, mac] : chosen.filter((each) => each !== mac))} /> <code>{mac}</code>
          </label>
        ))}
        {split.isError && <ErrorNote error={split.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose} data-first>Cancel</Button><Button kind="danger" onClick={() => split.mutate()} disabled={split.isPending || !isPartial}>Split</Button>
        </div>
      </div>
    </Dialog>
  );
}
