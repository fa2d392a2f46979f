import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { DownloadButton } from "../captures/download.tsx";
import { CaptureState } from "../captures/state.tsx";
import { useMay, useSession } from "../session/use-session.ts";
import { formatSize } from "../texts/size.ts";
import styles from "./captures.module.css";

/** The packets around an alert, as files for Wireshark; nothing where there are none. */
export function Captures({ alertId }: { readonly alertId: string }) {
  const { rest } = useSession();
  const captures = useQuery({
    queryKey: ["captures", "of alert", alertId], enabled: useMay("pcap:read"), queryFn: () => rest.listPcaps({ alert_id: alertId, per_page: 20 }),
  });
  const found = captures.data?.data ?? [];
  if (found.length === 0) return null;
  return (
    <section className={styles["captures"]}>
      <h3>Captures</h3>
      <ul>
        {found.map((capture) => (
          <li key={capture.id}>
            <Link to="/captures/$pcapId" params={{ pcapId: capture.id }}>{capture.packets.toLocaleString("en")} packets, {formatSize(capture.size_bytes)}</Link>
            <CaptureState capture={capture} /><DownloadButton capture={capture} />
          </li>
        ))}
      </ul>
    </section>
  );
}
