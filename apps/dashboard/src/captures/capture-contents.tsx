import type { PcapContents } from "@lanthorn/contract";
import { Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import { Empty } from "../states/answer.tsx";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { formatSize } from "../texts/size.ts";
import styles from "./captures-page.module.css";

type Summary = NonNullable<PcapContents["summary"]>;

/** What is in a capture, as the probe counted while it wrote the file: over time, by protocol, by address, by conversation. */
export function CaptureContents({ summary }: Pick<PcapContents, "summary">) {
  if (summary === null) return <Panel title="What is in it"><Empty title="Not known yet">The probe says it when the file is whole.</Empty></Panel>;
  return (
    <>
      <Panel title="Packets over time"><Timeline of={summary.timeline} /></Panel>
      <div className={styles["two"]}>
        <Amounts title="Protocols" name="Protocol" rows={summary.protocols.map(({ name, ...amount }) => ({ key: name, ...amount }))} />
        <Amounts title="Who has the most bytes" name="Address" rows={summary.talkers.map(({ address, ...amount }) => ({ key: address, ...amount }))} />
      </div>
      <Panel title={`Conversations: ${summary.flows.length.toLocaleString("en")} of ${summary.flows_total.toLocaleString("en")}`} isFlush>
        <Table heads={["Protocol", "From", "To", "Packets", "Bytes"]}>
          {summary.flows.map((flow, at) => (
            <tr key={at}>
              <td><Foreign text={flow.protocol} longest={16} /></td>
              <td><code><Foreign text={endOf(flow.source, flow.source_port)} longest={60} /></code></td>
              <td><code><Foreign text={endOf(flow.destination, flow.destination_port)} longest={60} /></code></td>
              <td>{flow.packets.toLocaleString("en")}</td><td>{formatSize(flow.bytes)}</td>
            </tr>
          ))}
        </Table>
      </Panel>
    </>
  );
}

function Timeline({ of: { from, step_ms: stepMs, packets } }: { readonly of: Summary["timeline"] }) {
  const most = Math.max(1, ...packets);
  const all = packets.reduce((sum, count) => sum + count, 0);
  const to = new Date(Date.parse(from) + stepMs * packets.length).toISOString();
  return (
    <figure>
      <svg className={styles["time"]} viewBox={`0 0 ${packets.length * 4} 40`} preserveAspectRatio="none" role="img" aria-label={`${all.toLocaleString("en")} packets, at most ${most.toLocaleString("en")} in ${stepMs / 1000} s`}>
        {packets.map((count, at) => <rect key={at} x={at * 4} width={3} y={40 - (count / most) * 40} height={(count / most) * 40} />)}
      </svg>
      <figcaption className={styles["scale"]}><Moment at={from} exact /><span>at most {most.toLocaleString("en")} in {stepMs / 1000} s</span><Moment at={to} exact /></figcaption>
    </figure>
  );
}

function Amounts({ title, name, rows }: { readonly title: string; readonly name: string; readonly rows: readonly { readonly key: string; readonly packets: number; readonly bytes: number }[] }) {
  const most = Math.max(1, ...rows.map(({ bytes }) => bytes));
  return (
    <Panel title={title} isFlush>
      <Table isSmall heads={[name, "Packets", "Bytes", "Share"]}>
        {rows.map(({ key, packets, bytes }) => (
          <tr key={key}>
            <td><code><Foreign text={key} longest={60} /></code></td><td>{packets.toLocaleString("en")}</td><td>{formatSize(bytes)}</td>
            <td><meter className={styles["share"]} min={0} max={most} value={bytes} aria-label="Beside the most" /></td>
          </tr>
        ))}
      </Table>
    </Panel>
  );
}

/** What has no ports, as ARP, has none here. */
function endOf(address: string, port: number): string {
  return port === 0 ? address : address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}
