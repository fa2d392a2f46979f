import type { Pcap } from "@lanthorn/contract";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { ErrorNote } from "../states/error-note.tsx";
import { saveBlob } from "../texts/save-blob.ts";
import styles from "./captures.module.css";

/** The packets around an alert, as files for Wireshark; nothing where there are none. */
export function Captures({ alertId }: { readonly alertId: string }) {
  const { rest } = useSession();
  const captures = useQuery({
    queryKey: ["captures", alertId], enabled: useMay("pcap:read"), queryFn: () => rest.listPcaps({ alert_id: alertId, per_page: 20 }),
  });
  const found = captures.data?.data ?? [];
  if (found.length === 0) return null;
  return <section className={styles["captures"]}><h3>Captures</h3><ul>{found.map((capture) => <Capture key={capture.id} capture={capture} />)}</ul></section>;
}

function Capture({ capture }: { readonly capture: Pcap }) {
  const { rest } = useSession();
  const mayDownload = useMay("pcap:download");
  const download = useMutation({
    async mutationFn() {
      const stream = await rest.downloadPcap(capture.id);
      saveBlob(capture.file_name || `${capture.id}.pcapng`, await new Response(stream).blob());
    },
  });
  return (
    <li>
      <span>{capture.state}, {capture.packets.toLocaleString("en")} packets, {Math.ceil(capture.size_bytes / 1024).toLocaleString("en")} KiB</span>
      {mayDownload && capture.state === "ready" && (
        <Button onClick={() => download.mutate()} disabled={download.isPending}><Icon name="download" />Download</Button>
      )}
      {download.isError && <ErrorNote error={download.error} />}
    </li>
  );
}
