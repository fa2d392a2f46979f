import type { Pcap } from "@lanthorn/contract";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useMay, useSession } from "../session/use-session.ts";
import { Moment } from "../texts/moment.tsx";
import { formatSize } from "../texts/size.ts";
import styles from "./captures-of.module.css";
import { DownloadButton } from "./download.tsx";
import { CaptureState } from "./state.tsx";

/** The newest captures of an alert or a device, as files for Wireshark. @param props.children What is around them; nothing is drawn where there are none. */
export function CapturesOf({ of, children }: { readonly of: { readonly alert_id: string } | { readonly device_id: string }; readonly children: (list: ReactNode) => ReactNode }) {
  const { rest } = useSession();
  const captures = useQuery({ queryKey: ["captures", "of", of], enabled: useMay("pcap:read"), queryFn: () => rest.listPcaps({ ...of, per_page: 20 }) });
  const found = captures.data?.data ?? [];
  return found.length === 0 ? null : children(<ul className={styles["captures"]}>{found.map((capture) => <Row key={capture.id} capture={capture} />)}</ul>);
}

function Row({ capture }: { readonly capture: Pcap }) {
  return (
    <li>
      <Link to="/captures/$pcapId" params={{ pcapId: capture.id }}>{capture.packets.toLocaleString("en")} packets, {formatSize(capture.size_bytes)}, <Moment at={capture.started_at ?? capture.created_at} /></Link>
      <CaptureState capture={capture} /><DownloadButton capture={capture} />
    </li>
  );
}
