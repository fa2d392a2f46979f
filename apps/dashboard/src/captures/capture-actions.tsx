import type { Pcap } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { Icon } from "../parts/icon.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";
import { DownloadButton } from "./download.tsx";

/** What can be done with a capture by who is logged in. */
export function CaptureActions({ capture }: { readonly capture: Pcap }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const mayWrite = useMay("pcap:write");
  const [isDeleting, setDeleting] = useState(false);
  const act = useMutation({
    mutationFn: (what: "stop" | "lock" | "unlock") => ({ stop: () => rest.stopPcap(capture.id), lock: () => rest.lockPcap(capture.id), unlock: () => rest.unlockPcap(capture.id) })[what](),
    onSuccess(changed) {
      queries.setQueryData(["captures", "one", capture.id], changed);
      void queries.invalidateQueries({ queryKey: ["captures"] });
    },
  });
  const isRunning = capture.state === "requested" || capture.state === "recording";
  return (
    <>
      {mayWrite && isRunning && <Button kind="primary" onClick={() => act.mutate("stop")} disabled={act.isPending}>Stop the capture</Button>}
      <DownloadButton capture={capture} />
      {mayWrite && !isRunning && (
        <>
          <Button onClick={() => act.mutate(capture.lock === null ? "lock" : "unlock")} disabled={act.isPending}><Icon name="lock" />{capture.lock === null ? "Keep as evidence" : "Unlock"}</Button>
          <Button kind="danger" onClick={() => setDeleting(true)} disabled={capture.lock !== null}>Delete…</Button>
        </>
      )}
      {act.isError && <ErrorNote error={act.error} />}
      {isDeleting && <DeleteDialog capture={capture} onClose={() => setDeleting(false)} />}
    </>
  );
}

function DeleteDialog({ capture, onClose }: { readonly capture: Pcap; readonly onClose: () => void }) {
  const { rest } = useSession();
  const [queries, navigate] = [useQueryClient(), useNavigate()];
  const remove = useMutation({
    mutationFn: () => rest.deletePcap(capture.id),
    onSuccess() {
      onClose();
      void navigate({ to: "/captures" });
      queries.removeQueries({ queryKey: ["captures", "one", capture.id] });
      void queries.invalidateQueries({ queryKey: ["captures", "list"] });
    },
  });
  return (
    <Dialog title="Delete this capture?" onClose={onClose}>
      <div className={form["form"]}>
        <p>Its {capture.packets.toLocaleString("en")} packets are removed here and at the probe. This cannot be undone.</p>
        {remove.isError && <ErrorNote error={remove.error} />}
        <div className={form["actions"]}>
          <Button onClick={onClose} data-first>Keep it</Button><Button kind="danger" onClick={() => remove.mutate()} disabled={remove.isPending}>Delete</Button>
        </div>
      </div>
    </Dialog>
  );
}
