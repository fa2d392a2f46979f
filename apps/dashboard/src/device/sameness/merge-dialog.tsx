import type { DeviceProfile, SimilarDevice } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useId } from "react";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import form from "../../parts/form.module.css";
import { withForm } from "../../parts/with-form.ts";
import { useSession } from "../../session/use-session.ts";
import { ErrorNote } from "../../states/error-note.tsx";
import { deviceName } from "../../texts/device-name.ts";
import { showForeign } from "../../texts/foreign.tsx";

/** Says that two devices are one, and which of the two is kept. */
export function MergeDialog({ device, other, onClose }: { readonly device: DeviceProfile; readonly other: SimilarDevice["device"]; readonly onClose: () => void }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const id = useId();
  const merge = useMutation({
    mutationFn: (kept: "this" | "other") => rest.mergeDevices(device.id, kept === "this" ? { with: other.id } : { into: other.id }),
    onSuccess(profile) {
      queries.setQueryData(["device", profile.id], profile);
      void queries.invalidateQueries({ queryKey: ["device", profile.id, "similar"] });
      void queries.invalidateQueries({ queryKey: ["devices"] });
      onClose();
      if (profile.id !== device.id) void navigate({ to: "/devices/$deviceId", params: { deviceId: profile.id } });
    },
  });
  return (
    <Dialog title="Merge two devices" onClose={onClose}>
      <form className={form["form"]} onSubmit={withForm(({ kept }) => merge.mutate(kept === "other" ? "other" : "this"))}>
        <label htmlFor={id}>Which one is kept</label>
        <select id={id} name="kept" defaultValue="this">
          <option value="this">{showForeign(deviceName(device), 80)}, this one</option>
          <option value="other">{showForeign(deviceName(other), 80)}</option>
        </select>
        <p>Addresses, ports and history of the other one become its own. What users set comes first. A split undoes it.</p>
        {merge.isError && <ErrorNote error={merge.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={merge.isPending}>Merge</Button>
        </div>
      </form>
    </Dialog>
  );
}
