import type { DeviceProfile } from "@lanthorn/contract";
import { DEVICE_TYPE_NAMES } from "../texts/device-type.ts";
import { Foreign } from "../texts/foreign.tsx";
import { Icon } from "../parts/icon.tsx";
import { Moment } from "../texts/moment.tsx";
import { percent } from "../texts/percent.ts";
import { words } from "../texts/words.ts";
import { Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import styles from "./identity.module.css";

/** A field, the verdict on it, and the evidence of the same name. */
interface Field {
  readonly label: string;
  readonly verdict: keyof DeviceProfile["verdicts"];
  /** What is shown where a user has set it. */
  readonly own?: (device: DeviceProfile) => string;
  readonly locked?: string;
}

const FIELDS: readonly Field[] = [
  { label: "Name", verdict: "hostname", own: ({ hostname }) => hostname, locked: "hostname" },
  { label: "Type", verdict: "device_type", own: ({ device_type: type }) => (type === "unknown" ? "" : DEVICE_TYPE_NAMES[type]), locked: "device_type" },
  { label: "Vendor", verdict: "vendor", own: ({ vendor }) => vendor, locked: "vendor" },
  { label: "Model", verdict: "model" },
  { label: "System", verdict: "os", own: ({ os_guess: os }) => os, locked: "os_guess" },
  { label: "Version", verdict: "os_version" },
];

/** What people call a field of a device's history. */
export function fieldName(name: string): string {
  return FIELDS.find(({ verdict, locked }) => name === verdict || name === locked)?.label ?? words(name);
}

/** What the device is: each verdict with how sure it is, and below it what it comes from. */
export function Identity({ device }: { readonly device: DeviceProfile }) {
  return (
    <Panel title="What it is">
      <div className={styles["fields"]}>{FIELDS.map((field) => <FieldRow key={field.verdict} field={field} device={device} />)}</div>
      {device.tags.length > 0 && <p className={styles["tags"]}>{device.tags.map((tag) => <span key={tag}><Foreign text={tag} longest={64} /></span>)}</p>}
    </Panel>
  );
}

function FieldRow({ field: { label, verdict: name, own, locked }, device }: { readonly field: Field; readonly device: DeviceProfile }) {
  const verdict = device.verdicts[name];
  const evidence = device.evidence[name] ?? [];
  const value = own?.(device) || (verdict?.value ?? "");
  const isLocked = locked !== undefined && device.locked_fields.includes(locked);
  const summary = (
    <>
      <span className={styles["label"]}>{label}</span>
      <span className={styles["value"]}>{value === "" ? <span className={styles["soft"]}>unknown</span> : <Foreign text={value} />}</span>
      {isLocked ? <span className={styles["lock"]}><Icon name="lock" />set by a user</span> : verdict && <Confidence share={verdict.confidence} />}
    </>
  );
  if (evidence.length === 0) return <div className={styles["row"]}>{summary}</div>;
  return (
    <details className={styles["details"]}>
      <summary className={styles["row"]}>{summary}</summary>
      <Table heads={["Seen value", "Source", "Sure", "Seen"]}>
        {evidence.map((each) => (
          <tr key={`${each.source} ${each.value}`}>
            <td><Foreign text={each.value} /></td><td><code><Foreign text={each.source} longest={64} /></code></td>
            <td>{percent(each.confidence)}</td><td><Moment at={each.seen_at} /></td>
          </tr>
        ))}
      </Table>
    </details>
  );
}

function Confidence({ share }: { readonly share: number }) {
  return <span className={styles["sure"]} title="How sure the verdict is"><meter min={0} max={1} value={share} aria-label="How sure" />{percent(share)}</span>;
}
