import type { AnomalyModelChange } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { useMay, useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";
import { count } from "../texts/count.ts";
import { showForeign } from "../texts/foreign.tsx";
import styles from "./sensors.module.css";

type Act = "freeze" | "learn" | "reset";

const ACTS: Readonly<Record<Act, { readonly title: string; readonly text: string }>> = {
  freeze: { title: "Freeze", text: "What is usual stays as it is and is compared with. Nothing new is learned until that is taken back: right while a site is rebuilt." },
  learn: { title: "Learn again", text: "What is usual is learned on from where it is." },
  reset: { title: "Reset", text: "What was learned is forgotten. Nothing is reported until it is learned anew: for a week, or for a day where like devices are known. What somebody said is normal stays so." },
};

/**
 * Freezes what a probe learned, has it learn again, or forget it; nothing for who may not.
 * @param props.device One device, by what people call it; all that the probe knows where it is left out.
 * @param props.acts What there is to do now.
 */
export function ModelActions({ probeId, probe, device, acts }: {
  readonly probeId: string; readonly probe: string; readonly device?: { readonly id: string; readonly name: string }; readonly acts: readonly Act[];
}) {
  const mayWrite = useMay("sensors:write");
  const [act, setAct] = useState<Act | null>(null);
  if (!mayWrite) return null;
  const whom = device === undefined ? `all devices of ${showForeign(probe, 60)}` : `${showForeign(device.name, 60)} at ${showForeign(probe, 60)}`;
  return (
    <div className={styles["actions"]}>
      {acts.map((each) => (
        <Button key={each} kind={each === "reset" ? "danger" : "plain"} onClick={() => setAct(each)} aria-label={`${ACTS[each].title}: ${whom}`}>{ACTS[each].title}</Button>
      ))}
      {act !== null && <ActDialog key={act} act={act} whom={whom} probeId={probeId} deviceId={device?.id} onClose={() => setAct(null)} />}
    </div>
  );
}

function ActDialog({ act, whom, probeId, deviceId, onClose }: {
  readonly act: Act; readonly whom: string; readonly probeId: string; readonly deviceId: string | undefined; readonly onClose: () => void;
}) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (): Promise<AnomalyModelChange> => {
      const of = deviceId === undefined ? {} : { device_id: deviceId };
      return act === "reset" ? rest.resetAnomalyModel(probeId, of) : rest.freezeAnomalyModel(probeId, { ...of, is_frozen: act === "freeze" });
    },
  });
  const close = () => {
    // Not before: what a reset leaves has no such dialog, and its answer would go unread.
    if (change.isSuccess) void queries.invalidateQueries({ queryKey: ["anomalies"] });
    onClose();
  };
  const { title, text } = ACTS[act];
  return (
    <Dialog title={`${title}: ${whom}`} onClose={close}>
      <div className={form["form"]}>
        <p role="status">{change.data ? textOf(change.data) : text}</p>
        {change.isError && <ErrorNote error={change.error} />}
        <div className={form["actions"]}>
          <Button onClick={close}>{change.data ? "Close" : "Cancel"}</Button>
          {!change.data && <Button kind={act === "reset" ? "danger" : "primary"} onClick={() => change.mutate()} disabled={change.isPending}>{title}</Button>}
        </div>
      </div>
    </Dialog>
  );
}

function textOf({ devices }: AnomalyModelChange): string {
  if (devices === 0) return "The probe knows no such device: nothing was changed.";
  return `Done for ${count(devices, "device")}. The counts follow with the probe's next report.`;
}
