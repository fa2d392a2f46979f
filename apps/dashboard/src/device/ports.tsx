import type { PortRecord } from "@lanthorn/contract";
import { Foreign } from "../texts/foreign.tsx";
import { Mark } from "../parts/mark.tsx";
import { Table } from "../fields/table.tsx";
import { Moment } from "../texts/moment.tsx";
import styles from "./ports.module.css";

const TONES = { open: "good", closed: "calm", filtered: "warn", "open|filtered": "warn" } as const;
/** Of a banner, in characters: its beginning names the software. */
const MAX_BANNER = 160;

/** Ports in every state, open ones first. */
export function Ports({ ports }: { readonly ports: readonly PortRecord[] }) {
  if (ports.length === 0) return <p className={styles["none"]}>No port was scanned yet.</p>;
  const ordered = ports.toSorted((one, other) => Number(other.state === "open") - Number(one.state === "open") || one.port - other.port);
  return (
    <Table heads={["Port", "State", "Service", "Software and banner", "Scanned"]}>
      {ordered.map((port) => (
        <tr key={`${port.port}/${port.protocol}`}>
          <td><code>{port.port}/{port.protocol}</code></td>
          <td><Mark tone={TONES[port.state]}>{port.state}</Mark></td>
          <td><Foreign text={port.service || "–"} longest={40} /></td>
          <td className={styles["software"]}>
            <Foreign text={port.version || (port.banner === "" ? "–" : "")} longest={80} />
            {port.banner !== "" && <code><Foreign text={port.banner} longest={MAX_BANNER} /></code>}
          </td>
          <td><Moment at={port.last_scanned} /></td>
        </tr>
      ))}
    </Table>
  );
}
