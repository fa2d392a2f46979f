import styles from "./packet-bytes.module.css";

const PER_LINE = 16;
/** Of each packet: what is behind its headers is in the capture. */
const MAX_BYTES = 256;

/** Packets as an offset, their bytes, and the letters among these. */
export function PacketBytes({ packets }: { readonly packets: readonly string[] }) {
  if (packets.length === 0) return null;
  return (
    <details className={styles["packets"]}>
      <summary>{packets.length === 1 ? "The packet" : `${packets.length} packets`}</summary>
      {packets.map((packet, at) => <pre key={at} tabIndex={0}>{dump(packet)}</pre>)}
    </details>
  );
}

function dump(base64: string): string {
  const bytes = Array.from(atob(base64).slice(0, MAX_BYTES), (letter) => letter.charCodeAt(0));
  const lines = Array.from({ length: Math.ceil(bytes.length / PER_LINE) }, (_, line) => {
    const own = bytes.slice(line * PER_LINE, (line + 1) * PER_LINE);
    const hex = own.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const letters = own.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·")).join("");
    return `${(line * PER_LINE).toString(16).padStart(4, "0")}  ${hex.padEnd(PER_LINE * 3)} ${letters}`;
  });
  return lines.join("\n");
}
