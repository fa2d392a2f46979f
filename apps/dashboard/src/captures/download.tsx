import { ClientError, type RestClient } from "@lanthorn/client";
import { type Pcap, PcapFetching } from "@lanthorn/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { clock } from "../clock.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import form from "../parts/form.module.css";
import { Icon } from "../parts/icon.tsx";
import { withForm } from "../parts/with-form.ts";
import { useMay, useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";
import { UNDERWAY_MS } from "../states/use-list.ts";
import { showForeign } from "../texts/foreign.tsx";
import { saveBlob } from "../texts/save-blob.ts";
import { formatSize } from "../texts/size.ts";

const WITH_FILE: ReadonlySet<Pcap["state"]> = new Set(["ready", "at_probe", "uploading"] as const);

/** Saves a capture's file; one that lies at the probe is fetched first. A site that demands a reason has it asked for. Nothing for who may not. */
export function DownloadButton({ capture }: { readonly capture: Pcap }) {
  const { rest } = useSession();
  const queries = useQueryClient();
  const mayDownload = useMay("pcap:download");
  const [isAsking, setAsking] = useState(false);
  const [come, setCome] = useState<number | null>(null);
  const download = useMutation({
    mutationFn: (reason: string | undefined) => fetchFile(rest, { capture, reason, onCome: setCome }),
    onSuccess(content) {
      saveBlob(capture.file_name || `${capture.id}.pcapng`, content);
      setAsking(false);
    },
    onError: (error) => setAsking(isReasonDemanded(error)),
    onSettled() {
      setCome(null);
      void queries.invalidateQueries({ queryKey: ["captures"] });
    },
  });
  if (!mayDownload || !WITH_FILE.has(capture.state)) return null;
  return (
    <>
      <Button onClick={() => download.mutate(undefined)} disabled={download.isPending} aria-label={`Download ${showForeign(capture.file_name || capture.id, 60)}`}>
        <Icon name="download" />{download.isPending ? (come === null ? "Downloading…" : `${formatSize(come)} of ${formatSize(capture.size_bytes)}`) : "Download"}
      </Button>
      {isAsking && <ReasonDialog isBusy={download.isPending} onGive={(reason) => download.mutate(reason)} onClose={() => setAsking(false)} />}
      {download.isError && !isAsking && <ErrorNote error={download.error} />}
    </>
  );
}

function ReasonDialog({ isBusy, onGive, onClose }: { readonly isBusy: boolean; readonly onGive: (reason: string) => void; readonly onClose: () => void }) {
  const id = useId();
  const submit = withForm(({ reason = "" }) => onGive(reason));
  return (
    <Dialog title="Why are these packets read?" onClose={onClose}>
      <form className={form["form"]} onSubmit={submit}>
        <p>This site demands a reason for each download. The audit log keeps it with your name.</p>
        <label htmlFor={id}>Reason</label>
        <input id={id} name="reason" required maxLength={255} placeholder="Ticket 4711" />
        <div className={form["actions"]}>
          <Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" disabled={isBusy}>Download</Button>
        </div>
      </form>
    </Dialog>
  );
}

async function fetchFile(rest: RestClient, { capture, reason, onCome }: {
  readonly capture: Pcap; readonly reason: string | undefined; readonly onCome: (bytes: number) => void;
}): Promise<Blob> {
  for (;;) {
    const { state } = await rest.readPcap(capture.id);
    const content = new Response(await rest.downloadPcap(capture.id, { reason }));
    if (state === "ready") return content.blob();
    // A file that is not here is fetched from the probe: the answer says how much of it has come.
    const fetching = PcapFetching.safeParse(await content.json().catch(() => null));
    if (fetching.success) onCome(fetching.data.received_bytes);
    await new Promise<void>((resolve) => {
      clock.after(UNDERWAY_MS, resolve);
    });
  }
}

function isReasonDemanded(error: unknown): boolean {
  return error instanceof ClientError && error.code === "BAD_REQUEST" && JSON.stringify(error.details ?? null).includes('"reason"');
}
